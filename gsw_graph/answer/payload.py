"""Facts as a codebook (AutoPrunedRetriever, section 2.6 and appendix A.4): each subject said once, facts
numbered by the passage that they were taken from, so that an answer can cite:

    {"facts": {"1": {"subject": ["relation object", ...]}}}

The paper's other two forms, lists of entities and relations with edges as indices, were never shorter on 76
questions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_BEFORE = re.compile('(?:(?:the|a|an) )?["“]?', re.IGNORECASE)
_END = re.compile(r"(?<!\.[A-Z])\.$")  # of a sentence, not of "U.S."


class Edge(NamedTuple):
    """A fact between two things: in this order, with spaces, a sentence."""

    subject: str
    relation: str
    object: str


class Sentence(NamedTuple):
    """A fact that is no edge, and what it is about: the title of its passage."""

    about: str
    text: str


Fact = Edge | Sentence


@dataclass(frozen=True, slots=True)
class Run:
    """The facts of one passage that are shown, under one number. channel: what they are, a key of the
    payload."""

    facts: tuple[Fact, ...]
    channel: str = "facts"


def edge_of(text: str, names: Iterable[str], about: str) -> Fact:
    """A sentence as an edge: the name it begins with, what stands before the next name, and the rest; nothing
    of it is lost but an article, quotes around the first name, and the stop. One that begins with no name, or
    has no other, stays a sentence about its passage."""
    text = _END.sub("", " ".join(text.split()))
    known = sorted({name for name in names if name}, key=len, reverse=True)
    start = found.end() if (found := _BEFORE.match(text)) else 0
    first = next((name for name in known if _begins(text[start:], name)), None)
    if first is not None:
        end = start + len(first)
        end += text.startswith(('"', "”"), end)
        places = [place for name in known if name != first and (place := _place(text, name, end)) > 0]
        if places and (relation := text[end : min(places)].strip()):
            return Edge(text[start:end].strip('"“”'), relation, text[min(places) :])
    return Sentence(about, text)


def payload(runs: Sequence[Run]) -> str:
    """Write facts as JSON, by number and subject."""
    numbered: dict[str, dict[str, object]] = {}
    for number, run in enumerate(runs, 1):
        by_subject: dict[str, list[str]] = {}
        for fact in run.facts:
            subject, *said = fact
            by_subject.setdefault(subject, []).append(" ".join(said))
        numbered.setdefault(run.channel, {})[str(number)] = by_subject
    return _json(numbered)


def _json(payload: object) -> str:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def _begins(text: str, name: str) -> bool:
    return text[: len(name)].casefold() == name.casefold() and not text[len(name) : len(name) + 1].isalnum()


def _place(text: str, name: str, start: int) -> int:
    """Where a name stands as whole words, with the signs before it, after some place; -1 for nowhere."""
    found = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(text, start)
    if found is None:
        return -1
    place = found.start()
    while place > start and not (text[place - 1].isspace() or text[place - 1].isalnum()):
        place -= 1
    return place
