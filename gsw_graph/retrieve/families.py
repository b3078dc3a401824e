"""Words that say the same of a thing: "who led" asks for the leader. English; which words go together is
ours."""

from __future__ import annotations

import re
from functools import lru_cache

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, normalise
from gsw_graph.text import family, stem

__all__ = ["cues", "family", "stem", "stems"]

_WORD = re.compile(r"\w+")


@lru_cache(maxsize=65536)
def stems(text: str) -> tuple[tuple[str, int], ...]:
    """The stems of the words of a text, each with its place in the text."""
    return tuple((stem(normalise(match[0])), match.start()) for match in _WORD.finditer(text))


def cues(text: str) -> tuple[frozenset[str], ...]:
    """The words of content of a text, each as its family."""
    words = dict.fromkeys(normalise(match[0]) for match in _WORD.finditer(text))
    return tuple(
        family(word)
        for word in words
        if len(word) > 1 and word not in FUNCTION_WORDS and word not in CONNECTORS
    )
