"""The second half of a load: what is embedded of a workspace, and how often."""

from __future__ import annotations

from collections.abc import Sequence

import fakes
import numpy as np
import pytest
from numpy.typing import NDArray

from gsw_graph import pipeline
from gsw_graph.feed import Window
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.model import Document, Passage, QAPair, VerbPhrase, Workspace
from gsw_graph.store.writer import Batch
from gsw_graph.tally import Progress, Tally


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


def test_a_text_is_embedded_once_in_a_window(counting: Counting) -> None:
    phrases = (("led", "built"), ("led",), ("built", "sold"))
    window = [(workspace(number, *some), "new") for number, some in enumerate(phrases, 1)]
    made = list(pipeline.embed(window, Embedder("counting", counting)))
    assert sorted(text for call in counting.calls for text in call if " " not in text) == ["built", "led", "sold"]
    for vectors, some in zip(made, phrases, strict=True):
        assert list(vectors.phrases) == list(some)
        for phrase in some:
            np.testing.assert_array_equal(vectors.phrases[phrase], counting.encode([phrase], query=False)[0])
    np.testing.assert_array_equal(made[2].pairs, counting.encode([f"Who {phrase} 3? Anna" for phrase in ("built", "sold")], query=False))


class Collected:
    """Takes the place of a writer."""

    def __init__(self) -> None:
        self.documents: list[str] = []

    def put(self, batch: Batch) -> None:
        self.documents += batch.documents


def test_a_large_document_shows_how_far_it_is(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_EVERY", 0.0)  # as if every call took long
    total = 1000
    large = Workspace(Document("large", "", tuple(Passage(f"Text {n}.", "", n) for n in range(total)), "text"), "test")
    tally, seen = Tally(seen=total, all_read=1), list[Progress]()
    window = Window([(large, "new")], total)
    pipeline.embed_and_write(iter([window]), Embedder("counting", counting), Collected(), tally, lambda: seen.append(tally.progress("loading")))  # type: ignore[arg-type]
    passages = [progress.passages for progress in seen]
    assert len(passages) > 10
    assert passages == sorted(set(passages)), "further each time"
    assert (seen[0].documents, seen[-1].documents, passages[-1], seen[0].total) == (0, 1, total, total)
    assert [text for call in counting.calls for text in call] == sorted((f"Text {n}." for n in range(total)), key=len, reverse=True)
