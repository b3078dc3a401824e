"""Sentences of passages, and how much of what was asked each of them says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING

import numpy as np
from sentencex import segment

from gsw_graph.retrieve.chains.pair_score import words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.results import RankedPassage

SENTENCES = 500  # of a passage that are looked at
_HEADING = re.compile(r"[\w'-]+( [\w'-]+){,3}")  # a few words that end in no stop


def sentences_of(passage: RankedPassage, most: int = SENTENCES) -> list[str]:
    """The first sentences of a passage, each in one line; title and headings are none."""
    text = passage.text.removeprefix(f"{passage.title}\n")
    found = [" ".join(one.split()) for one in segment("en", text)]
    return [one for one in found if one and not _HEADING.fullmatch(one)][:most]


def word_shares(question: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """(sentences,): the share of the question's words that a sentence has, a rare one counting more."""
    asked, own = words_of(question), [words_of(sentence) for sentence in sentences]
    weights = {
        word: log(1 + len(own) / there) for word in asked if (there := sum(word in words for words in own))
    }
    together = sum(weights.values()) or 1.0
    return np.array([sum(weights[w] for w in asked & words) / together for words in own])
