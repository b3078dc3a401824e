"""The kind of thing a question asks for, and whether an answer is one."""

from __future__ import annotations

import pytest

from gsw_graph.ask.retrieve.pair_score import answer_types, expected_type


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was Ana born?", "date"),
        ("In which year did Salt Road open?", "date"),
        ("what month is the fair", "date"),
        ("How many people live in #1?", "number"),
        ("HOW LONG is the bridge?", "number"),
        ("What is the population of #1?", "number"),
        ("Who directed Alien?", "person"),
        ("Whose song is it?", "person"),
        ("Whom did #1 marry?", "person"),
        ("Where was #1 born?", "place"),
        ("In which city is it?", "place"),
        ("What county is #1 in?", "place"),
        ("What is the name of the song?", None),
        ("Which band recorded it?", None),
        ("Is the whole wholesome?", None),  # no "who" in it
        ("", None),
        ("#1 >> place of birth", "place"),
        ("#1 >> date of birth", "date"),
        ("Salt Road >> director", "person"),
        ("#1 >> Country", "place"),
        ("#1 >> population", "number"),
        ("#1 >> record label", None),
        ("When We Were Kings >> director", "person"),  # the subject does not say
        ("Who's Next >> record label", None),
    ],
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
