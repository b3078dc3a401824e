"""Several rankings as one, by reciprocal rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage

RANK = 60  # added to every rank: Cormack 2009, reciprocal rank fusion


def by_votes(
    rankings: Iterable[Sequence[RankedPassage]],
    *,
    weights: Iterable[float] = repeat(1.0),
    added: float = RANK,
) -> list[RankedPassage]:
    """Each passage once, the one with the most votes first; score: sum of weight / (added + rank)."""
    votes: dict[str, float] = {}
    found: dict[str, RankedPassage] = {}
    for ranking, weight in zip(rankings, weights, strict=False):
        for rank, passage in enumerate(ranking, 1):
            found.setdefault(passage.id, passage)
            votes[passage.id] = votes.get(passage.id, 0.0) + weight / (added + rank)
    return [replace(found[one], score=votes[one]) for one in sorted(votes, key=lambda one: -votes[one])]
