"""Answers that lead on: what the best passages of a walk offer as the start of another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.names import normalise
from gsw_graph.retrieve.names.linking import link, mentions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.recipes import FusionRecipe


@dataclass(frozen=True, slots=True)
class Answered:
    """A pair of a passage: its answers, the passage's id, and its place among the vectors."""

    answers: Sequence[str]
    passage: str
    number: int


def bridges(
    memory: NameGraph,
    question: str,
    vector: NDArray[np.float32],
    walked: Sequence[tuple[str, float]],
    pairs: Sequence[Answered],
    vectors: NDArray[np.float32],
    recipe: FusionRecipe,
) -> list[str]:
    """The answers of some pairs that weigh most, `recipe.bridges` of them and none below `recipe.least`: walk
    weight of the passage times exp(sharpness * cosine of pair and question).

    vector: of the question, length 1. walked: passages with the weight of the first walk. vectors: (pairs,
    dimension), by `Answered.number`. Left out is what stands in the question, and what names nothing that
    another passage names too: a date or a number leads nowhere.
    """
    if not pairs:
        return []
    weight = dict(walked)
    numbers = [pair.number for pair in pairs]
    worth = np.array([weight[pair.passage] for pair in pairs]) * np.exp(
        recipe.sharpness * (vectors[numbers] @ vector)
    )
    asked = f" {normalise(question)} "
    found: dict[str, str] = {}
    top = 0.0
    for n in np.argsort(-worth, kind="stable"):
        if worth[n] < recipe.least * top or len(found) == recipe.bridges:
            break
        for answer in pairs[n].answers:
            key = normalise(answer)
            if (
                key
                and key not in found
                and f" {key} " not in asked
                and len(found) < recipe.bridges
                and _leads_on(memory, answer, pairs[n].passage)
            ):
                found[key] = answer
                top = top or float(worth[n])
    return list(found.values())


def _leads_on(memory: NameGraph, answer: str, passage: str) -> bool:
    """Whether a name in the answer stands in a passage other than this one."""
    own = memory.passage_numbers[passage]
    names = (memory.name_numbers[mention.key] for mention in link(mentions(answer), memory.name_numbers))
    return any((memory.passages_of(n) != own).any() for n in names)
