"""The strategy `pruned`: AutoPrunedRetriever. docs/pruned.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.recipes import PrunedRecipe
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, recipe: PrunedRecipe) -> Retrieved:
    from gsw_graph.retrieve.pruned import question as symbols
    from gsw_graph.retrieve.pruned import runs

    embedding = context.vector(query.question)
    with context.clock("database"):
        nearest = context.reader.nearest([embedding.tolist()], 100)
        book = context.codebooks.of(nearest.version)
    asked = symbols.read(context, book, query.question, query.plan)
    with context.clock("rank"):
        found = runs.facts(book, asked, recipe)
    ids = list(dict.fromkeys(book.passages[book.passage[line]] for line in found.lines))[: query.k]
    with context.clock("database"):
        return Retrieved(context.reader.passages(ids, [1.0] * len(ids)))


PRUNED = Strategy(
    "pruned",
    "AutoPrunedRetriever: runs of edges found by their symbols and ranked by what they say",
    run,
    PrunedRecipe(),
    follows_plan=True,
    steady=True,
)
