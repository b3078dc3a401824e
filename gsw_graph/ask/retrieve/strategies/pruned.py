"""The strategy `pruned`: AutoPrunedRetriever. docs/pruned.md; the search is in `retrieve/pruned.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import PRUNED_RECIPES, PrunedRecipe
from gsw_graph.ask.strategy import Query, RetrievalResult, Strategy

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import RetrievalContext


def retrieve(context: RetrievalContext, query: Query, recipe: PrunedRecipe) -> RetrievalResult:
    """Find passages from the runs of a question; numpy and the rest are loaded with the first."""
    from gsw_graph.ask.retrieve.pruned import search_runs

    return search_runs(context, query, recipe)


PRUNED = Strategy(
    "pruned",
    "AutoPrunedRetriever: runs of edges found by their symbols and ranked by what they say, which a language "
    "model reads, then a walk from them",
    retrieve,
    PRUNED_RECIPES["default"],
    PRUNED_RECIPES,
    follows_plan=True,
    prefix_stable=True,
)
