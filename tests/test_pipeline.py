"""The second half of a load: what is embedded of a workspace, and how often."""

from __future__ import annotations

from collections.abc import Sequence

import fakes
import numpy as np
import pytest
from numpy.typing import NDArray

from gsw_graph import pipeline
from gsw_graph.extract import Rules
from gsw_graph.feed import Feed, Tally, Window
from gsw_graph.inference.embedder import Embedder
from gsw_graph.inference.openvino_backend import BULK
from gsw_graph.model import Document, Passage, QAPair, VerbPhrase, Workspace
from gsw_graph.store.writer import Batch


class Counting(fakes.BagOfWords):
    """Notes what it embeds."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        return super().encode(texts, query=query)


def workspace(number: int, *phrases: str) -> Workspace:
    document = Document(f"d{number}", "", (Passage(f"Text {number}.", "", 0),), "text")
    return Workspace(document, "test", verb_phrases=tuple(VerbPhrase(phrase, 0, (QAPair(f"Who {phrase} {number}?", ("Anna",)),)) for phrase in phrases))


@pytest.fixture
def counting() -> Counting:
    return Counting()


def test_a_phrase_is_embedded_once_in_a_load(counting: Counting) -> None:
    embedder = Embedder("counting", counting)
    known: dict[str, NDArray[np.float32]] = {}
    first = list(pipeline._embed([(workspace(1, "led", "built"), "new"), (workspace(2, "led"), "new")], embedder, known))
    second = list(pipeline._embed([(workspace(3, "built", "sold"), "new")], embedder, known))
    assert [text for call in counting.calls for text in call if " " not in text] == ["led", "built", "sold"]
    for vectors, phrases in ((first[0], ("led", "built")), (first[1], ("led",)), (second[0], ("built", "sold"))):
        assert list(vectors.phrases) == list(phrases)
        for phrase in phrases:
            np.testing.assert_array_equal(vectors.phrases[phrase], counting.encode([phrase], query=False)[0])
    np.testing.assert_array_equal(second[0].pairs, counting.encode([f"Who {phrase} 3? Anna" for phrase in ("built", "sold")], query=False))


class Collected:
    """Takes the place of a writer."""

    def __init__(self) -> None:
        self.documents: list[str] = []

    def put(self, batch: Batch) -> None:
        self.documents += batch.documents


def test_the_model_is_made_ready_for_bulk_once_while_there_is_nothing_to_embed(counting: Counting) -> None:
    windows = [None, None, Window([(workspace(1, "led"), "new")], 1), None, Window([(workspace(2, "led"), "new")], 1)]
    ready: list[list[str]] = []
    for late in (windows, windows[2:]):
        writer, counting.calls = Collected(), []
        feed = Feed([], lambda _: {}, Rules("none"), Tally())
        pipeline.embed_and_write(feed, iter(late), Embedder("counting", counting), writer, Tally(), None)  # type: ignore[arg-type]
        assert len(writer.documents) == 2
        ready.append([len(call) for call in counting.calls if set(call) == {"the first"}])
    assert ready == [[BULK], []], "no time is spent on it where something waits"


def test_the_phrases_that_are_kept_are_bounded(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PHRASES", 3)
    known: dict[str, NDArray[np.float32]] = {}
    for number in range(10):
        list(pipeline._embed([(workspace(number, f"phrase{number}", "led"), "new")], Embedder("counting", counting), known))
        assert len(known) <= 3
        assert all(vector.base is None for vector in known.values()), "a view would keep all that was embedded with it"
