"""Replies of a language model to a question: read whole and as they come."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from samples import cases

from gsw_graph.ask.answer.reader import ReaderReply, Stream, parse_reply


@pytest.mark.parametrize(
    ("reply", "answer", "sources", "missing"),
    cases(__file__, "what_a_reply_says"),
)
def test_what_a_reply_says(reply, answer, sources, missing):
    assert parse_reply(reply) == ReaderReply(answer, tuple(sources), missing=missing)


# As they come


PARTS = st.sampled_from(
    "Answer:|Sources:|Source|Not in the evidence:|not in|the evidence|\n| |Rome|Ro|me|[1]|[1, 2]|[|]|1|*|**|`|<think>|</think>|<reasoning>|</reasoning>|<|:|-|final|Oslo.|：|\t|é|東京".split(
        "|"
    )
)


@given(
    st.lists(PARTS, max_size=25).map("".join)
    | st.lists(PARTS, max_size=20).map(lambda parts: f"Answer: Ana{''.join(parts)}"),
    st.lists(st.integers(1, 7), min_size=1, max_size=9),
)
@example("Answer: ** Rome **\nSources: 1", [1])
@example("Answer: [[1] Rome]", [2])
def test_what_is_shown_is_the_answer(reply, sizes):
    """Whatever a reply holds and however it is cut, if it does not begin within thoughts: that shows too late."""
    assume(
        not re.search(
            "</(think|reasoning)>", re.sub("<(think|reasoning)>.*?</\\1>", "", reply, flags=re.DOTALL)
        )
    )
    shown = []
    stream = Stream(shown.append)
    at = 0
    turn = 0
    while at < len(reply):
        stream(reply[at : at + sizes[turn % len(sizes)]])
        at += sizes[turn % len(sizes)]
        turn += 1
    try:
        said = parse_reply(reply)
    except ValueError:
        assert "".join(shown) == ""
        return
    if said.answer is not None:
        stream.end(said.answer)
        assert "".join(shown) == said.answer


CHANNELS = "<|channel|>analysis<|message|>Line 1 says so.<|end|><|start|>assistant<|channel|>final<|message|>Answer: Lund\nSources: 1"


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "Lund", "sources": [1]}',
        "\\boxed{Lund}",
        "Antwort: Lund\nQuellen: 1",
        CHANNELS,
        "Answer: the <think> tag\nSources: 1",
    ],
)
def test_case_22_an_answer_in_another_form(reply):
    said = parse_reply(reply)
    assert said.answer == ("the <think> tag" if "think" in reply else "Lund")
    assert said.sources == (() if "boxed" in reply else (1,))


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('```json\n{"answer": "Lund", "sources": ["[1]", "2"]}\n```', ReaderReply("Lund", (1, 2))),
        ('{"answer": "Lund", "sources": 3, "note": "x"}', ReaderReply("Lund", (3,))),
        ('{"answer": 12, "sources": []}', ReaderReply("12")),
        ('{"answer": null, "missing": "who built it"}', ReaderReply(None, missing="who built it")),
        ("{Lund}", ReaderReply("{Lund}")),
        ('{"city": "Lund"}', ReaderReply('{"city": "Lund"}')),
    ],
)
def test_case_22_an_answer_as_json(reply, said):
    assert parse_reply(reply) == said
