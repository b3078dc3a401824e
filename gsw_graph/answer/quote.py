"""The sentence of a passage that a pair was taken from."""

from __future__ import annotations

import re

from sentencex import segment

_WORD = re.compile(r"\w+")


def quote(text: str, question: str, answer: str) -> str:
    """The sentence that shares most words with a pair and holds its answer; where no sentence holds it,
    the one that shares most words."""
    sentences = [sentence.strip() for sentence in segment("en", text) if sentence.strip()]
    asked = set(_WORD.findall(f"{question} {answer}".casefold()))
    wanted = re.compile(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)")
    return max(
        sentences,
        key=lambda sentence: (
            bool(wanted.search(sentence.casefold())),
            len(asked.intersection(_WORD.findall(sentence.casefold()))),
        ),
        default=text,
    )
