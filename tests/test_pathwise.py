"""PathwiseRAG by rules: the intent of a question, the approach that fits it, its paths, and how they are fused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from samples import cases

from gsw_graph.ask.conflicts import discount_confidence, find_conflicts
from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.comparison import sides_of
from gsw_graph.ask.retrieve.intent import (
    choose_approach,
    parts_of,
    read_intent,
)
from gsw_graph.ask.retrieve.strategies.pathwise import SubProblem, order_paths
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.model.results import RankedPassage
from gsw_graph.store.reader import PairOf


def passage(id_, text="", document=""):
    return RankedPassage(id_, id_, text or f"the text of {id_}", "source", document or id_, 1.0)


A, B, C, D, E = (passage(name) for name in "ABCDE")


@pytest.mark.parametrize(
    ("question", "sides"),
    cases(__file__, "sides_of_a_comparison", tuples=True),
)
def test_sides_of_a_comparison(question, sides):
    found = sides_of(question)
    assert found is not None
    assert found.names == sides
    for name, asked in zip(found.names, found.questions, strict=True):
        assert name in asked
        for other in found.names:
            if other != name and other not in name:
                assert other not in asked
    assert choose_approach(read_intent(question)) == "comparative matrix"


def test_a_question_is_taken_apart_by_rules():
    comparison = "Who is older, Ann Bell or Joe Reed?"
    broad = "Who built Hallam Yard and when was it closed?"
    names = "Tell me everything of Hallam Yard, the Corrigan."
    intents = {text: read_intent(text) for text in (comparison, broad, names)}
    parts = {text: parts_of(text, intent, choose_approach(intent)) for text, intent in intents.items()}
    assert parts[comparison] == ["Who is older: Ann Bell?", "Who is older: Joe Reed?"]
    assert parts[broad] == ["Who built Hallam Yard?", "when was it closed Hallam Yard?"]
    assert parts[names] == ["Hallam Yard", "Corrigan"]
    cells = replace(intents[comparison], attributes=("age", "home"))
    expected = [
        f"What is the {name} of {side}?" for name in cells.attributes for side in ("Ann Bell", "Joe Reed")
    ]
    assert parts_of(comparison, cells, "comparative matrix") == expected


def network(*questions):
    return [
        SubProblem(step.id, step.question, "deep chain", step.parents)
        for level in parse(list(questions)).levels()
        for step in level
    ]


def test_paths_take_the_relevant_end_first_and_then_what_is_different():
    values = {"question": [1, 0], "near": [0.8, 0.6], "like near": [0.8, 0.6], "far": [0.8, -0.6]}
    vectors = {name: np.array(value, np.float32) for name, value in values.items()}
    paths = order_paths(network("near", "like near", "far"), "question", vectors, 3)
    assert [path[-1].question for path in paths] == ["near", "far", "like near"]
    assert len(order_paths(network("near", "like near", "far"), "question", vectors, 2)) == 2


def pair(question, answer, where, *about):
    return PairOf(question, [answer], where, list(about or ("pier",)))


def passages(**texts):
    return {id_: passage(id_, text) for id_, text in texts.items()}


PLACES = passages(one="", two="", three="")


def test_who_says_what_against_whom():
    pairs = [
        pair("When was the Pier built?", "1902", "one"),
        pair("When was the pier built?", "3 May 1902", "two"),
        pair("When was the pier built?", "1911", "three"),
    ]
    (found,) = find_conflicts(pairs, PLACES)
    assert found.question == "When was the Pier built?"
    expected = [
        (["one", "two"], pytest.approx(2 / 3)),
        (["three"], pytest.approx(1 / 3)),
    ]
    assert [(claim.titles, claim.confidence) for claim in found.claims] == expected
    assert "1902" in found.claims[0].answer
    assert found.claims[1].answer == "1911"
    assert discount_confidence(AnswerDraft("1911", confidence=0.9), [found]).confidence == pytest.approx(0.3)
    assert discount_confidence(AnswerDraft("Ana", confidence=0.9), [found]).confidence == 0.9


def test_a_document_has_one_vote_however_many_passages_it_is_cut_into():
    chunks = {id_: passage(id_, document="long") for id_ in "abc"} | {"d": passage("d")}
    (found,) = find_conflicts(
        [*(pair("Who built it?", "Ana", id_) for id_ in "abc"), pair("Who built it?", "Bo", "d")], chunks
    )
    assert [claim.confidence for claim in found.claims] == [0.5, 0.5]


def test_mayors_of_different_years_do_not_contradict_each_other():
    asked = [
        pair("Who was the mayor of Norley?", "Joe Reed", "one"),
        pair("Who was the mayor of Norley?", "Ann Bell", "two"),
    ]
    said = "{} was the mayor of Norley in {}."
    assert (
        find_conflicts(asked, passages(one=said.format("Joe Reed", 1901), two=said.format("Ann Bell", 1990)))
        == []
    )
    found = len(
        find_conflicts(asked, passages(one=said.format("Joe Reed", 1901), two=said.format("Ann Bell", 1901)))
    )
    assert found == 1
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
def test_what_is_no_contradiction(other):
    assert find_conflicts([pair("When was the pier built?", "1902", "one"), other], PLACES) == []
