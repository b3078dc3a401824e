"""The names in a question, looked up in the memory rather than guessed: n-grams, longest first. And its words
for a full-text index."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from gsw_graph.text.languages import detect, inflections
from gsw_graph.text.names import normalise
from gsw_graph.text.quantities import other_forms, same_words
from gsw_graph.text.scripts import is_part, split
from gsw_graph.text.words import (
    CONNECTORS,
    FUNCTION_WORDS,
    LETTERS,
    foreign_stems,
    normalise_characters,
    paired,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_LONGEST = 10
_EMPTY = FUNCTION_WORDS | CONNECTORS
_WRITTEN = 0.3  # weight of a word as written beside its stem, which documents in the same language have
_WORDS = 64  # of a question for a full-text index; Lucene refuses more than 1,024


@dataclass(frozen=True, slots=True)
class Mention:
    """Hold a part of the question that may be a name: the words from `first` to before `last`, the text and
    its normal form."""

    first: int
    last: int
    text: str
    key: str


@lru_cache(maxsize=64)  # a walk that goes on from a question asks for its names again
def mentions(question: str) -> tuple[Mention, ...]:
    """Return the n-grams that could be names, longest first. They have up to ten words, or signs of a script
    without spaces.

    N-grams of function words alone, numbers and years are left out. So are lower-case n-grams with fewer than
    two words of content, and single signs within a word, which are too common.
    """
    question = " ".join(normalise_characters(question).split())
    words = split(question)
    content = [0, *accumulate(word[0].casefold() not in _EMPTY for word in words)]
    candidates: list[Mention] = []
    german = detect(question).nouns
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            last = first + length
            full = content[last] - content[first]
            text = question[words[first].start() : words[last - 1].end()]
            small = full == 1 and text == text.lower() != text.upper()
            if not full or small or (length == 1 and is_part(words[first])):
                continue
            key = normalise(text)
            if key and not key.isdigit():
                candidates.append(Mention(first, last, text, key))
                if german and text[0].isupper():
                    candidates += [Mention(first, last, text, form) for form in inflections(key)]
    return tuple(candidates)


def link(candidates: Sequence[Mention], names: Collection[str]) -> list[Mention]:
    """Return the candidates that the memory knows, longest first, without overlaps."""
    used: set[int] = set()
    linked = []
    for mention in candidates:
        span = range(mention.first, mention.last)
        if mention.key in names and used.isdisjoint(span):
            used.update(span)
            linked.append(mention)
    return linked


def lucene_words(question: str) -> str:
    """Return a question as plain words for Lucene, without operators and syntax, and within its limit of
    words.

    In languages other than English the stems are added, by which passages are found. Numbers and days are
    added in other written forms."""
    text = paired(normalise_characters(same_words(question)))
    found = re.findall(LETTERS, text.lower())
    stems = dict.fromkeys(foreign_stems(question, detect(question).code))
    if stems:
        written = [word for word in dict.fromkeys(found) if word not in stems]
        found = [*stems, *(f"{word}^{_WRITTEN}" for word in written)]
    forms = [form for form in other_forms(question) if form not in found]
    return " ".join([*found[:_WORDS], *forms[:_WORDS]])
