"""A plan from the question alone: in one hop, and by what it names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.chains.search import plan_from


def questions(question):
    return [" ".join(step.question.split()) for step in plan_from(question).steps]


@pytest.mark.parametrize(
    ("question", "bridge"),
    [
        ("Where was the singer of Salt Road born?", "was the singer of Salt Road born"),
        ("WHO sang it, and when?", "sang it, and"),
        ("In which year did Ana die?", "In year did Ana die"),
        ("How many people live in Rome?", "people live in Rome"),
        ("How does it end?", "How does it end"),  # asks for no kind of thing
        (
            "What about Whitney, Whatham and somewhere?",
            "about Whitney, Whatham and somewhere",
        ),  # words, not parts of them
        ("Rome", "Rome"),
        ("Who?", "Who?"),  # nothing else is in it
        ("?", "?"),
        ("#what#7 x?", "# 7 x"),  # no reference comes of what is taken out
    ],
)
def test_a_question_in_one_hop_and_by_what_it_names(question, bridge):
    assert questions(question) == [question, bridge, f"{question} #2"]


@given(st.one_of(st.text(), st.text("#12a_ ?Cé٢")).filter(str.strip))
def test_any_question_has_a_plan(question):
    plan = plan_from(question)
    assert [step.parents for step in plan.steps] == [(), (), (2,)]


@pytest.mark.parametrize(
    "question",
    ["#", "##", "C#", "Who made C#?", "Who made C#7?", "Why is #MeToo known?", "Is # a sign?", "12#3"],
)
def test_a_number_sign_stays_where_it_is_no_reference(question):
    """Found by this test: C# was C, and the question "#" an error."""
    assert [questions(question)[n] for n in (0, 2)] == [question, f"{question} #2"]
