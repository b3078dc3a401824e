"""Fusion without a plan: walk, see which answers the best passages offer, and walk again from the question with these answers in it.

Our own strategy, of `linked` and of the pairs that chains are made of; docs/proprag.md has what else was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.names import normalise
from gsw_graph.retrieve.linking import link, mentions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.name_graph import NamedGraph

BEST = 3  # passages of the first walk whose pairs are looked at
BRIDGES = 2  # answers that the second walk goes over
LEAST = 0.5  # weight of a bridge where the best has 1: one of less adds little to the walk, and costs as much to embed
SHARPNESS = 10.0  # of a pair's weight over its cosine with the question


@dataclass(frozen=True, slots=True)
class Answered:
    """A pair of a passage: its answers, the passage's id, and its place among the vectors."""

    answers: Sequence[str]
    passage: str
    number: int


@dataclass(frozen=True, slots=True)
class Bridge:
    """An answer that may lead on: the question with it, and its weight in (0, 1], 1 for the best."""

    answer: str
    question: str
    weight: float


def bridges(
    memory: NamedGraph, question: str, vector: NDArray[np.float32], walked: Sequence[tuple[str, float]], pairs: Sequence[Answered], vectors: NDArray[np.float32]
) -> list[Bridge]:
    """The answers of some pairs that weigh most, BRIDGES of them and none below LEAST: walk weight of the passage times
    exp(SHARPNESS * cosine of pair and question).

    vector: of the question, length 1. walked: passages with the weight of the first walk. vectors: (pairs, dimension), by `Answered.number`. Left out is
    what stands in the question, and what names nothing that another passage names too: a date or a number leads nowhere.
    """
    if not pairs:
        return []
    weight = dict(walked)
    numbers = [pair.number for pair in pairs]
    worth = np.array([weight[pair.passage] for pair in pairs]) * np.exp(SHARPNESS * (vectors[numbers] @ vector))
    asked = f" {normalise(question)} "
    found: dict[str, tuple[str, float]] = {}
    for n in np.argsort(-worth, kind="stable"):
        for answer in pairs[n].answers:
            key = normalise(answer)
            if key and key not in found and f" {key} " not in asked and len(found) < BRIDGES and _leads_on(memory, answer, pairs[n].passage):
                found[key] = answer, float(worth[n])
    top = max((value for _, value in found.values()), default=1.0)
    return [Bridge(answer, f"{question} {answer}", value / top) for answer, value in found.values() if value >= LEAST * top]


def _leads_on(memory: NamedGraph, answer: str, passage: str) -> bool:
    """Whether a name in the answer stands in a passage other than this one."""
    own = memory.passage_numbers[passage]
    by_name = memory.graph.by_name
    names = (memory.name_numbers[mention.key] for mention in link(mentions(answer), memory.name_numbers))
    return any((by_name.indices[by_name.indptr[n] : by_name.indptr[n + 1]] != own).any() for n in names)
