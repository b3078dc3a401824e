"""Fusion without a plan: walk, see which answers the best passages offer, and walk again from the question
with these answers in it.

Our own strategy, of `linked` and of the pairs that chains are made of; docs/proprag.md has what else was
tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.fusion.bridges import Answered, bridges
from gsw_graph.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.retrieve.names.walk import rank_passages

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.names.walk import WalkResult
    from gsw_graph.retrieve.recipes import FusionRecipe


def walk_twice(
    context: Context, question: str, k: int, recipe: FusionRecipe
) -> tuple[WalkResult, list[str] | None]:
    """Walks as `linked` does, takes the answers that its best passages offer, and walks once more from the
    question and from the question with these in it; what the last walk found, and these answers, None
    where the best passages have no pairs at all."""
    vector, trace = context.vector(question), context.trace is not None
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    with context.clock("rank"):
        first = rank_passages(graph, [(question, near)], max(k, recipe.best), recipe.walk, trace=trace)
    best = list(zip(first.passages, first.scores, strict=True))[: recipe.best]
    with context.clock("database"):
        offered = context.reader.pairs_of([passage for passage, _ in best])
    with context.clock("rank"):
        pairs = [
            Answered(answers, passage, n)
            for n, (answers, passage) in enumerate(zip(offered.answers, offered.passages, strict=True))
        ]
        found = bridges(graph, question, vector, best, pairs, offered.vectors, recipe)
    if not found:
        return first, [] if pairs else None
    further = " ".join([question, *found])
    graph, (others,) = fetch_neighbourhood(context, [further], recipe.walk, recipe.nearest)
    with context.clock("rank"):
        asked = [(question, near), (further, others)]
        return rank_passages(graph, asked, k, recipe.walk, weights=[1.0, recipe.ask], trace=trace), found
