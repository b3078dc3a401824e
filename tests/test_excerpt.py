"""What people see of a passage: the sentences that matter to the question, and the name that led there."""

from __future__ import annotations

import numpy as np
import pytest

from gsw_graph.answer.excerpt import LENGTH, with_excerpts
from gsw_graph.memory import Memory
from gsw_graph.results import RankedPassage, Step

FILLER = [f"The mill was repaired in {year}, at some cost to the parish and to the miller." for year in range(1800, 1820)]
QUESTION = "In what disaster did Josef Brandl die?"
SENTENCE = "Brandl died in the sinking of the Corrigan."


def passage(*sentences: str) -> RankedPassage:
    text = " ".join(sentences)
    return RankedPassage("p1", "Josef Brandl", f"Josef Brandl\n{text}", "brandl.md", "d1", 1.0)


def words(texts: object) -> np.ndarray:
    """Vectors without meaning, so that words decide."""
    return np.ones((len(list(texts)), 4), dtype=np.float32) / 2  # type: ignore[call-overload]


@pytest.mark.parametrize("place", [0, 10, 20])
@pytest.mark.parametrize("vectors", [None, words])
def test_the_sentence_that_matters_is_shown_wherever_it_stands(place, vectors):
    (found,) = with_excerpts(QUESTION, [passage(*FILLER[:place], SENTENCE, *FILLER[place:])], {}, vectors)
    text = " … ".join(found.excerpt.sentences)
    assert SENTENCE in text
    assert len(text) <= LENGTH + len(" … ") * len(found.excerpt.sentences)


def test_vectors_decide_where_words_say_nothing():
    meant = FILLER[13]
    vectors = lambda texts: np.array([[1, 0] if text in (meant, QUESTION) else [0, 1] for text in texts], dtype=np.float32)  # noqa: E731
    (found,) = with_excerpts(QUESTION, [passage(*FILLER)], {}, vectors)
    assert any(meant in run for run in found.excerpt.sentences)


def test_sentences_keep_their_order_and_neighbours_stand_together():
    (found,) = with_excerpts(QUESTION, [passage(*FILLER[:10], SENTENCE, *FILLER[10:])], {}, None)
    whole = " ".join([*FILLER[:10], SENTENCE, *FILLER[10:]])
    places = [whole.index(run) for run in found.excerpt.sentences]
    assert places == sorted(places)
    assert any(SENTENCE in run and len(run) > len(SENTENCE) for run in found.excerpt.sentences)


def test_headings_are_no_sentences():
    text = f"Josef Brandl was an architect.\n\nLater life\n\n{SENTENCE}"
    (found,) = with_excerpts(QUESTION, [passage(text)], {}, None)
    assert not any("Later life" in run for run in found.excerpt.sentences)


def test_the_name_that_led_there_is_the_last_of_the_path():
    path = [Step("name", "a", "Castle Hill"), Step("passage", "p0", "Vellmouth"), Step("name", "b", "Corrigan"), Step("passage", "p1", "Josef Brandl")]
    (found,) = with_excerpts(QUESTION, [passage(SENTENCE)], {"p1": path}, None)
    assert found.excerpt.name == "Corrigan"


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_passage_without_text_has_no_excerpt(text):
    (found,) = with_excerpts(QUESTION, [passage(text)], {}, None)
    assert found.excerpt is None


def test_excerpts_are_made_only_when_asked_for_and_leave_no_trace(corpus: Memory):
    plain = corpus.ask("Who designed the Tidewater Theatre?", keep=False)
    assert plain.passages
    assert all(found.excerpt is None for found in plain)
    shown = corpus.ask("Who designed the Tidewater Theatre?", keep=False, excerpts=True)
    assert [found.id for found in shown] == [found.id for found in plain]
    assert all(found.excerpt.sentences for found in shown)
    assert shown.trace is None
    assert all(found.excerpt for found in corpus.ask("Tidewater Theatre", strategy="bm25", keep=False, excerpts=True))
