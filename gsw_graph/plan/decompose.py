"""A plan by a language model: the question taken apart after the rules of `prompts/plan.md` (Panini,
section 2.3; our own prompt)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError
from gsw_graph.inference.chat.request import Request
from gsw_graph.names import FUNCTION_WORDS, LETTERS, normalise
from gsw_graph.plan.reading import parse
from gsw_graph.plan.steps import Plan, rewrite
from gsw_graph.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.inference.chat.language_model import LanguageModel

# Of the reply; `parse` reads it as it is. Strict servers want every key required and no other allowed.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "plan": {
            "type": "array",
            "maxItems": 12,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "question": {"type": "string", "maxLength": 500},
                    "retrieve": {"type": "boolean"},
                },
                "required": ["id", "question", "retrieve"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["plan"],
    "additionalProperties": False,
}
_LIMIT = 1000  # tokens of a plan; a usual one has 100
_AGAIN = "Write the plan of that question as JSON, in its own words: one step if one fact answers it."
_STEM = 5  # letters that two forms of a word share
_CLOSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u2e80-\u9fff\uac00-\ud7af]")
# Beside a letter `#1` is no reference ("#4chan", "C#1"). Scripts without spaces set letters around it all the
# same.
_LETTER = r"[^\W\d_a-zA-Z]"
_GLUED_LEFT = re.compile(rf"(?<={_LETTER})(?=#[0-9])")
_GLUED_RIGHT = re.compile(rf"(#[0-9]+)(?={_LETTER})")


def decompose(question: str, llm: LanguageModel) -> Plan:
    """The plan of a model for a question. ReplyError: its reply is none, even after a repair;
    StoppedError: no call works any more."""
    asked = without_references(question)
    messages = (
        {"role": "system", "content": prompt("plan")},
        {"role": "user", "content": f"Question: {asked}"},
    )

    def check(reply: object) -> Plan:
        plan = read(reply)
        check_about(plan, asked)
        return plan

    few = (
        {"role": "system", "content": prompt("plan_short")},
        {"role": "user", "content": f"Question: {asked}\n\n{_AGAIN}"},
    )
    short = Request("plan", few, SCHEMA, limit=_LIMIT)
    return llm.ask(Request("plan", messages, SCHEMA, limit=_LIMIT, short=short), check).value


def without_references(question: str) -> str:
    """A question in one line, as it goes into a plan: "#1" in it is no reference."""
    return rewrite(_spaced(" ".join(question.split())), lambda k: f"number {k}")


def followed(reply: object) -> Plan:
    """The plan in a reply. ValueError: it cannot be followed; the text says how to mend that."""
    try:
        return parse(_spaced(reply))
    except InputError as error:
        raise ValueError(str(error)) from error


def read(reply: object) -> Plan:
    """The same; ValueError also where the plan finds something that nothing uses."""
    plan = followed(reply)
    needed = {parent for step in plan.steps for parent in step.parents}
    if idle := next((step.id for step in plan.steps[:-1] if step.id not in needed), None):
        raise ValueError(
            f"no step uses the answer of step {idle}. Write #{idle}, apart from other letters, in the step "
            f"that needs it, or leave step {idle} out; "
            "only the last step, which gives the answer, is used by none"
        )
    return plan


def check_about(plan: Plan, question: str) -> None:
    """ValueError where a plan shares no name or word with the question, or says nothing: a small model
    repeats an example of its instructions."""
    text = " ".join(step.question for step in plan.steps)
    words = _words(question)
    if not re.search(r"\w", text):
        raise ValueError("the steps of the plan say nothing")
    if words and (said := _words(text)) and words.isdisjoint(said):
        raise ValueError(
            f"the plan ({text[:100]!r}) shares no name or word with the question: take this question "
            "apart, and no other"
        )


def _words(text: str) -> set[str]:
    """The beginnings of a text's words, small ones and single letters left out; of scripts without spaces
    each two signs."""
    words: set[str] = set()
    for word in re.findall(LETTERS, " ".join(map(normalise, text.split()))):
        if word not in FUNCTION_WORDS:
            words.update(
                {word[at : at + 2] for at in range(len(word) - 1)}
                if _CLOSE.match(word)
                else {word[:_STEM]}
                if len(word) > 1
                else ()
            )
    return words


def _spaced(value: Any) -> Any:
    """What JSON holds, with spaces around references that touch a letter."""
    if isinstance(value, str):
        return _GLUED_RIGHT.sub(r"\1 ", _GLUED_LEFT.sub(" ", value))
    if isinstance(value, list):
        return [_spaced(one) for one in value]
    return {key: _spaced(one) for key, one in value.items()} if isinstance(value, dict) else value
