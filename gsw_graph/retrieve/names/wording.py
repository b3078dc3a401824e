"""The words of a question, and which of them passages have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, normalise
from gsw_graph.retrieve.families import stem

_WORD = re.compile(r"\w+")
_LEAST = 2  # letters of a word that says something


class Wording:
    """A question's words without their endings, function words apart, each with its share of all: the rarer
    among the texts, the more. The texts are what was found for the question, so that nothing need be known
    of the whole memory.

    has: (texts, words), which text has which word.
    """

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        self.words = [
            stem(word)
            for word in dict.fromkeys(_words(question))
            if word not in FUNCTION_WORDS | CONNECTORS and len(word) >= _LEAST
        ]
        of_texts = [stems_of(text) for text in texts]
        self.has = np.array(
            [[word in words for word in self.words] for words in of_texts], dtype=np.float64
        ).reshape(len(texts), len(self.words))
        rarity = np.log1p(len(texts) / (1 + self.has.sum(axis=0)))
        self.shares: NDArray[np.float64] = rarity / (rarity.sum() or 1)

    def share(self, text: str) -> float:
        """How much of the question a text has, in [0, 1]."""
        words = stems_of(text)
        return float(sum(s for word, s in zip(self.words, self.shares, strict=True) if word in words))


@lru_cache(maxsize=256)  # both walks of a question find much the same texts
def stems_of(text: str) -> frozenset[str]:
    """The words of a text without their endings."""
    return frozenset(map(stem, set(_words(text))))


def _words(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text.casefold())
    return [normalise(word) for word in _WORD.findall(text)]
