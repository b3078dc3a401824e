"""Replies of a language model to a question: read whole and as they come."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gsw_graph.ask.answer.reader import ReaderReply, Stream, parse_reply


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Answer: Rome\nSources: 1, 3", ReaderReply("Rome", (1, 3))),
        ("answer:Rome\n\nsource: 2\n", ReaderReply("Rome", (2,))),
        ("**Answer:** **Rome**\n**Sources:** [1], [3]", ReaderReply("Rome", (1, 3))),
        ("- Final answer: `Rome`\n- Sources: 1 and 3", ReaderReply("Rome", (1, 3))),
        ("### Answer:\nRome\n### Sources:\n- 1\n- 3", ReaderReply("Rome", (1, 3))),
        ("Answer：東京\nSources：2", ReaderReply("東京", (2,))),
        ("Answer: Rome [1], the capital [2, 3]\nSources: 1", ReaderReply("Rome, the capital", (1, 2, 3))),
        ("Rome", ReaderReply("Rome")),
        ("\\boxed{Rome}", ReaderReply("Rome")),
        ("Line 1 says so.\n$\\boxed{\\text{Rome}}$\nSources: 1", ReaderReply("Rome", (1,))),
        ("Answer: \\boxed{Rome}\nSources: 1", ReaderReply("Rome", (1,))),
        ("So it is <answer>Rome</answer>", ReaderReply("Rome")),
        ("Antwort: Rom\nQuellen: 1, 3", ReaderReply("Rom", (1, 3))),
        ("**Réponse :** Rome\n**Sources :** 1", ReaderReply("Rome", (1,))),
        ("答案：罗马\n来源：2", ReaderReply("罗马", (2,))),
        (
            "<|channel|>analysis<|message|>Line 1.<|end|><|start|>assistant<|channel|>final<|message|>Answer: Rome\nSources: 1<|return|>",
            ReaderReply("Rome", (1,)),
        ),
        ("analysisLine 1 says it.assistantfinalAnswer: Rome\nSources: 1", ReaderReply("Rome", (1,))),
        ("Answer: the <think> tag\nSources: 1", ReaderReply("the <think> tag", (1,))),
        ("Answer: the </think> tag\nSources: 1", ReaderReply("the </think> tag", (1,))),
        ("Rome [2]", ReaderReply("Rome", (2,))),
        ("Rome\nSources: 2", ReaderReply("Rome", (2,))),
        ("Sources: 2\nAnswer: Rome", ReaderReply("Rome", (2,))),
        ("Line 1 says so.\nAnswer: Rome\nSources: 1", ReaderReply("Rome", (1,))),
        ("<think>Answer: Oslo\nSources: 9</think>\nAnswer: Rome\nSources: 1", ReaderReply("Rome", (1,))),
        ("Answer: Oslo, or no\nSources: 9</think>Answer: Rome\nSources: 1", ReaderReply("Rome", (1,))),
        ("<reasoning>Answer: Oslo</reasoning>Answer: Rome\nSources: 1", ReaderReply("Rome", (1,))),
        ("Answer: Oslo</thought>Answer: Rome\nSources: 1", ReaderReply("Rome", (1,))),
        ("Answer: Rome\nin Italy\nSources: 1\nSources: 2", ReaderReply("Rome in Italy", (1, 2))),
        ("Answer: Rome\nSources: [2] Ana was born in 1999 with 3 sisters", ReaderReply("Rome", (2,))),
        ("Answer: Rome\nSources: 2\nIn 1999 she left.", ReaderReply("Rome", (2,))),
        ("Answer: Rome\nSources: none", ReaderReply("Rome")),
        ("Answer: Rome\nSources: 123456789", ReaderReply("Rome")),
        ("Answer: Rome\nNot in the evidence: when", ReaderReply("Rome")),
        ("Not in the evidence: her birth", ReaderReply(None, missing="her birth")),
        ("Not in the evidence: her birth\nAnswer: Rome\nSources: 1", ReaderReply(None, missing="her birth")),
        ("**Not in the evidence:** her\nbirth", ReaderReply(None, missing="her birth")),
        ("Answer: Not in the evidence: her birth\nSources: 1", ReaderReply(None, missing="her birth")),
        ("Answer:\nNot in the evidence: her birth", ReaderReply(None, missing="her birth")),
        ("Not in the evidence.", ReaderReply(None)),
        ("Answer: unknown\nSources: 1", ReaderReply(None)),
        ("Answer: N/A", ReaderReply(None)),
        (
            "Answer: Not mentioned in the evidence.",
            ReaderReply(None, missing="Not mentioned in the evidence."),
        ),
        ("I don't know.", ReaderReply(None)),
        (
            "Answer: The evidence does not say who built it.",
            ReaderReply(None, missing="The evidence does not say who built it."),
        ),
        (
            "Answer: Unknown Pleasures\nSources: 1",
            ReaderReply("Unknown Pleasures", (1,)),
        ),  # names that begin like a refusal
        ("Answer: Nothing Else Matters\nSources: 1", ReaderReply("Nothing Else Matters", (1,))),
        ("Answer: no\nSources: 1", ReaderReply("no", (1,))),
        ("Answer: none\nSources: 1", ReaderReply("none", (1,))),
    ],
)
def test_what_a_reply_says(reply, said):
    assert parse_reply(reply) == said


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
