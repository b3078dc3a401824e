"""The planner of GRASP: one call that writes a rational plan and the sub-questions, `#k` for the answer of
the k-th.

Of the paper its prompt's rules are known. Ours: the reply is lines and not JSON, which takes fewer tokens and
any model can write; more than `MOST` sub-questions are refused; and where no plan comes, the question itself
is the one sub-question.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.errors import ReplyError
from gsw_graph.inference.chat.request import Request
from gsw_graph.plan import Plan, SubQuestion, check_about, followed, without_references
from gsw_graph.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.retrieve.agents.agent import Agent

MOST = 8  # sub-questions, and so agents
_LIMIT = 600  # tokens of a reply; a usual one has 80
_STEP = re.compile(r"^[ \t>*_-]*(\d{1,2})[.):][ \t*_]*(\S.*)$", re.MULTILINE)
_RATIONAL = re.compile(r"^[ \t>#*_]*plan[ \t*_]*[:：][ \t*_]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_LONGEST = 300  # characters of the rational plan


def planned(agent: Agent, question: str) -> tuple[Plan, str | None]:
    """The plan for a question, and why it is none of the model's. What else ends a question is raised."""
    asked = without_references(question)

    def check(reply: object) -> tuple[Plan, str]:
        plan, rational = read(str(reply))
        check_about(plan, asked)
        return plan, rational

    messages = (
        {"role": "system", "content": prompt("grasp_plan")},
        {"role": "user", "content": f"Question: {asked}"},
    )
    try:
        request = Request("grasp_plan", messages, limit=_LIMIT)
        return agent.ask(request, check, question, _told)[0], None
    except ReplyError as error:
        return Plan((SubQuestion(1, asked),)), f"no plan was made: {error}"


def read(reply: str) -> tuple[Plan, str]:
    """The plan in a reply, and its rational plan. ValueError: there is none that can be followed; the text
    says how to mend that."""
    steps = [{"id": int(number), "question": text.strip()} for number, text in _STEP.findall(reply)]
    if not steps:
        raise ValueError('there is no sub-question. Write each in a line of its own: "1. Who wrote it?"')
    if len(steps) > MOST:
        raise ValueError(f"there are {len(steps)} sub-questions. Write {MOST} at the most")
    rational = _RATIONAL.search(reply)
    return followed(steps), " ".join(rational[1].split())[:_LONGEST] if rational else ""


def _told(found: tuple[Plan, str]) -> str:
    plan, rational = found
    steps = " ".join(f"({step.id}) {step.question}" for step in plan.steps)
    return f"{rational} {steps}".strip()
