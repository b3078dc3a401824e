"""The strategy `ircot`: a sentence of reasoning, a search by it, and so on (Trivedi 2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.recipes import IRCoTRecipe
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, recipe: IRCoTRecipe) -> Retrieved:
    """Passages that the sentences found; the reader of every strategy answers from them."""
    from gsw_graph.retrieve.agents.reasoning import reason

    return reason(context, query, recipe)


IRCOT = Strategy(
    "ircot",
    "an agent that reads passages, the baseline: a sentence of reasoning, a search by it, and so on; needs a "
    "language model",
    run,
    IRCoTRecipe(),
    makes_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "answer"}),
)
