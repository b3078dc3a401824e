"""What `linked` does after its first walk: bridge entities, and an order by words and links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gsw_graph.ask.retrieve.names import graph as name_graph
from gsw_graph.ask.retrieve.names.rerank import (
    WALK_FEATURES,
    WORD_FEATURES,
    QueryTerms,
    bridge_entities,
    confidence,
    features,
    rerank,
    text_of,
)
from gsw_graph.ask.retrieve.recipes import BridgeRecipe, RerankRecipe
from gsw_graph.model.results import RankedPassage

QUESTION = "Who leads the club that purchased the Stone Pier?"
TEXTS = {
    "Stone Pier": "It was opened by Ana Ruiz. It is a purchase of the Harbour Club. Nobody knows Lone Name.",
    "Harbour Club": "The club sails. It is led by Carla Duarte.",
    "Ana Ruiz": "Ana Ruiz was a mayor.",
    "Valle Alto": "A town in the hills, home of Carla Duarte.",
}
NAMES = name_graph.build(
    [
        ("Stone Pier", ["stone pier", "harbour club", "ana ruiz", "lone name"], [8.0, 1.0, 1.0, 1.0]),
        ("Harbour Club", ["harbour club", "carla duarte"], [8.0, 1.0]),
        ("Ana Ruiz", ["ana ruiz"], [8.0]),
        ("Valle Alto", ["carla duarte", "valle alto"], [1.0, 8.0]),
    ]
)


def walked(*titles: str, scores: tuple[float, ...] = (0.4, 0.2, 0.1, 0.05)) -> list[RankedPassage]:
    return [RankedPassage(t, t, TEXTS[t], t, t, score) for t, score in zip(titles, scores, strict=False)]


def worded(passages: list[RankedPassage], question: str = QUESTION) -> QueryTerms:
    return QueryTerms(question, [f"{p.title}\n{p.text}" for p in passages])


def led(*titles: str, question: str = QUESTION, **constants: float) -> list[str]:
    passages = walked(*titles)
    return bridge_entities(NAMES, question, passages, replace(BridgeRecipe(), **constants))


def test_the_words_of_a_question_weigh_by_how_rare_they_are() -> None:
    wording = QueryTerms("Who purchased the Café of the clubs?", ["the club purchases a cafe", "a club", "club"])
    assert wording.terms == ["purchas", "cafe", "club"], "endings, accents and function words are off"
    assert wording.shares.sum() == pytest.approx(1)
    assert wording.shares[0] == wording.shares[1] > wording.shares[2] > 0
    assert wording.has.tolist() == [[1, 1, 1], [0, 0, 1], [0, 0, 1]]
    assert wording.coverage("The Café") == pytest.approx(wording.shares[1])
    empty = QueryTerms("Who is it?", ["a", "b"])
    assert (empty.has.shape, empty.coverage("a")) == ((2, 0), 0)
    assert QueryTerms("Who purchased it?", []).has.shape == (0, 1)


def test_the_names_of_the_best_sentences_lead_on() -> None:
    assert led("Stone Pier", names=1) == ["the Harbour Club"], "its sentence says who bought it"
    assert led("Stone Pier", names=2) == ["the Harbour Club", "Ana Ruiz"]
    assert led("Stone Pier", names=5) == ["the Harbour Club", "Ana Ruiz"], "the pier stands in the question, and one name nowhere else"
    assert led("Valle Alto", names=1) == ["Valle Alto"], "a title leads to its own passage"
    assert led("Stone Pier", names=0) == led() == []


def test_features_say_what_two_passages_tell_together() -> None:
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    wording = worded(passages)
    near = [("Valle Alto", 0.9), ("Stone Pier", 0.7), ("Ana Ruiz", 0.5)]
    rows = features(NAMES, passages, near, wording, replace(RerankRecipe(), first=1, read=1, passages=2)).T
    table = dict(zip(WALK_FEATURES + WORD_FEATURES, rows, strict=True))
    np.testing.assert_allclose(table["nearness"], [-1, -2, -2, 0], err_msg="-1 is the last of the two that count")
    np.testing.assert_allclose(table["coverage"], wording.has @ wording.shares)
    np.testing.assert_allclose(table["walk_score"], np.log([1, 0.5, 0.25, 0.125]))
    np.testing.assert_allclose(table["rank"], np.log([1, 2, 3, 4]))
    assert table["named"].tolist() == [0, 1, 1, 0], "the pier's passage names the two that come next"
    assert table["uncovered"][0] == table["uncovered"][1] == 0, "what the first has read is not left"
    assert table["joint"][1] == pytest.approx(wording.has[0] @ wording.shares), "Ruiz adds nothing to the pier"
    assert table["joint"][2] >= table["joint"][1]
    assert table["joint"][3] == 0, "nobody of the first speaks of the town"


def test_the_order_is_that_of_the_weighted_features() -> None:
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    near = [("Valle Alto", 0.9), ("Harbour Club", 0.7)]
    none = replace(RerankRecipe(), **dict.fromkeys(WALK_FEATURES + WORD_FEATURES, 0.0))
    order, shares = rerank(NAMES, worded(passages), passages, near, 1.0, none)
    assert (order, shares) == ([0, 1, 2, 3], [0.25] * 4), "of equals the walk's order stands"
    order, shares = rerank(NAMES, worded(passages), passages, near, 1.0, replace(none, rank=1, nearness=9))
    assert order == [3, 2, 1, 0], "names that tell all apart leave nothing to words and vectors"
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    order, _ = rerank(NAMES, worded(passages), passages, near, 0.0, replace(none, rank=9, nearness=1))
    assert order[0] == 3, "names that tell nothing apart leave nothing to the walk"
    assert rerank(NAMES, worded([]), [], [], 1.0, none) == ([], [])
    assert rerank(NAMES, worded(walked("Ana Ruiz")), walked("Ana Ruiz", scores=(0.0,)), [], 1.0, none) == ([0], [1.0])


def test_a_reranker_counts_where_names_tell_nothing_apart() -> None:
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    none = replace(RerankRecipe(), **dict.fromkeys(WALK_FEATURES + WORD_FEATURES, 0.0), relevance=2)

    def read(specificity: float, *relevance: float) -> list[float]:
        order, shares = rerank(NAMES, worded(passages), passages, [], specificity, none, relevance)
        return [shares[order.index(n)] for n in range(4)]

    assert read(1.0, 0.1, 0.2, 0.3, 0.9) == [0.25] * 4, "where they do, the walk decides"
    shares = np.log(read(0.0, 0.01, 0.5, 0.5, 0.99))
    np.testing.assert_allclose(shares - shares[3], [-2, -1, -1, 0], err_msg="half way in log-odds")
    np.testing.assert_allclose(np.log(read(0.5, 0.0, 1.0, 1.0, 1.0)), np.log(read(0.5, 0.1, 0.2, 0.2, 0.2)), err_msg="no scale matters, no end is too far")
    assert read(0.0, 0.3, 0.3, 0.3, 0.3) == [0.25] * 4


def test_names_tell_passages_apart_by_how_few_have_the_rarest() -> None:
    assert NAMES.specificity(["ana ruiz", "stone pier"], 0.3) == 1, "one passage of four has the pier"
    assert NAMES.specificity(["ana ruiz"], 0.3) == pytest.approx(0.5), "two of four"
    assert NAMES.specificity([], 0.3) == 0.3
    whole = name_graph.build([(passage, ["ana ruiz"], [1.0]) for passage in "abc"])
    assert whole.specificity(["ana ruiz"], 0.3) == 0, "who stands everywhere says nothing"


def test_confidence_falls_where_the_passages_speak_of_something_else() -> None:
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    there = confidence(NAMES, ["stone pier"], worded(passages), passages)
    others = QueryTerms("How many moons has the planet Jupiter?", [text_of(passage) for passage in passages])
    gone = confidence(NAMES, [], others, passages)
    assert 0 < gone < 0.1 < 0.5 < there < 1
    assert confidence(NAMES, [], worded(passages), passages) < there, "no title among the question's names"
    assert confidence(NAMES, [], worded([]), []) == pytest.approx(gone, abs=0.05)
