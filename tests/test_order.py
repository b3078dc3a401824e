"""What `linked` does after its first walk: bridge entities, and an order by words and links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gsw_graph.ask.retrieve.names import graph as name_graph
from gsw_graph.ask.retrieve.names.rerank import (
    WALK_FEATURES,
    WORD_FEATURES,
    QueryTerms,
    confidence,
    rerank,
    text_of,
)
from gsw_graph.ask.retrieve.recipes import RerankRecipe
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


def walked(*titles, scores=(0.4, 0.2, 0.1, 0.05)):
    return [RankedPassage(t, t, TEXTS[t], t, t, score) for t, score in zip(titles, scores, strict=False)]


def worded(passages, question=QUESTION):
    return QueryTerms(question, [f"{p.title}\n{p.text}" for p in passages])


def test_the_words_of_a_question_weigh_by_how_rare_they_are():
    wording = QueryTerms(
        "Who purchased the Café of the clubs?", ["the club purchases a cafe", "a club", "club"]
    )
    assert wording.terms == ["purchas", "cafe", "club"], "endings, accents and function words are off"
    assert wording.shares.sum() == pytest.approx(1)
    assert wording.shares[0] == wording.shares[1] > wording.shares[2] > 0
    assert wording.has.tolist() == [[1, 1, 1], [0, 0, 1], [0, 0, 1]]
    assert wording.coverage("The Café") == pytest.approx(wording.shares[1])
    empty = QueryTerms("Who is it?", ["a", "b"])
    assert empty.has.shape == (2, 0)
    assert empty.coverage("a") == 0
    assert QueryTerms("Who purchased it?", []).has.shape == (0, 1)


def test_the_order_is_that_of_the_weighted_features():
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    near = [("Valle Alto", 0.9), ("Harbour Club", 0.7)]
    none = replace(RerankRecipe(), **dict.fromkeys(WALK_FEATURES + WORD_FEATURES, 0.0))
    order, shares = rerank(NAMES, worded(passages), passages, near, 1.0, none)
    assert order == [0, 1, 2, 3], "of equals the walk's order stands"
    assert shares == [0.25] * 4, "of equals the walk's order stands"
    order, shares = rerank(NAMES, worded(passages), passages, near, 1.0, replace(none, rank=1, nearness=9))
    assert order == [3, 2, 1, 0], "names that tell all apart leave nothing to words and vectors"
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    order, _ = rerank(NAMES, worded(passages), passages, near, 0.0, replace(none, rank=9, nearness=1))
    assert order[0] == 3, "names that tell nothing apart leave nothing to the walk"
    assert rerank(NAMES, worded([]), [], [], 1.0, none) == ([], [])
    found = rerank(NAMES, worded(walked("Ana Ruiz")), walked("Ana Ruiz", scores=(0.0,)), [], 1.0, none)
    assert found == (
        [0],
        [1.0],
    )


def test_confidence_falls_where_the_passages_speak_of_something_else():
    passages = walked("Stone Pier", "Ana Ruiz", "Harbour Club", "Valle Alto")
    there = confidence(NAMES, ["stone pier"], worded(passages), passages)
    others = QueryTerms("How many moons has the planet Jupiter?", [text_of(passage) for passage in passages])
    gone = confidence(NAMES, [], others, passages)
    assert 0 < gone < 0.1 < 0.5 < there < 1
    assert confidence(NAMES, [], worded(passages), passages) < there, "no title among the question's names"
    assert confidence(NAMES, [], worded([]), []) == pytest.approx(gone, abs=0.05)
