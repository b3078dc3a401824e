"""The strategy `pruned`: AutoPrunedRetriever. docs/pruned.md; the search is in `retrieve/pruned.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import PRUNED_RECIPES, PrunedRecipe
from gsw_graph.ask.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context


def run(context: Context, query: Query, recipe: PrunedRecipe) -> Retrieved:
    """Find passages from the runs of a question; numpy and the rest are loaded with the first."""
    from gsw_graph.ask.retrieve.pruned import retrieve

    return retrieve(context, query, recipe)


PRUNED = Strategy(
    "pruned",
    "AutoPrunedRetriever: runs of edges found by their symbols and ranked by what they say, which a language "
    "model reads, then a walk from them",
    run,
    PRUNED_RECIPES["default"],
    PRUNED_RECIPES,
    follows_plan=True,
    steady=True,
)
