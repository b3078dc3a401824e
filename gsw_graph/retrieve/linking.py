"""The names in a question, looked up in the memory rather than guessed: n-grams, longest first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, WORD, normalise

_LONGEST = 10


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of the question that may be a name: its words from `first` to before `last`, the text and its normal form."""

    first: int
    last: int
    text: str
    key: str


def mentions(question: str) -> list[Mention]:
    """Every n-gram of up to ten words that could be a name, longest first.

    Left out: n-grams of function words alone, numbers and years, and lower-case ones with fewer than two words of content, which name too much.
    """
    words = list(WORD.finditer(question))
    found = []
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            part = words[first : first + length]
            text = question[part[0].start() : part[-1].end()]
            content = [w[0] for w in part if w[0].casefold() not in FUNCTION_WORDS and w[0].casefold() not in CONNECTORS]
            if not content or (text == text.lower() != text.upper() and len(content) < 2):
                continue
            key = normalise(text)
            if key and not key.isdigit():
                found.append(Mention(first, first + length, text, key))
    return found


def link(candidates: list[Mention], known: Collection[str]) -> list[Mention]:
    """The candidates that the memory knows, longest first, none overlapping another."""
    taken: set[int] = set()
    linked = []
    for mention in candidates:
        places = range(mention.first, mention.last)
        if mention.key in known and taken.isdisjoint(places):
            taken.update(places)
            linked.append(mention)
    return linked
