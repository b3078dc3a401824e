"""Fusion: answers that lead on, and pairs scored with the walk of their question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gsw_graph.ask.retrieve.chains.bridges import bridges
from gsw_graph.ask.retrieve.chains.candidates import rescored
from gsw_graph.ask.retrieve.chains.records import ScoredPair
from gsw_graph.ask.retrieve.names import graph as name_graph
from gsw_graph.ask.retrieve.recipes import FusionRecipe
from gsw_graph.store.facts import Pair

QUESTION = "Who leads the club that owns the Stone Pier?"
NAMES = name_graph.build(
    [
        ("pier", ["stone pier", "harbour club", "ana ruiz", "lone name"], [1.0, 1.0, 1.0, 1.0]),
        ("club", ["harbour club", "carla duarte"], [1.0, 1.0]),
        ("ana", ["ana ruiz"], [1.0]),
        ("town", ["carla duarte", "valle alto"], [1.0, 1.0]),
    ]
)
RECIPE = FusionRecipe()
VECTOR = np.array([1.0, 0.0], dtype=np.float32)


def vectors(*cosines):
    return np.array([[c, (1 - c * c) ** 0.5] for c in cosines], dtype=np.float32)


def found(pairs, cosines, walked, **constants):  # type: ignore[no-untyped-def]
    return bridges(NAMES, QUESTION, VECTOR, walked, pairs, vectors(*cosines), replace(RECIPE, **constants))


def test_the_best_answers_of_the_best_passages_lead_on():
    some = found(
        [(["Ana Ruiz"], "pier"), (["Harbour Club"], "pier"), (["Carla Duarte"], "club")],
        [0.69, 0.7, 0.1],
        [("pier", 0.4), ("club", 0.1)],
    )
    assert some == ["Harbour Club", "Ana Ruiz"]
    assert len(some) == RECIPE.bridges


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("the Stone Pier", "it stands in the question"),
        ("Lone Name", "no other passage names it"),
        ("1902", "a number names nothing"),
        ("3 May 1871", "a date names nothing"),
        ("Somebody Else", "the memory does not know it"),
        ("", "it is nothing"),
        ("!!!", "it is nothing"),
    ],
)
def test_what_leads_nowhere_is_no_bridge(answer, why):
    some = found([([answer], "pier"), (["Ana Ruiz"], "pier")], [0.9, 0.1], [("pier", 1.0)])
    assert some == ["Ana Ruiz"], why


def pair(number, passage):
    return Pair(f"id{number}", "Who?", ("x",), (), passage, passage, number)


def test_the_walk_lifts_pairs_of_its_passages():
    before = [
        ScoredPair(pair(0, "far"), ("vector",), 0.6),
        ScoredPair(pair(1, "best"), ("walk",), 0.4),
        ScoredPair(pair(2, "some"), ("name",), 0.5),
    ]
    after = rescored(before, {"best": 1.0, "some": 0.25}, 2.0)
    assert [one.pair.number for one in after] == [1, 2, 0]
    logit = np.log(0.4 / 0.6) + 2.0 / 2
    assert after[0].score == pytest.approx(1 / (1 + np.exp(-logit)))
    assert next(one for one in after if one.pair.number == 2).score == pytest.approx(
        0.5
    )  # a quarter of the best is neither good nor bad
    assert [one.ways for one in after] == [("walk",), ("name",), ("vector",)]
