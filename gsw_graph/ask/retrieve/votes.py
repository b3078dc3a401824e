"""Reciprocal rank fusion: several rankings as one."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gsw_graph.model.results import RankedPassage

RANK_CONSTANT = 60  # k of Cormack 2009


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[RankedPassage]],
    weights: Iterable[float] = repeat(1.0),
    k: float = RANK_CONSTANT,
) -> list[RankedPassage]:
    """Fuse rankings: score = sum of weight / (k + rank), each passage once, the best first."""
    scores: dict[str, float] = {}
    passages: dict[str, RankedPassage] = {}
    for ranking, weight in zip(rankings, weights, strict=False):
        for rank, passage in enumerate(ranking, 1):
            passages.setdefault(passage.id, passage)
            scores[passage.id] = scores.get(passage.id, 0.0) + weight / (k + rank)
    return [replace(passages[id_], score=scores[id_]) for id_ in sorted(scores, key=lambda id_: -scores[id_])]
