"""The strategy `auto`: what measures best for what the memory holds (docs/results.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.retrieve.strategies.fusion import FUSION
from gsw_graph.retrieve.strategies.linked import LINKED
from gsw_graph.retrieve.strategy import NoRecipe, Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, _: NoRecipe) -> Retrieved:
    """`fusion` with a plan, or where the memory holds question-answer pairs; else `linked`."""
    chosen = FUSION if query.plan or context.has_pairs else LINKED
    found = chosen(context, query)
    return replace(found, ran=found.ran or chosen.name)


AUTO = Strategy(
    "auto",
    "`fusion` with a plan, or where the memory holds question-answer pairs; else `linked`",
    run,
    NoRecipe(),
    follows_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
)
