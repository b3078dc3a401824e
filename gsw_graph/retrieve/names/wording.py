"""The words of a question, and which of them passages have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, normalise
from gsw_graph.retrieve.facts.families import stem

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
        frequency = Counter(word for words in of_texts for word in words)
        rarity = np.array([log(1 + len(texts) / (1 + frequency[word])) for word in self.words])
        self.shares: NDArray[np.float64] = rarity / (rarity.sum() or 1)
        self.has = np.array(
            [[word in words for word in self.words] for words in of_texts], dtype=np.float64
        ).reshape(len(texts), len(self.words))

    def share(self, text: str) -> float:
        """How much of the question a text has, in [0, 1]."""
        words = stems_of(text)
        return float(sum(s for word, s in zip(self.words, self.shares, strict=True) if word in words))


def stems_of(text: str) -> set[str]:
    """The words of a text without their endings."""
    return set(map(stem, _words(text)))


def _words(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text.casefold())
    return [normalise(word) for word in _WORD.findall(text)]
