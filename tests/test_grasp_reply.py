"""What agents of GRASP reply: labelled lines, as models write them; and plans in lines."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.strategies.grasp import (
    MOST,
    Reply,
    parse_plan,
    parse_reply,
)

FOUND = Reply("answer", "Ana Ruiz", "Ana Ruiz built it.", (1, 3))


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: Ana Ruiz\nFinding: Ana Ruiz built it.\nLines: 1, 3",
        "**Answer:** Ana Ruiz\n**Finding:** Ana Ruiz built it.\n**Lines:** [1], [3]",
        "answer: Ana Ruiz\n\nfinding: Ana Ruiz built it.\n\nline: 1 and 3",
        "- Answer: `Ana Ruiz`\n- Finding: Ana Ruiz built it.\n- Lines: 1; 3\n\nSearch: something else",
        "I see.\nAnswer: Ana Ruiz\nFinding: Ana Ruiz built it.\nLines: 1, 3\nAnswer: Bo Lind\nInsufficient: all",
    ],
)
def test_a_finding(reply):
    assert parse_reply(reply) == FOUND


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            "Follow: Ana Ruiz | where Ana Ruiz was born",
            Reply("follow", "Ana Ruiz", "where Ana Ruiz was born"),
        ),
        ("Follow: Ana Ruiz", Reply("follow", "Ana Ruiz", "")),
        ("Search: somebody built the pier", Reply("search", "somebody built the pier", "")),
        ("Read: [4]", Reply("read", "[4]", "")),
        ("Insufficient: who built it", Reply("insufficient", "who built it")),
        ("Insufficient", Reply("insufficient", "")),
        ("Insufficient: all\nAnswer: Ana Ruiz", Reply("insufficient", "all")),
        ("Answer: not stated in the lines\nLines: 1", Reply("insufficient", "")),
        (
            "Answer: Not Without My Daughter\nLines: 1",
            Reply("answer", "Not Without My Daughter", "Not Without My Daughter", (1,)),
        ),
        ("Finding: Ana Ruiz built it.", Reply("answer", "Ana Ruiz built it.", "Ana Ruiz built it.", ())),
        ("\nAna Ruiz\nand more", Reply("answer", "Ana Ruiz", "Ana Ruiz", ())),
    ],
)
def test_each_form(reply, said):
    assert parse_reply(reply) == said


@pytest.mark.parametrize("reply", ["", " \n ", "...", "Follow:", "Search: \nLines: 1", "Lines: 1"])
def test_a_reply_that_says_nothing(reply):
    with pytest.raises(ValueError, match="Write"):
        parse_reply(reply)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    for reader in (parse_reply, parse_plan):
        with contextlib.suppress(ValueError):  # anything else fails the test
            reader(text)


def test_a_plan():
    plan, rational = parse_plan(
        "Plan: first the author, then the town.\n1. Who wrote it?\n2) Where was #1 born?"
    )
    assert [step.question for step in plan.steps] == ["Who wrote it?", "Where was #1 born?"]
    assert rational == "first the author, then the town."
    plan, rational = parse_plan("**1.** When was #3 born?\n- 3: Who wrote it?")
    assert [(step.id, step.question, step.parents) for step in plan.steps] == [
        (1, "When was #2 born?", (2,)),
        (2, "Who wrote it?", ()),
    ]
    assert rational == ""


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("Plan: none.", "no sub-question"),
        ("1. Who is #1?", "refers to itself"),
        ("1. Who is #2?\n2. Who is #1?", "circle"),
        ("1. Who is #7?", "no step 7"),
        ("1. Who?\n1. Who else?", "two steps have the id 1"),
        ("\n".join(f"{n}. Who is number {n}?" for n in range(1, MOST + 2)), "at the most"),
    ],
)
def test_what_is_no_plan(reply, why):
    with pytest.raises(ValueError, match=why):
        parse_plan(reply)
