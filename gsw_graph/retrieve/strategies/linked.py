"""The strategy `linked`: names of the question linked to concepts, then a walk over names and passages.
docs/linked.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.recipes import LinkedRecipe
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, recipe: LinkedRecipe) -> Retrieved:
    """A walk over the graph of names that the client holds or, in a memory too large for that, over the
    part that the question needs."""
    from gsw_graph.retrieve.names import neighbourhood
    from gsw_graph.retrieve.names.passages import best_passages
    from gsw_graph.retrieve.names.trace import write_walk

    if context.held_by_client:
        embedding = context.vector(query.question).tolist()
        with context.clock("database"):
            nearest = context.reader.nearest([embedding], recipe.walk.nearest)
            near, graph = nearest.passages[0], context.names.of(nearest.version)
        over = "whole graph" if graph.matrices.size <= recipe.walk.whole else "neighbourhood"
    else:
        graph, near = neighbourhood.fetch(context, query.question, recipe)
        over = "neighbourhood by query"
    with context.clock("rank"):
        found = best_passages(
            graph, query.question, near, query.k, recipe.walk, trace=context.trace is not None
        )
    with context.clock("database"):
        passages = context.reader.passages(found.passages, found.scores)
    if context.trace is not None:
        write_walk(context, context.trace, found, passages, over)
    return Retrieved(passages)


LINKED = Strategy(
    "linked",
    "names of the question, then a personalised PageRank over names and passages; no language model",
    run,
    LinkedRecipe(),
    steady=True,
)
