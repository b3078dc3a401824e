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
    [
        (["Ana"], ["person: singer, painter"], {"person"}),
        (["Ana"], ["character: hero; Person"], {"person"}),  # role after role, in any writing
        (["Rome"], ["city: old; capital"], {"place"}),
        (["Rome"], ["structure: city"], set()),  # a state is no role
        (["Salt"], ["Group", "location: hall"], {"organisation", "place"}),
        (["1998"], [], {"date", "number"}),
        (["3 May 1998"], [], {"date", "number"}),
        (["May"], [], {"date"}),
        (["in the autumn of 1998, when the mill had burnt"], [], set()),  # too long for a date
        (["1,200 people"], [], {"number"}),
        (["$5 million"], [], {"number"}),
        (["2098"], [], {"date", "number"}),
        (["2198"], [], {"number"}),
        (["Bay 1234567"], [], set()),
        (["Ana", "1998"], ["person"], {"person", "date", "number"}),
        ([], [], set()),
        ([""], [""], set()),
    ],
)
def test_kinds_of_answers(answers, descriptions, expected):
    assert answer_types(answers, descriptions) == expected
