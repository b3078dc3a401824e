"""The second pass: a model sees what it found and what `lint` says of it, and replies with a patch that code
applies.

    {"drop": [name, question or proposition], "entities": [...], "verb_phrases": [...], "propositions": [...]}

Only what a fault calls wrong, and questions and propositions with a faulty name in them, can be dropped,
whatever a patch, or a text that steers one, says. To replace is to drop and to add.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gsw_graph.extract.grounding import without_placeholders
from gsw_graph.extract.lint import Fault
from gsw_graph.extract.llm_reply import PARTS, Found, Listed, Part, object_of, read, texts_of
from gsw_graph.extract.llm_request import messages, reply_limit, shown
from gsw_graph.inference.chat.chat import Request
from gsw_graph.model import Document
from gsw_graph.prompts import fence

PATCH = object_of(drop=texts_of(), **PARTS)
_SHOWN = 60  # faults of a passage that a model is shown
_MISSING = frozenset(
    ("empty", "missing name", "missing inverse")
)  # something else is missing; what they name is sound


@dataclass(frozen=True, slots=True)
class Patch:
    """What is to go, as written, and what comes."""

    drop: tuple[str, ...]
    add: Found


def mend_request(document: Document, position: int, found: Found, faults: Sequence[Fault]) -> Request:
    """What is asked in the second pass about the passage at this position."""
    lines = (
        f"{fault.kind}: {json.dumps(fault.subject, ensure_ascii=False)}: {fault.message}"
        for fault in faults[:_SHOWN]
    )
    first = json.dumps(written(found), ensure_ascii=False, separators=(",", ":"))
    parts = (
        shown(document, position),
        f"What was found in it:\n{fence('result', first)}",
        f"What is wrong with that:\n{fence('faults', chr(10).join(lines) or 'nothing was noticed')}",
    )
    return Request(
        "mend",
        messages("mend", "\n\n".join(parts)),
        PATCH,
        document.source,
        limit=reply_limit(document, position),
    )


def read_patch(value: object) -> Patch:
    """A reply as JSON. ValueError says where it departs from the shape."""
    patch = Part(value)
    if not patch.value.keys() & PATCH["properties"].keys():
        raise ValueError("the reply has none of " + ", ".join(f"`{key}`" for key in PATCH["properties"]))
    return Patch(tuple(patch.texts("drop")), without_placeholders(read({"entities": [], **patch.value})))


def mended(found: Found, patch: Patch, faults: Sequence[Fault]) -> Found:
    """The result with the patch applied. What neither is nor contains something wrong stays, even where the
    patch drops it. A question that a dropped entity alone answers goes too."""
    faulty = {_plain(fault.subject) for fault in faults if fault.kind not in _MISSING}
    names = {_plain(name) for name, _ in found.entities} & faulty
    drop = {
        text
        for text in map(_plain, patch.drop)
        if text in faulty or any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)
    }
    gone = {name for name, _ in found.entities if _plain(name) in drop & faulty} - {
        name for name, _ in patch.add.entities
    }
    entities = tuple(entity for entity in found.entities if entity[0] not in gone)
    phrases: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for phrase, asked in found.phrases:
        kept = [
            (question, rest)
            for question, answers in asked
            if _plain(question) not in drop and ((rest := _without(answers, gone)) or not answers)
        ]
        if kept or not asked:
            phrases.setdefault(phrase, []).extend(kept)
    for phrase, asked in patch.add.phrases:
        phrases.setdefault(phrase, []).extend(asked)
    facts = [fact for fact in found.facts if _plain(fact) not in drop]
    return Found(
        _joined(entities + patch.add.entities),
        tuple((phrase, tuple(dict.fromkeys(asked))) for phrase, asked in phrases.items()),
        tuple(dict.fromkeys([*facts, *patch.add.facts])),
    )


def written(found: Found) -> Mapping[str, Any]:
    """A result in the shape in which it was asked for."""
    entities = [
        (name, [f"{role}: {'; '.join(states)}" if states else role for role, states in roles])
        for name, roles in found.entities
    ]
    phrases = [
        (phrase, [{"question": question, "answers": list(answers)} for question, answers in asked])
        for phrase, asked in found.phrases
    ]
    return {
        "entities": [{"name": name, "roles": roles} for name, roles in entities],
        "verb_phrases": [{"phrase": phrase, "questions": questions} for phrase, questions in phrases],
        "propositions": list(found.facts),
    }


def _joined(entities: tuple[Listed, ...]) -> tuple[Listed, ...]:
    """Entities by name, each with its roles once."""
    roles: dict[str, dict[tuple[str, tuple[str, ...]], None]] = {}
    for name, more in entities:
        roles.setdefault(name, {}).update(dict.fromkeys(more))
    return tuple((name, tuple(some)) for name, some in roles.items())


def _without(answers: tuple[str, ...], gone: set[str]) -> tuple[str, ...]:
    return tuple(answer for answer in answers if answer not in gone)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
