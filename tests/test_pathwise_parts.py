"""Paths, their adjustment and the integration of PathwiseRAG, without a memory."""

from __future__ import annotations

import numpy as np
import pytest

from gsw_graph.plan import parse
from gsw_graph.results import RankedPassage
from gsw_graph.retrieve.pathwise.adjustment import adjusted
from gsw_graph.retrieve.pathwise.integration import conflicts, merged, without_duplicates
from gsw_graph.retrieve.pathwise.network import network_from
from gsw_graph.retrieve.pathwise.paths import paths_of
from gsw_graph.store.reader import PairOf


def passage(name: str, text: str | None = None) -> RankedPassage:
    return RankedPassage(name, name, text or f"{name} is one of a kind called {name}", f"{name}.txt", name, 0.0)


A, B, C, D, E = map(passage, "ABCDE")


def ids(passages: list[RankedPassage]) -> list[str]:
    return [one.id for one in passages]


# Paths


def test_paths_take_the_relevant_end_first_and_then_what_is_different() -> None:
    network = network_from(parse(["near", "like near", "far"]))
    vectors = {"question": [1, 0], "near": [0.8, 0.6], "like near": [0.8, 0.6], "far": [0.8, -0.6]}
    found = paths_of(network, "question", {name: np.array(value, np.float32) for name, value in vectors.items()}, 3)
    assert [path.end.question for path in found] == ["near", "far", "like near"]
    assert found[0].omega == pytest.approx((0.8 + 0.2 + 1) / 3)
    assert found[1].omega == pytest.approx((0.8 + 0.2 + 0.72) / 3)
    assert len(paths_of(network, "question", {name: np.array(value, np.float32) for name, value in vectors.items()}, 2)) == 2


def test_a_path_holds_all_that_its_end_waits_for_in_order() -> None:
    network = network_from(parse(["a", "b", "c of #1", "d of #3 and #2", "e of #1"]))
    vectors = {one: np.array([1, 0], np.float32) for one in ("q", *(problem.question for problem in network.problems))}
    ways = {path.end.id: [one.id for one in path.problems] for path in paths_of(network, "q", vectors, 4)}
    assert ways == {4: [1, 2, 3, 4], 5: [1, 5]}


# Adjustment


def test_the_k_of_a_path_follows_its_gain_and_one_without_gain_stops() -> None:
    known: set[str] = set()
    first, second, third = adjusted([[A, B, C, D], [A, B, C, E], [A, B, C, D]], known, documents=4, least=0.2)
    assert (first.gain, ids(list(first.passages)), first.stopped) == (1, ["A", "B", "C", "D"], False)
    assert (second.gain, len(second.passages), second.stopped) == (0.25, 1, False)
    assert (third.gain, list(third.passages), third.stopped) == (0, [], True)
    assert "stopped" in third.words()


def test_the_first_path_never_stops_and_nothing_found_is_no_error() -> None:
    assert [one.stopped for one in adjusted([[], [A]], set(), 5, 1.0)] == [False, False]


# Integration


def test_lists_are_merged_by_reciprocal_rank() -> None:
    found = merged([(0.5, [A, B]), (1.0, [B, C])], 3, rank=1.0, duplicate=0.9)
    assert ids(found) == ["B", "C", "A"]
    assert found[0].score == pytest.approx(0.5 / 3 + 1 / 2)
    assert ids(merged([(0.5, [A, B]), (1.0, [B, C])], 1, rank=1.0, duplicate=0.9)) == ["B"]


def test_near_duplicates_are_one_and_the_better_placed_stays() -> None:
    text = "The Stone Pier was built in 1902 by Ana Ruiz, and it stands in Porto Velho today"
    again = passage("again", text + " still")
    assert ids(without_duplicates([passage("first", text), again, A], 0.9)) == ["first", "A"]
    assert ids(without_duplicates([passage("first", text), again, A], 1.0)) == ["first", "again", "A"]


def pair(question: str, answer: str, where: str, *about: str) -> PairOf:
    return PairOf(question, [answer], where, list(about or ("pier",)))


TITLES = {"1": "One", "2": "Two", "3": "Three"}


def test_who_says_what_against_whom() -> None:
    pairs = [pair("When was the Pier built?", "1902", "1"), pair("When was the pier built?", "3 May 1902", "2"), pair("When was the pier built?", "1911", "3")]
    (found,) = conflicts(pairs, TITLES)
    assert found.question == "When was the Pier built?"
    assert [(claim.titles, claim.confidence) for claim in found.claims] == [(["One", "Two"], pytest.approx(2 / 3)), (["Three"], pytest.approx(1 / 3))]
    assert "1902" in found.claims[0].answer
    assert found.claims[1].answer == "1911"


@pytest.mark.parametrize(
    "other",
    [
        pair("When was the pier built?", "1902", "2"),  # the same answer
        pair("When was the pier built?", "May 1902", "2"),  # a part of it
        pair("Who built the pier?", "Ana Ruiz", "2"),  # another question
        pair("When was the pier built?", "1911", "2", "another pier"),  # another thing of the same name
        pair("When was the pier built?", "1911", "1"),  # the same passage: a list
        pair("When was the pier built?", "1911", "9"),  # a passage that is not shown
    ],
)
def test_what_is_no_contradiction(other: PairOf) -> None:
    assert conflicts([pair("When was the pier built?", "1902", "1"), other], TITLES) == []
