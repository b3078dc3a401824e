"""Sentences of passages: how much of a question each says, and which one a pair was taken from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.text import content_words, idf, sentences, term_coverage, words, written_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.results import RankedPassage

SENTENCES = 500  # of a passage that are looked at


def sentences_of(passage: RankedPassage, limit: int = SENTENCES) -> list[str]:
    """Return the first sentences of a passage, each in one line; title and headings are none."""
    return list(sentences(passage.text.removeprefix(f"{passage.title}\n"), limit))


def word_shares(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the coverage of the question's words by each text (texts,), a rare word counting more."""
    own = [content_words(text) for text in texts]
    asked = [word for word in content_words(question) if any(word in text for text in own)]
    weights = idf(asked, own)
    return np.array([term_coverage(asked, text, idf=weights) for text in own])


def quote(text: str, question: str, answer: str) -> str:
    """Return the sentence, as written, that shares most words with a pair and holds its answer; where none
    holds it, the one that shares most words."""
    asked = set(words(f"{question} {answer}"))
    wanted = re.compile(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)")
    return max(
        (sentence for part in written_sentences(text) if (sentence := part.strip())),
        key=lambda sentence: (
            bool(wanted.search(sentence.casefold())),
            len(asked.intersection(words(sentence))),
        ),
        default=text,
    )
