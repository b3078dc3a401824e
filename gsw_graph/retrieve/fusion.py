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
LEAST = 0.7  # weight of an answer where the best has 1: one of less would lead away from it
ASK = 0.75  # weight in the second walk of the question with the answers in it, where the question alone has 1
SHARPNESS = 10.0  # of a pair's weight over its cosine with the question


@dataclass(frozen=True, slots=True)
class Answered:
    """A pair of a passage: its answers, the passage's id, and its place among the vectors."""

    answers: Sequence[str]
    passage: str
    number: int


def bridges(
    memory: NamedGraph, question: str, vector: NDArray[np.float32], walked: Sequence[tuple[str, float]], pairs: Sequence[Answered], vectors: NDArray[np.float32]
) -> list[str]:
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
    found: dict[str, str] = {}
    top = 0.0
    for n in np.argsort(-worth, kind="stable"):
        if worth[n] < LEAST * top or len(found) == BRIDGES:
            break
        for answer in pairs[n].answers:
            key = normalise(answer)
            if key and key not in found and f" {key} " not in asked and len(found) < BRIDGES and _leads_on(memory, answer, pairs[n].passage):
                found[key] = answer
                top = top or float(worth[n])
    return list(found.values())


def _leads_on(memory: NamedGraph, answer: str, passage: str) -> bool:
    """Whether a name in the answer stands in a passage other than this one."""
    own = memory.passage_numbers[passage]
    by_name = memory.graph.by_name
    names = (memory.name_numbers[mention.key] for mention in link(mentions(answer), memory.name_numbers))
    return any((by_name.indices[by_name.indptr[n] : by_name.indptr[n + 1]] != own).any() for n in names)
