"""The sentences of a passage that matter to a question: what people see of it where the whole text would
not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.answer.sentences import sentences_of, word_shares
from gsw_graph.names import normalise
from gsw_graph.results import Excerpt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.results import RankedPassage, Step

SENTENCES = 60  # of a passage that are looked at, as each costs a vector
LENGTH = 380  # characters, about four lines of a terminal
WORDS = 0.5  # what sharing all words of a question counts, where a cosine of 1 counts 1
# what standing first counts, as a text says there what it is about; half of it for the second, and so on
FIRST = 0.05
BESIDE = 0.1  # what standing beside the best counts
NAME = 0.1  # what the name counts that led to the passage

Vectors = Callable[[Sequence[str]], "NDArray[np.float32]"]


def with_excerpts(
    question: str,
    passages: Sequence[RankedPassage],
    paths: Mapping[str, Sequence[Step]],
    vectors: Vectors | None,
) -> list[RankedPassage]:
    """The passages, each with its excerpt. paths: how a walk came to a passage, by its id, where one is
    known. vectors: of texts, (n, dimension), of length 1; None where words alone are to decide."""
    texts = [sentences_of(passage, SENTENCES) for passage in passages]
    every = [sentence for sentences in texts for sentence in sentences]
    if not every:
        return list(passages)
    scores = WORDS * word_shares(question, every)
    if vectors is not None:
        embedded = vectors([question, *every])
        scores = scores + embedded[1:] @ embedded[0]
    found, start = [], 0
    for passage, sentences in zip(passages, texts, strict=True):
        name = _led_by(paths.get(passage.id, ()))
        own = scores[start : start + len(sentences)] + [
            FIRST / 2**n + NAME * _names(sentence, name) for n, sentence in enumerate(sentences)
        ]
        start += len(sentences)
        found.append(
            replace(passage, excerpt=Excerpt(_chosen(sentences, own), name)) if sentences else passage
        )
    return found


def _led_by(path: Sequence[Step]) -> str | None:
    """The last name of a path, over which the walk came to its passage."""
    return next((step.label for step in reversed(path) if step.kind == "name"), None)


def _names(sentence: str, name: str | None) -> bool:
    return name is not None and f" {normalise(name)} " in f" {normalise(sentence)} "


def _chosen(sentences: Sequence[str], scores: NDArray[np.float64]) -> list[str]:
    """Runs of sentences in the order of the text: the best, then as long as there is room the next best,
    and what stands beside it."""
    best = int(np.argmax(scores))
    beside = np.array([BESIDE if abs(n - best) == 1 else 0.0 for n in range(len(sentences))])
    chosen, room = {best}, LENGTH - len(sentences[best])
    for n in np.argsort(-(scores + beside), kind="stable").tolist():
        if n not in chosen and len(sentences[n]) < room:
            chosen.add(n)
            room -= len(sentences[n]) + 1
    runs: list[list[str]] = []
    for n in sorted(chosen):
        if n - 1 not in chosen:
            runs.append([])
        runs[-1].append(sentences[n])
    return [" ".join(run) for run in runs]
