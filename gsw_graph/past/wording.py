"""Whether two questions ask the same in other words, by rule: the same names and numbers on both sides, no
word that stands against a word of the other, and nothing left over that the other does not say.

Vectors alone cannot tell: "Where was she born?" and "Where did she die?" are nearer to each other than most
rewordings are (docs/lab/past-2026-11.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, WORD, normalise
from gsw_graph.past.contrasts import FILLER, NEGATION, ORDINALS, STRICT, senses, synonyms
from gsw_graph.retrieve.chains.answer_type import kinds_asked
from gsw_graph.retrieve.families import stem

Likeness = Literal["same", "near"]
_INITIALS = 5  # letters of an abbreviation at most
_STEM = 5  # letters that two forms of a word share at least
_SENTENCE = re.compile(r"(?:^|[.!?:;\n])[\s\"'“(\[]*$")
_SIBLING = re.compile(r"\bbrothers? (?:or|and) sisters?\b|\bsisters? (?:or|and) brothers?\b", re.IGNORECASE)
_PARENT = re.compile(r"\bmother (?:or|and) father\b|\bfather (?:or|and) mother\b", re.IGNORECASE)
_CHILD = re.compile(r"\bsons? (?:or|and) daughters?\b|\bdaughters? (?:or|and) sons?\b", re.IGNORECASE)
_NEXT_TO = re.compile(r"\bnext to\b", re.IGNORECASE)
# Whom did he teach, which team did Spain beat; not: who taught him, which team beat Spain.
_DOES = re.compile(r"\b(?:did|does|do)\b", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_EMPTY = FUNCTION_WORDS | CONNECTORS
_LONGEST = 2_000  # characters of a question that are read


@dataclass(frozen=True, slots=True)
class Wording:
    """What a question says. names: words with a capital; order: these as they come; initials: single
    capitals together ("US", "NATO"); words: those of content that are left; numbers as written; ordinals:
    first is 1; senses: of contrasting words, by family; negated: it excludes something; does: it asks what a
    name in it did; asks: kinds of things it asks for."""

    names: frozenset[str]
    order: tuple[str, ...]
    words: frozenset[str]
    initials: str
    numbers: frozenset[str]
    ordinals: frozenset[str]
    senses: dict[str, frozenset[int]]
    negated: bool
    does: bool
    asks: frozenset[str]


@lru_cache(maxsize=4096)
def read(question: str) -> Wording:
    """The wording of a question."""
    text = question[:_LONGEST]
    for pattern, word in (
        (_SIBLING, "sibling"),
        (_PARENT, "parent"),
        (_CHILD, "child"),
        (_NEXT_TO, "border"),
    ):
        text = pattern.sub(word, text)
    names, words, numbers, ordinals = dict[str, None](), set[str](), set[str](), set[str]()
    meant: dict[str, set[int]] = {}
    initials = ""
    negated = "n't" in text or "n’t" in text
    for match in WORD.finditer(text):
        begins = bool(_SENTENCE.search(text[: match.start()]))
        for part in re.split(r"[-/]", match[0]):
            word = normalise(part)
            for kind, number in senses().get(word, ()):
                meant.setdefault(kind, set()).add(number)
            initials += part[0] if part[:1].isupper() else " "
            if ordinal := _ORDINAL.fullmatch(word):
                ordinals.add(ordinal[1])
            elif word in ORDINALS:
                ordinals.add(ORDINALS[word])
            elif any(map(str.isdigit, word)):
                numbers.add(word)
            elif word in NEGATION:
                negated = True
            elif word and (word not in _EMPTY or (part.isupper() and len(part) > 1)):  # "US" is no "us"
                if begins or part == part.lower():
                    words.add(word)
                else:
                    names[word] = None
    return Wording(
        frozenset(names),
        tuple(names),
        frozenset(words),
        initials.casefold(),
        frozenset(numbers),
        frozenset(ordinals),
        {kind: frozenset(found) for kind, found in meant.items()},
        negated,
        bool(_DOES.search(text)),
        kinds_asked(text),
    )


def likeness(one: str, other: str) -> Likeness | None:
    """Whether two questions ask the same: "same" where nothing of them says otherwise and nothing is left
    over, "near" where nothing stands against it, but whether they do has to be read from the evidence; None
    where they ask for different things. Words that are left over on both sides, as "gold" and "silver", are
    not compared by their vectors: what parts two questions is as near as what may stand for each other."""
    a, b = read(one), read(other)
    if _differ(a, b):
        return None
    if _strictly_differ(a, b):
        return "near"
    return "near" if _left(a, b) or _left(b, a) else "same"


def _differ(a: Wording, b: Wording) -> bool:
    """Whether something in the one stands against something in the other."""
    if a.numbers != b.numbers or a.negated != b.negated or _against(a.ordinals, b.ordinals):
        return True
    return (
        _unsaid(a, b)
        or _unsaid(b, a)
        or any(_against(a.senses[kind], b.senses[kind]) for kind in a.senses.keys() & b.senses.keys())
    )


def _against(one: frozenset[Any], other: frozenset[Any]) -> bool:
    return bool(one - other and other - one)


def _strictly_differ(a: Wording, b: Wording) -> bool:
    """Whether the one says of what is asked for what the other does not."""
    nothing: frozenset[int] = frozenset()
    return (
        a.ordinals != b.ordinals
        or a.does != b.does
        or [name for name in a.order if name in b.names] != [name for name in b.order if name in a.names]
        or bool(a.asks and b.asks and not a.asks & b.asks)
        or any(a.senses.get(kind, nothing) != b.senses.get(kind, nothing) for kind in STRICT)
    )


def _unsaid(a: Wording, b: Wording) -> bool:
    """Whether a name of the one stands in the other in no form, nor as initials."""
    return any(not _said(name, a, b) for name in a.names)


def _said(name: str, a: Wording, b: Wording) -> bool:
    if any(_alike(name, word) for word in b.names | b.words):
        return True
    if len(name) <= _INITIALS and name in b.initials:  # US for the United States
        return True
    return any(
        1 < len(short) <= _INITIALS and short in a.initials and name[0] in short
        for short in b.names - a.names
    )


def _left(a: Wording, b: Wording) -> list[str]:
    """Words of the one that the other says neither so nor by one that means the same."""
    said = b.words | b.names
    means = {sense for word in said for sense in senses().get(word, ())}
    lines = {line for word in said for line in synonyms().get(word, ())}
    return sorted(
        word
        for word in a.words - FILLER
        if not any(_alike(word, other) for other in said)
        and not means & set(senses().get(word, ()))
        and not lines & synonyms().get(word, frozenset())
    )


def _alike(a: str, b: str) -> bool:
    """Whether two words are forms of one: "Africa" and "African"."""
    if a == b or stem(a) == stem(b):
        return True
    short, long = sorted((a, b), key=len)
    return len(short) >= _STEM and long.startswith(short[: max(_STEM, len(short) - 2)])
