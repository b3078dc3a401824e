"""The strategy `dense`: nearest vectors, the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.strategy import NoRecipe, Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, _: NoRecipe) -> Retrieved:
    """Passages whose vectors are nearest to the question's."""
    embedding = context.vector(query.question).tolist()
    with context.clock("database"):
        return Retrieved(context.reader.dense(embedding, max(query.k, 10))[: query.k])


DENSE = Strategy("dense", "nearest vectors", run, NoRecipe(), steady=True)
