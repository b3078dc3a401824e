"""Whether an answer stands in the evidence, and on which lines."""

from __future__ import annotations

import pytest
from samples import cases

from gsw_graph.ask.answer.evidence import EvidenceLine
from gsw_graph.ask.answer.reader import supporting_lines
from gsw_graph.model.results import RankedPassage


def line(text, behind=""):
    return EvidenceLine(text, RankedPassage("p", "t", behind or text, "s", "d", 0.5))


LINES = [
    line("Who built the Marrow Bridge? Ana Ruiz"),
    line("Where was Ana Ruiz born? Port Ellery"),
    line(
        "When was Bo Lind born? 20 March 1951",
        "Bo Lind, an American singer, was born on 20 March 1951 in Oslo.",
    ),
    line("Who lived in Oslo? Cy"),
]
ASKED = "Where was the builder of the Marrow Bridge born?"


def stands(answer, *named, question=ASKED, is_comparison=False):
    """By numbers from 1."""
    return [
        place + 1
        for place in supporting_lines(question, answer, [number - 1 for number in named], LINES, is_comparison=is_comparison)
    ]


@pytest.mark.parametrize(
    ("answer", "named", "lines"),
    cases(__file__, "the_lines_an_answer_stands_on"),
)
def test_the_lines_an_answer_stands_on(answer, named, lines):
    assert stands(answer, *named) == lines


def test_what_a_comparing_step_says_need_not_stand_in_words():
    for answer in ("three", "three years", "43"):
        assert stands(answer, 2, 3, is_comparison=True) == [2, 3]
        assert len(stands(answer, 99, is_comparison=True)) == 1
        assert stands(answer, 2, 3) == []


def test_scripts_without_spaces():
    lines = [line("彼は大阪で生まれた。"), line("彼女は東京で生まれた。")]
    assert supporting_lines("どこで", "東京", [], lines, is_comparison=False) == [1]
    assert supporting_lines("どこで", "京都", [0], lines, is_comparison=False) == [0], (
        "a script without capitals shows no names"
    )
    assert supporting_lines("いつ", "1952年", [0], lines, is_comparison=False) == []
