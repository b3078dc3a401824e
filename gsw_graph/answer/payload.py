"""Facts as a codebook (AutoPrunedRetriever, section 2.6 and appendix A.4): entities and relations said
once, facts as edges between them, numbered by the passage that they were taken from.

Three payloads say the same, each as JSON:

- `edges`: `{"e": [...], "r": [...], "edges": [[e, r, e], ...], "facts": {"1": [edge, ...]}}`, which pays
  where several numbers say the same edges;
- `triples`: `{"e": [...], "r": [...], "facts": {"1": [[e, r, e], ...]}}`, where long names come often;
- `words`: `{"facts": {"1": {"subject": ["relation object", ...]}}}`, each subject said once a number.

A sentence that is no edge stands with what it is about: `[e, "sentence"]`. The paper's lists have no
sources; here each number is a passage, so that an answer can cite. Payloads of indices begin with a rule that
says how they are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gsw_graph.inference.chat.tokens import estimate

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


def shortest(runs: Sequence[Run]) -> str:
    """The payload of the fewest tokens. They are estimated as everywhere (`inference.chat.tokens`: within 5 %
    of three tokenizers); what a server counts for its model scales all three alike, and so chooses the
    same."""
    return min((payload(runs) for payload in PAYLOADS.values()), key=estimate)


def edges(runs: Sequence[Run]) -> str:
    """The payload in which facts are numbers of edges."""
    book, known = _Book(), dict[object, int]()

    def number(fact: Fact) -> object:
        return known.setdefault(book.edge(fact), len(known)) if isinstance(fact, Edge) else book.indexed(fact)

    facts = _numbered(runs, number)
    lists = {"e": list(book.entities), "r": list(book.relations), "edges": list(known)}
    return _json(
        {
            "rule": "facts: places in edges or [e,text]; edges: [e,r,e]; e, r: places in lists, from 0",
            **lists,
            **facts,
        }
    )


def triples(runs: Sequence[Run]) -> str:
    """The payload in which facts are triples of indices."""
    book = _Book()
    facts = _numbered(runs, book.indexed)
    lists = {"e": list(book.entities), "r": list(book.relations)}
    return _json({"rule": "facts: [e,r,e] or [e,text]; e, r: places in lists, from 0", **lists, **facts})


def words(runs: Sequence[Run]) -> str:
    """The payload in which facts are words, by subject."""
    numbered: dict[str, dict[str, object]] = {}
    for number, run in enumerate(runs, 1):
        by_subject: dict[str, list[str]] = {}
        for fact in run.facts:
            subject, *said = fact
            by_subject.setdefault(subject, []).append(" ".join(said))
        numbered.setdefault(run.channel, {})[str(number)] = by_subject
    return _json(numbered)


PAYLOADS: dict[str, Callable[[Sequence[Run]], str]] = {"words": words, "triples": triples, "edges": edges}


class _Book:
    """Entities and relations by number, in the order in which they come."""

    def __init__(self) -> None:
        self.entities, self.relations = dict[str, int](), dict[str, int]()

    def edge(self, edge: Edge) -> tuple[int, int, int]:
        subject = self._entity(edge.subject)
        return (
            subject,
            self.relations.setdefault(edge.relation, len(self.relations)),
            self._entity(edge.object),
        )

    def indexed(self, fact: Fact) -> tuple[object, ...]:
        return self.edge(fact) if isinstance(fact, Edge) else (self._entity(fact.about), fact.text)

    def _entity(self, name: str) -> int:
        return self.entities.setdefault(name, len(self.entities))


def _numbered(runs: Sequence[Run], form: Callable[[Fact], object]) -> dict[str, dict[str, list[object]]]:
    channels: dict[str, dict[str, list[object]]] = {}
    for number, run in enumerate(runs, 1):
        channels.setdefault(run.channel, {})[str(number)] = [form(fact) for fact in run.facts]
    return channels


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
