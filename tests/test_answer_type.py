"""The kind of thing a question asks for, and whether an answer is one."""

from __future__ import annotations

import pytest
from samples import cases

from gsw_graph.ask.retrieve.pair_score import answer_types, expected_type


@pytest.mark.parametrize(
    ("question", "kind"),
    cases(__file__, "what_a_question_asks_for"),
)
def test_what_a_question_asks_for(question, kind):
    assert expected_type(question) == kind


@pytest.mark.parametrize(
    ("answers", "descriptions", "expected"),
    cases(__file__, "kinds_of_answers"),
)
def test_kinds_of_answers(answers, descriptions, expected):
    assert answer_types(answers, descriptions) == set(expected)
