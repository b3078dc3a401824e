"""Passages for a question that chains answer: those the chains stand on, and a walk from the concrete
questions of the best."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.retrieve.names.walk import rank_passages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.chains.grow import BeamChain, Beams
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.recipes import ChainRecipe


def rank(
    context: Context, question: str, beams: Beams, k: int, recipe: ChainRecipe, *, walk: bool
) -> list[tuple[str, float]]:
    """The `k` best passages with their scores; without a walk no round trip is made."""
    mass: dict[str, float] = defaultdict(float)
    if chains := beams.ends():
        scores = np.array([chain.score for chain in chains])
        weights = np.exp(recipe.sharpness * (scores - scores.max()))
        for chain, weight in zip(chains, weights / weights.sum(), strict=True):
            for passage in {hop.pair.passage for hop in chain.hops}:
                mass[passage] += float(weight)
    if walk:
        asked = _walked_from(beams, recipe.walked_from) or [question]
        graph, near = fetch_neighbourhood(context, asked, recipe.walk)
        with context.clock("rank"):
            near_each = list(zip(asked, near, strict=True))
            walked = rank_passages(graph, near_each, max(k, recipe.walked), recipe.walk)
            for passage, weight in zip(walked.passages, walked.scores, strict=True):
                mass[passage] += recipe.walk_weight * (weight / walked.scores[0]) ** 0.5
    return sorted(mass.items(), key=lambda item: (-item[1], item[0]))[:k]


def _walked_from(beams: Beams, most: int) -> list[str]:
    """The concrete questions of the best chains of each end; of chains without a plan none."""
    ends = [chain for sink in beams.plan.sinks for chain in beams.chains.get(sink.id, [])[:most]]
    best: Sequence[BeamChain] = ends if beams.planned else []
    return list(dict.fromkeys(hop.concrete for chain in best for hop in chain.hops))
