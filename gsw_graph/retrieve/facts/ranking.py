"""Passages of facts before those of a walk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.retrieve.strategies.linked import LINKED

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.recipes import LinkedRecipe
    from gsw_graph.retrieve.strategy import Query


def with_linked(
    context: Context, query: Query, first: Iterable[RankedPassage], recipe: LinkedRecipe
) -> list[RankedPassage]:
    """The `query.k` best: some passages in their order, then those of `linked`, each once; scores are
    1 / rank."""
    found = list({one.id: one for one in first}.values())
    others = LINKED.run(context, query, recipe).passages if len(found) < query.k else []
    return before(found, others, query.k)


def before(first: Iterable[RankedPassage], others: Iterable[RankedPassage], k: int) -> list[RankedPassage]:
    """The first `k` of some passages and, after them, others, each once; scores are 1 / rank."""
    found: dict[str, RankedPassage] = {}
    for one in (*first, *others):
        found.setdefault(one.id, one)
    return [replace(one, score=1 / rank) for rank, one in enumerate(list(found.values())[:k], 1)]
