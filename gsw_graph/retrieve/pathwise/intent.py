"""What a question asks for (PathwiseRAG, equations 1 to 3): a semantic stream of entities, relations and
times, and a reasoning stream of type, depth and domains.

Ours: the paper trains RoBERTa for it and gives neither weights nor data. Here rules of English read the
question; a language model may, behind the same record (`intent_model.py`). Domains are kinds of things that
are asked for, as no list of subjects fits every memory. Depth is the number of facts that must be joined,
from 1 to 5; low is 1, medium 2, high 3 and more. `broad`: several things are asked of at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from gsw_graph.names import FUNCTION_WORDS, normalise
from gsw_graph.naming.dates import find_dates
from gsw_graph.naming.finding import names
from gsw_graph.retrieve.pathwise.sides import Sides, sides_of
from gsw_graph.retrieve.times.reading import read

Kind = Literal["causal", "comparative", "procedural", "hypothetical", "factual"]
KINDS: tuple[Kind, ...] = ("causal", "comparative", "procedural", "hypothetical", "factual")
DEEPEST = 5
_SHORT = 2  # words of content besides the name, of a question that one fact answers

_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "hypothetical",
        re.compile(
            r"\b(?:what if|suppose|supposing|imagine|if\b.*\b(?:would|could|might|had))\b", re.IGNORECASE
        ),
    ),
    (
        "procedural",
        re.compile(
            r"^\s*how (?:do|to|can|should|would|does one)\b|\b(?:steps|procedure|instructions) (?:to|for)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "causal",
        re.compile(
            r"\bwhy\b|\b(?:causes?|reasons?|effects?|consequences?) (?:of|for)\b|\b(?:led|lead) to\b",
            re.IGNORECASE,
        ),
    ),
)
_TIMES = re.compile(
    r"\b(?:before|after|between|during|since|until|till|while|earliest|latest|first|last|oldest|newest"
    r"|(?:\w+ )?centur(?:y|ies)|decades?)\b"
    r"|(?<=\w )when\b",
    re.IGNORECASE,
)
_LINKS = re.compile(
    r"\b(?:whose|which|who|whom|that|where|when)\b|['’]s?\s|\b(?:of|by)\b"
    r"|\b[a-z]+(?:ed|en) (?:by|in|at|on|for|to|with|from|after)\b",
    re.IGNORECASE,
)
_BROAD = re.compile(
    r"^\s*(?:list|describe|summari[sz]e|tell me|give an overview|compare|what is known"
    r"|what do we know|name all)\b|\b(?:all (?:the )?\w+s)\b"
    r"|\b(?:and|or) (?:who|what|when|where|which|how|why)\b|\beverything\b|\boverview\b",
    re.IGNORECASE,
)
_BEGINS = FUNCTION_WORDS | {"tell", "list", "describe", "compare", "imagine", "suppose", "explain"}
_DOMAINS = (
    ("people", r"\bwho(?:m|se)?\b"),
    ("places", r"\bwhere\b|\b(?:country|city|town|village|state|province|region|county|river)\b"),
    ("times", r"\bwhen\b|\b(?:year|date|day|month|century|old|older|younger)\b"),
    (
        "quantities",
        r"\bhow (?:many|much|long|far|large|big|tall|high|heavy)\b|\b(?:number|amount|population|size)\b",
    ),
    ("works", r"\b(?:film|movie|song|album|book|novel|opera|band|series)\b"),
)
_SPACED = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question asks for. entities, times: as it writes them. relations: (entity, words between,
    entity). kind, domains: of its reasoning. depth: facts to be joined, 1 to 5. sides: of a comparison,
    each with its question. bounded: times narrow down what is asked for. source: "rules", or the model that
    read it."""

    entities: tuple[str, ...]
    relations: tuple[tuple[str, str, str], ...]
    times: tuple[str, ...]
    kind: Kind
    depth: int
    domains: tuple[str, ...]
    sides: Sides | None = None
    bounded: bool = False
    broad: bool = False
    source: str = "rules"

    @property
    def level(self) -> str:
        """The depth in the paper's words."""
        return "low" if self.depth <= 1 else "medium" if self.depth == 2 else "high"

    def words(self) -> str:
        """The intent in one line, for the trace."""
        parts = [f"{self.kind}, {self.level} depth ({self.depth})", *self.domains]
        told = {
            "entities": self.entities,
            "times": self.times,
            "sides": self.sides.names if self.sides else (),
        }
        parts += [f"{name}: {'; '.join(values)}" for name, values in told.items() if values]
        return ", ".join(parts)


def intent_of(question: str) -> Intent:
    """The intent of a question by rules; no model is asked."""
    text = _SPACED.sub(" ", question).strip()
    entities = _entities(text)
    dates = [(date.begin, date.text) for date in find_dates(text) if not _within(date.text, entities)]
    times = tuple(
        dict.fromkeys([*(word for _, word in dates), *(match[0] for match in _TIMES.finditer(text))])
    )
    sides = sides_of(text)
    kind: Kind = (
        "comparative" if sides else next((kind for kind, rule in _KINDS if rule.search(text)), "factual")
    )
    domains = tuple(name for name, rule in _DOMAINS if re.search(rule, text, re.IGNORECASE))
    return Intent(
        entities,
        _relations(text, entities),
        times,
        kind,
        _depth(text, entities, sides),
        domains,
        sides,
        bounded=sides is None and _bounded(text),
        broad=bool(_BROAD.search(text)) and sides is None,
    )


def _bounded(text: str) -> bool:
    """Whether a condition or an order in time narrows down what is asked for, or a duration is asked for; a
    year within a name does not."""
    asked = read(text)
    return asked.relation is not None or asked.order is not None or asked.wants == "duration"


def _entities(text: str) -> tuple[str, ...]:
    """The longest names of a text, a word that only begins it apart."""
    found = [name for name, begins in names(text) if not (begins and name.casefold() in _BEGINS)]
    kept: list[str] = []
    for name in sorted(dict.fromkeys(found), key=len, reverse=True):
        if not _within(name, kept):
            kept.append(name)
    return tuple(sorted(kept, key=text.find))


def _within(name: str, others: list[str] | tuple[str, ...]) -> bool:
    """Whether a name is a part of one of others."""
    return any(f" {normalise(name)} " in f" {normalise(other)} " for other in others)


def _relations(text: str, entities: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """What stands between two entities that follow each other."""
    found = []
    for first, second in pairwise(entities):
        begin, end = text.find(first) + len(first), text.find(second)
        if 0 <= begin < end and (between := text[begin:end].strip(" ,;:?'’\"")):
            found.append((first, between, second))
    return tuple(found)


def _depth(text: str, entities: tuple[str, ...], sides: Sides | None) -> int:
    """Facts to be joined: one for a short question about one name, and one more for each link outside of
    names (a relative clause, a possessive, a participle, "of"); two for what is longer, as links can be
    without a word of their own."""
    if sides is not None:
        return min(2 + max(_links(name, _entities(name) or (name,)) for name in sides.names), DEEPEST)
    bare = _without(text, entities)
    content = [
        word for word in re.findall(r"\w+", bare) if word.casefold() not in FUNCTION_WORDS and word != "N"
    ]
    one = len(entities) == 1 and " and " not in entities[0]
    short = one and len(content) <= _SHORT
    return min(max(1 + _links(text, entities), 1 if short else 2), DEEPEST)


def _links(text: str, entities: tuple[str, ...]) -> int:
    return len(_LINKS.findall(_without(text, entities)))


def _without(text: str, entities: tuple[str, ...]) -> str:
    """A text with `N` for each name, without the question word that begins it."""
    bare = re.sub(
        r"^\s*(?:(?:in|of|from|on|at|to|for|by|with) )?(?:wh\w+|how)\b", "", text, flags=re.IGNORECASE
    )
    for name in sorted(entities, key=len, reverse=True):
        bare = bare.replace(name, "N")
    return bare
