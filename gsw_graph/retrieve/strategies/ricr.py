"""The strategy `ricr`: chains of question-answer pairs along a plan, one query a level (Panini, section
2.3). docs/ricr.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.recipes import ChainRecipe
from gsw_graph.retrieve.strategy import ChainConfidence, Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, recipe: ChainRecipe) -> Retrieved:
    """Chains whose candidates come from the graph and are scored by vectors and words, or by a reranker."""
    from gsw_graph.retrieve.qa_chains import CandidateSearch, follow

    return follow(context, query, CandidateSearch(context, recipe), recipe)


RICR = Strategy(
    "ricr",
    "chains of question-answer pairs along a plan; needs workspaces",
    run,
    ChainRecipe(),
    follows_plan=True,
    needs=frozenset({"pairs"}),
    gives=frozenset({"passages", "chains", "answer"}),
    confidence=ChainConfidence((1.093, 1.413, 1.105, 4.974), 4.12),
    steady=True,
)
