"""Plans by a language model: what it is told, what of its replies is taken, and what is sent back to be mended."""

from __future__ import annotations

import json
import re

import pytest
from samples import cases
from scripted_chat import ScriptedChat

from gsw_graph.ask.plan import SCHEMA, decompose, parse, read_plan
from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.prompts import prompt

TWO = {
    "plan": [
        {"id": 1, "question": "Who built the bridge?", "retrieve": True},
        {"id": 2, "question": "Where was #1 born?", "retrieve": True},
    ]
}
LOST = {
    "plan": [
        {"id": 1, "question": "Who built the bridge?", "retrieve": True},
        {"id": 2, "question": "Where was the builder born?", "retrieve": True},
    ]
}
EXAMPLES = re.findall(r"^Question: (.+)\n(\{.+\})$", prompt("plan"), re.MULTILINE)


def steps(plan):
    return [(step.question, step.retrieve) for step in plan.steps]


def test_the_plan_of_a_model():
    chat = ScriptedChat(TWO)
    plan = decompose("Where was the builder of the bridge born?", chat)
    assert steps(plan) == [("Who built the bridge?", True), ("Where was #1 born?", True)]
    assert parse(plan.to_list()) == plan  # it can be edited and passed back
    (request,) = chat.requests
    assert request.stage == "plan"
    assert request.schema == SCHEMA
    assert request.document == ""
    assert request.messages == (
        {"role": "system", "content": prompt("plan")},
        {"role": "user", "content": "Question: Where was the builder of the bridge born?"},
    )


def test_a_plan_that_cannot_be_followed_is_mended_once():
    chat = ScriptedChat(LOST, TWO)
    assert len(decompose("q", chat).steps) == 2
    assert len(chat.told) == 1
    assert "Write #1" in chat.told[0]


def test_a_plan_that_stays_wrong_is_no_plan():
    chat = ScriptedChat(LOST, LOST, TWO)
    with pytest.raises(InvalidReplyError):
        decompose("q", chat)


@pytest.mark.parametrize(
    ("plan", "wrong"),
    cases(__file__, "what_is_wrong_with_a_plan_is_said"),
)
def test_what_is_wrong_with_a_plan_is_said(plan, wrong):
    with pytest.raises(ValueError, match=re.escape(wrong)):
        read_plan({"plan": plan})


@pytest.mark.parametrize(
    "reply",
    [None, 3, "Rome", [], {}, {"answer": "Rome"}, {"plan": None}, {"plan": {"a": {}}}, [[]], {"plan": [3]}],
)
def test_a_reply_that_is_no_plan(reply):
    with pytest.raises(ValueError):
        read_plan(reply)


# The prompt


def test_the_examples_of_the_prompt_are_plans():
    plans = {question: read_plan(json.loads(reply)) for question, reply in EXAMPLES}
    assert len(plans) == 5
    lengths = [len(plan.steps) for plan in plans.values()]
    assert lengths[0] == 1  # a question of one fact stays
    assert plans[EXAMPLES[0][0]].steps[0].question == EXAMPLES[0][0]
    assert max(lengths) == 5
    comparison = plans["Was the founder of Calder Mills born before the founder of Ostrava Looms?"]
    assert [step.retrieve for step in comparison.steps] == [True, True, True, True, False]
    assert len(comparison.sinks) == 2


@pytest.mark.parametrize("other", ["Who wrote Glass Harvest?", "..."])
def test_a_plan_for_another_question_is_refused(other):
    """Such as the one in the example of the prompt."""
    chat = ScriptedChat([other], [other])
    with pytest.raises(InvalidReplyError):
        decompose("In which town was the master of the bridge's builder born?", chat)
    assert chat.told[0].startswith(("the plan ('Who wrote Glass", "the steps of the plan say nothing"))


def test_a_whole_answer_as_json_is_read_as_its_plan():
    """So that the plan in it can be edited and given back."""
    plan = read_plan(TWO)
    assert (
        parse(
            json.dumps(
                {
                    "question": "q",
                    "answer": "Rome",
                    "plan": plan.to_list(),
                    "plan_source": "llm",
                    "chains": [],
                    "trace": None,
                }
            )
        )
        == plan
    )
