"""The neighbourhood of a question's seeds, fetched by one bounded query: for memories too large to keep
their names in the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.names.graph import NameGraph, build
from gsw_graph.retrieve.names.linking import mentions

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.recipes import LinkedRecipe


def fetch(context: Context, question: str, recipe: LinkedRecipe) -> tuple[NameGraph, list[tuple[str, float]]]:
    """The part of the graph that the walk needs, and the passages near the question with their cosine."""
    embedding = context.vector(question).tolist()
    keys = list({mention.key for mention in mentions(question)})
    walk = recipe.walk
    with context.clock("database"):
        rows = context.reader.neighbourhood(
            embedding, keys, near=walk.nearest, best=walk.best, cap=walk.cap, scan=recipe.scan
        )
    frequency = {name: count for row in rows for name, count in zip(row.names, row.frequencies, strict=True)}
    total = context.names.size
    graph = build(((row.id, row.names, row.titles) for row in rows), total=total, frequency=frequency)
    near = [(row.id, row.cosine) for row in rows if row.cosine is not None]
    return graph, sorted(near, key=lambda item: -item[1])
