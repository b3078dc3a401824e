"""A plan by a language model: the question taken apart after the rules of `prompts/plan.md` (Panini, section 2.3; our own prompt)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError
from gsw_graph.inference.chat_request import Request
from gsw_graph.plan.reading import parse
from gsw_graph.plan.steps import Plan, rewrite
from gsw_graph.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.inference.language_model import LanguageModel

# Of the reply; `parse` reads it as it is. Strict servers want every key required and no other allowed.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "plan": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "question": {"type": "string"}, "retrieve": {"type": "boolean"}},
                "required": ["id", "question", "retrieve"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["plan"],
    "additionalProperties": False,
}
# Beside a letter `#1` is no reference ("#4chan", "C#1"). Scripts without spaces set letters around it all the same.
_LETTER = r"[^\W\d_a-zA-Z]"
_GLUED_LEFT = re.compile(rf"(?<={_LETTER})(?=#[0-9])")
_GLUED_RIGHT = re.compile(rf"(#[0-9]+)(?={_LETTER})")


def decompose(question: str, llm: LanguageModel) -> Plan:
    """The plan of a model for a question. ReplyError: its reply is none, even after a repair; StoppedError: no call works any more."""
    asked = rewrite(_spaced(" ".join(question.split())), lambda k: f"number {k}")  # "#1" of the question is no reference
    messages = ({"role": "system", "content": prompt("plan")}, {"role": "user", "content": f"Question: {asked}"})
    return llm.ask(Request("plan", messages, SCHEMA), read).value


def read(reply: object) -> Plan:
    """The plan in a reply. ValueError: it cannot be followed, or finds something that nothing uses; the text says how to mend that."""
    try:
        plan = parse(_spaced(reply))
    except InputError as error:
        raise ValueError(str(error)) from error
    needed = {parent for step in plan.steps for parent in step.parents}
    if idle := next((step.id for step in plan.steps[:-1] if step.id not in needed), None):
        raise ValueError(
            f"no step uses the answer of step {idle}. Write #{idle}, apart from other letters, in the step that needs it, or leave step {idle} out; "
            "only the last step, which gives the answer, is used by none"
        )
    return plan


def _spaced(value: Any) -> Any:
    """What JSON holds, with spaces around references that touch a letter."""
    if isinstance(value, str):
        return _GLUED_RIGHT.sub(r"\1 ", _GLUED_LEFT.sub(" ", value))
    if isinstance(value, list):
        return [_spaced(one) for one in value]
    return {key: _spaced(one) for key, one in value.items()} if isinstance(value, dict) else value
