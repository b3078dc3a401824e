"""The neighbourhood of a question's seeds, fetched by one bounded query: for memories too large to keep
their names in the client."""

from __future__ import annotations

from collections import Counter
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
    aliases: dict[str, str] = {}
    counted: dict[str, int] = {}
    for row in rows:
        counted.update(zip(row.names, row.frequencies, strict=True))
        aliases.update((a, b) for a, b in zip(row.names, row.canonicals, strict=True) if a != b)
    frequency: Counter[str] = Counter()
    for name, count in counted.items():
        frequency[aliases.get(name, name)] += count
    graph = build(
        ((row.id, row.names, row.titles) for row in rows),
        aliases=aliases,
        total=context.names.size,
        frequency=frequency,
    )
    near = [(row.id, row.cosine) for row in rows if row.cosine is not None]
    return graph, sorted(near, key=lambda item: -item[1])
