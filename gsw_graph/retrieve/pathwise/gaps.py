"""Gaps of a network (PathwiseRAG, equation 9, the part of Phi that adds nodes): one call of the language
model says what else may be asked where sub-problems found no answer.

The model sees questions and findings, and no text of a document but the few words of a finding. Ours: at
most two new sub-problems a round, each of which must be new and share a word with the question or a
finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gsw_graph.answer.evidence import flat
from gsw_graph.inference.chat.request import Request
from gsw_graph.model import content_id
from gsw_graph.names import FUNCTION_WORDS, WORD, normalise
from gsw_graph.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.retrieve.agents.agent import Agent

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 300}}
    },
    "required": ["questions"],
    "additionalProperties": False,
}
_LIMIT = 300  # tokens of a reply
_MOST = 2
_STEM = 5  # letters that two forms of a word share
_LONGEST = 300  # characters of a question


def gaps(agent: Agent, question: str, asked: Sequence[tuple[str, str | None]]) -> list[str]:
    """New questions for what is missing. asked: questions with their answers, None where there is none.
    Errors as of `Agent.ask`."""
    lines = "\n".join(
        f"[{number}] {flat(one)} {flat(answer) if answer else '(nothing found)'}"
        for number, (one, answer) in enumerate(asked, 1)
    )
    code = content_id("evidence", lines)[:12]
    shown = f"Question: {flat(question)}\n<<<evidence {code}\n{lines}\nevidence {code}>>>"
    messages = (
        {"role": "system", "content": prompt("pathwise_gaps")},
        {"role": "user", "content": shown},
    )
    request = Request("pathwise_gaps", messages, SCHEMA, limit=_LIMIT)
    return agent.ask(
        request,
        lambda reply: read(reply, question, asked),
        lines,
        lambda found: " | ".join(found) or "nothing",
    )


def read(reply: object, question: str, asked: Sequence[tuple[str, str | None]]) -> list[str]:
    """The questions of a reply that are new and about the question or what was found. ValueError: it has no
    list of questions."""
    questions = reply.get("questions") if isinstance(reply, Mapping) else None
    if type(questions) is not list:
        raise ValueError('the reply has no list "questions"')
    known = {normalise(one) for one, _ in asked}
    about = _words(" ".join([question, *(answer or "" for _, answer in asked)]))
    found: list[str] = []
    for one in questions:
        text = flat(one)[:_LONGEST] if isinstance(one, str) else ""
        if (key := normalise(text)) and key not in known and not about.isdisjoint(_words(text)):
            known.add(key)
            found.append(text.replace("#", " "))
    return found[:_MOST]


def _words(text: str) -> set[str]:
    """The beginnings of its words of content."""
    words = {normalise(word) for word in WORD.findall(text)}
    return {word[:_STEM] for word in words if word and word not in FUNCTION_WORDS}
