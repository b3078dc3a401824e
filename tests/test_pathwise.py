"""PathwiseRAG by rules: the intent of a question, the approach that fits it, its paths, and how they are fused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.ask.conflicts import find_conflicts, weighed
from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.comparison import sides_of
from gsw_graph.ask.retrieve.intent import (
    ANY_DATE,
    Intent,
    choose_approach,
    date_bounds,
    parts_of,
    read_intent,
)
from gsw_graph.ask.retrieve.strategies.pathwise import SubProblem, keep_new, order_paths, without_duplicates
from gsw_graph.ask.strategy import AnswerDraft, reciprocal_rank_fusion
from gsw_graph.model.results import RankedPassage
from gsw_graph.store.reader import PairOf


def passage(id_: str, text: str = "", document: str = "") -> RankedPassage:
    return RankedPassage(id_, id_, text or f"the text of {id_}", "source", document or id_, 1.0)


A, B, C, D, E = (passage(name) for name in "ABCDE")


def ids(passages: list[RankedPassage]) -> list[str]:
    return [one.id for one in passages]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Who is older, Ann Bell or Joe Reed?", ("Ann Bell", "Joe Reed")),
        ("Who is older Ann Bell or Joe Reed?", ("Ann Bell", "Joe Reed")),
        ("Was Ann Bell or Joe Reed born first?", ("Ann Bell", "Joe Reed")),
        ("Which film came out first, Salt, Sand or Stone?", ("Salt", "Sand", "Stone")),
        ("Between Ann Bell and Joe Reed, who lived longer?", ("Ann Bell", "Joe Reed")),
        ("Are Ann Bell and Joe Reed from the same country?", ("Ann Bell", "Joe Reed")),
        ("Were both Ann Bell and Joe Reed born in Norley?", ("Ann Bell", "Joe Reed")),
        ("Are Salt and Pepper and Stoneware both films?", ("Salt and Pepper", "Stoneware")),
        ("Does Ann Bell have the same nationality as Joe Reed?", ("Ann Bell", "Joe Reed")),
        ("Did the builder of Norley Pier die before the mayor of Sand?", ("the builder of Norley Pier", "the mayor of Sand")),
        ("Was the Norley Pier finished earlier than the Sand Bridge?", ("the Norley Pier", "the Sand Bridge")),
    ],
)
def test_sides_of_a_comparison(question: str, sides: tuple[str, ...]) -> None:
    found = sides_of(question)
    assert found is not None
    assert found.names == sides
    for name, asked in zip(found.names, found.questions, strict=True):
        assert name in asked
        assert not any(other in asked for other in found.names if other != name and other not in name)
    assert choose_approach(read_intent(question)) == "comparative matrix"


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the book named after the artist known as the most remarkable creation of MTV?",
        "What is older?",
        "Which one is older, this or that?",
        "Who was the first president of Norley?",
        "What was given up in Norley after the Sand Bridge had opened?",
        "",
        "or or or and and than before",
    ],
)
def test_no_sides(question: str) -> None:
    assert sides_of(question) is None


@pytest.mark.parametrize(
    ("question", "kind", "depth"),
    [
        ("Who founded Hallam Yard?", "factual", 1),
        ("Who founded the yard that built the Halcyon Jane?", "factual", 2),
        ("Where was the master of the woman who built the Great Tide Engine born?", "factual", 3),
        ("Why did the Guild of the Needle close?", "causal", 2),
        ("How do you light the Gull Rock Light?", "procedural", 1),
        ("What would have happened if the Corrigan had not struck Gull Rock?", "hypothetical", 2),
        ("Who is older, the builder of the Marrow Bridge or Ann Bell?", "comparative", 3),
    ],
)
def test_kind_and_depth_of_an_intent(question: str, kind: str, depth: int) -> None:
    intent = read_intent(question)
    assert (intent.kind, intent.depth) == (kind, depth)


def test_braces_are_no_places_for_sides() -> None:
    found = sides_of("Who is {older} {side}, {Ann} Bell or Joe {0}?")
    assert found is not None
    assert found.names[0] == "{Ann} Bell"


@pytest.mark.parametrize(
    ("question", "approach"),
    [
        ("Who founded Hallam Yard?", "dense precision"),
        ("Who founded the yard that built the Halcyon Jane?", "deep chain"),
        ("In which town was the master of the woman who built the Great Tide Engine born?", "deep chain"),
        ("Which guild was dissolved between 1900 and 1910?", "temporal-ordered"),
        ("Tell me all the things that are known of Hallam Yard and the Corrigan.", "multi-aspect"),
        ("Who is older, Ann Bell or Joe Reed?", "comparative matrix"),
        ("Which is the latest ship of Hallam Yard?", "temporal-ordered"),
        ("Why did the Guild of the Needle close?", "deep chain"),  # a cause is a second fact
        ("What was named in 1821 by the man whose sister wrote the song that the choir of the town sang?", "deep chain"),
    ],
)
def test_the_strategy_that_fits(question: str, approach: str) -> None:
    assert choose_approach(read_intent(question)) == approach


# What an approach finds and how deep it goes (C_s and d_s of A.3); up to which depth of the question a need is critical.
APPROACHES = {
    "dense precision": ({"fact"}, 1),
    "deep chain": ({"fact", "chain"}, 3),
    "multi-aspect": ({"fact", "aspects"}, 2),
    "comparative matrix": ({"fact", "chain", "sides"}, 3),
    "temporal-ordered": ({"fact", "time"}, 2),
}
CRITICAL = {"sides": 5, "aspects": 3, "time": 2}


def score(approach: str, needs: set[str], depth: int) -> float:
    """S of equation 4, with the terms of equations 33 to 36."""
    finds, reach = APPROACHES[approach]
    shared, critical = len(finds & needs), {need for need in needs if depth <= CRITICAL.get(need, 0)}
    best = shared / sqrt(len(finds) * len(needs)) + 1 - exp(-shared / len(needs)) + exp(-abs(reach - depth))
    return round(best + (len(critical & finds) / len(critical) if critical else 1.0), 9)


@pytest.mark.parametrize(("kind", "timed", "broad"), [*product(("factual", "causal", "procedural", "hypothetical"), (False, True), (False, True)), ("comparative", False, False)])
@pytest.mark.parametrize("depth", range(1, 6))
def test_the_approach_has_the_largest_score(kind: Any, depth: int, timed: bool, broad: bool) -> None:
    sides = sides_of("Who is older, Ann Bell or Joe Reed?") if kind == "comparative" else None
    needed = {"chain": depth > 1, "aspects": broad or kind in ("procedural", "hypothetical"), "sides": sides is not None, "time": timed}
    needs = {"fact", *(need for need, is_needed in needed.items() if is_needed)}
    intent = Intent((), kind, depth, sides, timed=timed, broad=broad)
    assert choose_approach(intent) == max(APPROACHES, key=lambda approach: score(approach, needs, depth))


@pytest.mark.parametrize(
    ("question", "bounds"),
    [
        ("Which guild was dissolved before 1900?", {"to_most": "1899-12-31"}),
        ("Who was mayor since May 1881?", {"from_least": "1881-06-01"}),
        ("What opened between 1900 and 1910?", {"from_least": "1900-01-01", "to_most": "1910-12-31"}),
        ("What opened in 1881-1885?", {"from_most": "1881-12-31", "to_least": "1881-01-01"}),
        ("Who directed Change (1967 film)?", None),
        ("Who founded Hallam Yard?", None),
    ],
)
def test_bounds_that_a_question_states_by_dates(question: str, bounds: dict[str, str] | None) -> None:
    assert date_bounds(question) == (None if bounds is None else ANY_DATE | bounds)


def test_a_question_is_taken_apart_by_rules() -> None:
    comparison, broad, names = "Who is older, Ann Bell or Joe Reed?", "Who built Hallam Yard and when was it closed?", "Tell me everything of Hallam Yard, the Corrigan."
    intents = {text: read_intent(text) for text in (comparison, broad, names)}
    parts = {text: parts_of(text, intent, choose_approach(intent)) for text, intent in intents.items()}
    assert parts[comparison] == ["Who is older: Ann Bell?", "Who is older: Joe Reed?"]
    assert parts[broad] == ["Who built Hallam Yard?", "when was it closed Hallam Yard?"]
    assert parts[names] == ["Hallam Yard", "Corrigan"]
    cells = replace(intents[comparison], attributes=("age", "home"))
    assert parts_of(comparison, cells, "comparative matrix") == [f"What is the {name} of {side}?" for name in cells.attributes for side in ("Ann Bell", "Joe Reed")]


def network(*questions: str) -> list[SubProblem]:
    return [SubProblem(step.id, step.question, "deep chain", step.parents) for level in parse(list(questions)).levels() for step in level]


def test_paths_take_the_relevant_end_first_and_then_what_is_different() -> None:
    values = {"question": [1, 0], "near": [0.8, 0.6], "like near": [0.8, 0.6], "far": [0.8, -0.6]}
    vectors = {name: np.array(value, np.float32) for name, value in values.items()}
    paths = order_paths(network("near", "like near", "far"), "question", vectors, 3)
    assert [path[-1].question for path in paths] == ["near", "far", "like near"]
    assert len(order_paths(network("near", "like near", "far"), "question", vectors, 2)) == 2


def test_a_path_holds_all_that_its_end_waits_for_in_order() -> None:
    problems = network("a", "b", "c of #1", "d of #3 and #2", "e of #1")
    vectors = {text: np.array([1, 0], np.float32) for text in ("q", *(problem.question for problem in problems))}
    paths = {path[-1].id: [one.id for one in path] for path in order_paths(problems, "q", vectors, 4)}
    assert {end: sorted(path) for end, path in paths.items()} == {4: [1, 2, 3, 4], 5: [1, 5]}


def test_what_a_path_keeps_is_new() -> None:
    """Of five passages of which three are known the two new ones stay, not the first two."""
    known = {"A", "B", "C"}
    assert ids(keep_new([A, B, C, D, E], known, 5)) == ["D", "E"]
    assert known == set("ABCDE")
    assert ids(keep_new([A, B], set(), 0)) == ["A"], "one at least"


def test_rankings_are_fused_by_reciprocal_rank() -> None:
    fused = reciprocal_rank_fusion([[A, B], [B, C]], [0.5, 1.0], k=1.0)
    assert ids(fused) == ["B", "C", "A"]
    assert fused[0].score == pytest.approx(0.5 / 3 + 1 / 2)


def test_near_duplicates_are_one_and_the_better_placed_stays() -> None:
    text = "The Stone Pier was built in 1902 by Ana Ruiz, and it stands in Porto Velho today"
    again = passage("again", text + " still")
    assert ids(without_duplicates([passage("first", text), again, A], 0.9)) == ["first", "A"]
    assert ids(without_duplicates([passage("first", text), again, A], 1.0)) == ["first", "again", "A"]


words = st.lists(st.sampled_from("abcdefgh"), max_size=8).map(" ".join)


@given(st.lists(words, max_size=12), st.sampled_from([0.5, 0.75, 0.9, 1.0]))
def test_duplicates_are_those_that_a_comparison_of_all_pairs_finds(texts: list[str], share: float) -> None:
    kept: list[tuple[str, frozenset[str]]] = []
    for number, text in enumerate(texts):
        own = frozenset(text.split()) or frozenset([f"t{number}"])
        if not any(len(own & other) >= share * len(own | other) for _, other in kept):
            kept.append((str(number), own))
    given_passages = [passage(str(number), text or f"t{number}") for number, text in enumerate(texts)]
    assert ids(without_duplicates(given_passages, share)) == [id_ for id_, _ in kept]


def pair(question: str, answer: str, where: str, *about: str) -> PairOf:
    return PairOf(question, [answer], where, list(about or ("pier",)))


def passages(**texts: str) -> dict[str, RankedPassage]:
    return {id_: passage(id_, text) for id_, text in texts.items()}


PLACES = passages(one="", two="", three="")


def test_who_says_what_against_whom() -> None:
    pairs = [pair("When was the Pier built?", "1902", "one"), pair("When was the pier built?", "3 May 1902", "two"), pair("When was the pier built?", "1911", "three")]
    (found,) = find_conflicts(pairs, PLACES)
    assert found.question == "When was the Pier built?"
    assert [(claim.titles, claim.confidence) for claim in found.claims] == [(["one", "two"], pytest.approx(2 / 3)), (["three"], pytest.approx(1 / 3))]
    assert "1902" in found.claims[0].answer
    assert found.claims[1].answer == "1911"
    assert weighed(AnswerDraft("1911", confidence=0.9), [found]).confidence == pytest.approx(0.3)
    assert weighed(AnswerDraft("Ana", confidence=0.9), [found]).confidence == 0.9


def test_a_document_has_one_vote_however_many_passages_it_is_cut_into() -> None:
    chunks = {id_: passage(id_, document="long") for id_ in "abc"} | {"d": passage("d")}
    (found,) = find_conflicts([*(pair("Who built it?", "Ana", id_) for id_ in "abc"), pair("Who built it?", "Bo", "d")], chunks)
    assert [claim.confidence for claim in found.claims] == [0.5, 0.5]


def test_mayors_of_different_years_do_not_contradict_each_other() -> None:
    asked = [pair("Who was the mayor of Norley?", "Joe Reed", "one"), pair("Who was the mayor of Norley?", "Ann Bell", "two")]
    said = "{} was the mayor of Norley in {}."
    assert find_conflicts(asked, passages(one=said.format("Joe Reed", 1901), two=said.format("Ann Bell", 1990))) == []
    assert len(find_conflicts(asked, passages(one=said.format("Joe Reed", 1901), two=said.format("Ann Bell", 1901)))) == 1
    assert len(find_conflicts(asked, PLACES)) == 1


@pytest.mark.parametrize(
    "other",
    [
        pair("When was the pier built?", "1902", "two"),  # the same answer
        pair("When was the pier built?", "May 1902", "two"),  # a part of it
        pair("Who built the pier?", "Ana Ruiz", "two"),  # another question
        pair("When was the pier built?", "1911", "two", "another pier"),  # another thing of the same name
        pair("When was the pier built?", "1911", "one"),  # the same passage: a list
        pair("When was the pier built?", "1911", "nine"),  # a passage that is not shown
    ],
)
def test_what_is_no_contradiction(other: PairOf) -> None:
    assert find_conflicts([pair("When was the pier built?", "1902", "one"), other], PLACES) == []
