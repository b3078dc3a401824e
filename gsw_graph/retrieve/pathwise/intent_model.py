"""The intent of a question by a language model: one structured call, checked against the question, over what
the rules read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.answer.evidence import flat
from gsw_graph.inference.chat.request import Request
from gsw_graph.names import normalise
from gsw_graph.prompts import prompt
from gsw_graph.retrieve.pathwise.intent import KINDS, Intent
from gsw_graph.retrieve.pathwise.sides import Sides

if TYPE_CHECKING:
    from gsw_graph.retrieve.agents.agent import Agent

_DEPTHS = {"low": 1, "medium": 2, "high": 3}
_TEXTS = {"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 200}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": list(KINDS)},
        "depth": {"type": "string", "enum": list(_DEPTHS)},
        "entities": _TEXTS,
        "times": _TEXTS,
        "sides": _TEXTS,
        "broad": {"type": "boolean"},
    },
    "required": ["type", "depth", "entities", "times", "sides", "broad"],
    "additionalProperties": False,
}
_LIMIT = 400  # tokens of a reply; a usual one has 80


def intent_by_model(agent: Agent, question: str, rules: Intent) -> Intent:
    """What the model reads; what it names and the question has not is left out, and what it does not say is
    as the rules have it. Errors as of `Agent.ask`."""
    messages = (
        {"role": "system", "content": prompt("pathwise_intent")},
        {"role": "user", "content": f"Question: {flat(question)}"},
    )
    request = Request("pathwise_intent", messages, SCHEMA, limit=_LIMIT)
    return agent.ask(request, lambda reply: read(reply, question, rules), question, Intent.words)


def read(reply: object, question: str, rules: Intent) -> Intent:
    """The intent in a reply. ValueError: it has no type or depth that there is, or names nothing of the
    question at all where it names something: a small model repeats its example."""
    said = reply if isinstance(reply, Mapping) else {}
    kind, depth = said.get("type"), said.get("depth")
    if kind not in KINDS:
        raise ValueError(f'"type" must be one of {", ".join(KINDS)}')
    if depth not in _DEPTHS:
        raise ValueError(f'"depth" must be one of {", ".join(_DEPTHS)}')
    named = {key: _texts(said.get(key)) for key in ("entities", "times", "sides")}
    there = {key: _in(question, texts) for key, texts in named.items()}
    if any(named.values()) and not any(there.values()):
        raise ValueError("nothing that the reply names stands in the question: copy its words")
    sides = _sides(question, there["sides"]) if kind == "comparative" else None
    sides = sides or rules.sides
    level = rules.depth if rules.level == depth else _DEPTHS[depth]
    return replace(
        rules,
        entities=tuple(there["entities"]) or rules.entities,
        times=tuple(there["times"]),
        kind="comparative" if sides else kind if kind != "comparative" else rules.kind,
        depth=max(level, 2) if sides else level,
        sides=sides,
        bounded=rules.bounded and sides is None,
        broad=said.get("broad") is True and sides is None,
        source="llm",
    )


def _texts(value: object) -> list[str]:
    return [flat(one) for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _in(question: str, texts: list[str]) -> list[str]:
    whole = f" {normalise(question)} "
    return list(dict.fromkeys(text for text in texts if (key := normalise(text)) and f" {key} " in whole))


def _sides(question: str, names: list[str]) -> Sides | None:
    """The sides with the question about each: the others, and what joins them, taken out of it."""
    if len(names) < 2 or not all(name in question for name in names):
        return None
    asked = []
    for name in names:
        text = question
        for other in names:
            if other != name and other not in name:
                text = text.replace(other, " ")
        asked.append(" ".join(re.sub(r"\b(?:and|or|than|both|either)\b|,(?=\s*[,?])", " ", text).split()))
    return Sides(tuple(names), tuple(asked))
