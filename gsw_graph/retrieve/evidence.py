"""Passages for a question that chains answer: those the chains stand on, and a walk from the concrete questions of the best."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.linked import NEAREST, retrieve_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.ricr import Chain
    from gsw_graph.retrieve.strategies import Search

SHARPNESS = 20.0  # of the softmax over chain scores
WALK_WEIGHT = 4.0  # of the walk where the chains have 1 together
_WALKED = 30  # passages that the walk adds


def rank(search: Search, question: str, chains: Sequence[Chain], best: Sequence[Chain], k: int, *, walk: bool) -> list[tuple[str, float]]:
    """The `k` best passages with their scores. `best` are the chains whose concrete questions the walk starts from; without a walk no round trip is made."""
    mass: dict[str, float] = defaultdict(float)
    if chains:
        weights = np.exp(SHARPNESS * (np.array([chain.score for chain in chains]) - max(chain.score for chain in chains)))
        for chain, weight in zip(chains, weights / weights.sum(), strict=True):
            for passage in {hop.pair.passage for hop in chain.hops}:
                mass[passage] += float(weight)
    if walk:
        asked = list(dict.fromkeys(hop.concrete for chain in best for hop in chain.hops)) or [question]
        vectors = search.vectors(asked)
        with search.clock("database"):
            near = search.reader.nearest([vectors[one].tolist() for one in asked], NEAREST)
            graph = search.names.of(near.version)
        with search.clock("rank"):
            walked = retrieve_together(graph, list(zip(asked, near.passages, strict=True)), max(k, _WALKED))
            for passage, weight in zip(walked.passages, walked.scores, strict=True):
                mass[passage] += WALK_WEIGHT * (weight / walked.scores[0]) ** 0.5
    return sorted(mass.items(), key=lambda item: (-item[1], item[0]))[:k]
