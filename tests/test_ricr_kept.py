"""RICR does not repeat the mistakes of the published code, one test each: which chains are kept, and which are joined."""

from __future__ import annotations

import pytest
from chain_fakes import (  # noqa: F401 - a fixture
    DIAMOND,
    ONE,
    TWO,
    answers,
    asked,
    calls,
    fates,
    other_scores,
    pair,
    plan,
    run,
    scored,
    ways,
)

from gsw_graph.ask.retrieve.chains.records import ScoredPair
from gsw_graph.ask.retrieve.recipes import ChainRecipe, panini_code

# Which chains are kept


def test_answers_are_unique_across_chains_not_only_inside_one_beam():
    beams = run(
        plan("first", "second of #1", "third of #2"),
        {
            "first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")],
            "second of Ana": [scored("ana rome", 0.7, "Rome"), scored("ana oslo", 0.6, "Oslo")],
            "second of Bo": [scored("bo rome", 0.9, "Rome")],
            "third of Rome": [scored("end", 0.5, "End")],
        },
    )
    expected = [
        [(1, "b", "Bo"), (2, "bo rome", "Rome")],
        [(1, "a", "Ana"), (2, "ana oslo", "Oslo")],
    ]
    assert ways(beams.chains[2]) == expected
    assert asked(beams, 3) == ["third of Rome", "third of Oslo"]  # Rome is not asked twice
    assert fates(beams, 2) == {
        "ana rome": "a better chain has the same answer",
        "ana oslo": "kept",
        "bo rome": "kept",
    }


def test_e1_of_one_document_and_e1_of_another_do_not_collide():
    """Concepts are told apart by their names; ids are those of one document."""
    found = [
        ScoredPair(pair("q1", "Ana Ruiz", passage="doc A"), ("vector",), 0.9),
        ScoredPair(pair("q1", "Bo Lind", passage="doc B"), ("vector",), 0.8),
    ]
    for one in (ONE, TWO):
        beams = run(one, {"first": found})
        assert answers(beams, 1) == ["Ana Ruiz", "Bo Lind"]
    assert calls(TWO, {"first": found})[1] == ["second of Ana Ruiz", "second of Bo Lind"]


def test_what_became_of_every_candidate():
    best = [scored(f"p{n:02}", 0.9, f"Person{n:02}") for n in range(ChainRecipe().candidates - 2)]
    found = [
        scored("known", 0.99, "Salt Road"),
        scored("none", 0.98),
        *best,
        scored("same", 0.8, "Person00"),
        scored("low", 0.7, "Low"),
        scored("cut", 0.6, "Cut"),
        scored("cut same", 0.5, "Person00"),
    ]
    beams = run(plan("who walks Salt Road", "second of #1"), {"who walks Salt Road": found}, beam=3)
    expected = {
        "known": "its answer is an entity of the question",
        "none": "has no answer",
        **{one.pair.id: "kept" if n < 3 else "below the beam" for n, one in enumerate(best)},
        "same": "a better chain has the same answer",
        "low": "below the beam",
        "cut": "not among the best candidates",
        "cut same": "not among the best candidates",
    }
    assert fates(beams, 1) == expected


# Joins


def test_the_parents_of_a_diamond_agree_on_their_ancestor():
    """Two combinations, not four."""
    table = {
        "first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")],
        **{
            f"{step} of {name}": [scored(f"{step} {name}", 0.7, f"{step}{name}")]
            for step in ("second", "third")
            for name in ("Ana", "Bo")
        },
        "fourth of secondBo and thirdBo": [scored("end", 0.5, "End")],
    }
    beams = run(DIAMOND, table)
    assert asked(beams, 4) == ["fourth of secondAna and thirdAna", "fourth of secondBo and thirdBo"]
    expected = [[(1, "b", "Bo"), (2, "second Bo", "secondBo"), (3, "third Bo", "thirdBo"), (4, "end", "End")]]
    assert ways(beams.ends()) == expected


@pytest.mark.usefixtures("other_scores")
def test_shared_evidence_counts_once_in_the_score():
    table = {
        "first": [scored("a", 0.9, "Ana")],
        "second of Ana": [scored("b", 0.8, "Rome")],
        "third of Ana": [scored("c", 0.7, "Oslo")],
        "fourth of Rome and Oslo": [scored("d", 0.6, "End")],
    }
    found = run(DIAMOND, table, score="product").ends()[0].score
    expected = pytest.approx(0.9 * 0.8 * 0.7 * 0.6)
    assert found == expected
    found = run(DIAMOND, table).ends()[0].score
    expected = pytest.approx(panini_code([0.9, 0.8, 0.7, 0.6]))
    assert found == expected


def test_a_join_goes_on_with_its_best_combinations():
    """Found by this test: a join of three looked at its first hundred combinations, in no order of score, and forgot the fifth chain of its first parent."""
    one = plan("a", "b", "c", "join #1 #2 #3")
    table = {
        "a": [scored(f"a{n}", 0.9, f"A{n}") for n in range(5)],
        "b": [scored(f"b{n}", 0.9 - 0.2 * n, f"B{n}") for n in range(5)],
        "c": [scored(f"c{n}", 0.9 - 0.2 * n, f"C{n}") for n in range(5)],
    }
    assert calls(one, table)[1] == [f"join A{n} B0 C0" for n in range(5)]
