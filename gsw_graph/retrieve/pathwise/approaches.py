"""The strategies of PathwiseRAG as ours: how each searches for one sub-problem."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.retrieve.strategies.dense import DENSE
from gsw_graph.retrieve.strategies.fusion import FUSION
from gsw_graph.retrieve.strategies.linked import LINKED

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.pathwise.selection import Approach
    from gsw_graph.retrieve.strategy import Query, Retrieved

SURE = 0.8  # confidence from which one pair answers a simple question, as in `auto`
_STATEMENTS = {
    "dense": ("read/dense",),
    "linked": ("read/nearest", "read/passages"),
    "fusion": ("read/nearest", "read/pairs_of", "read/passages"),
    "chains": ("read/hop", "read/nearest", "read/passages"),
    "comparative matrix": ("read/nearest", "read/passages"),
    "temporal-ordered": ("read/nearest", "read/dated", "read/passages"),
}


def search(context: Context, query: Query, approach: Approach) -> Retrieved:
    """What an approach finds for a question. Dense precision is `dense`, or one pair where that is sure; a
    chain is `fusion` where the memory has pairs or there is a plan, else `linked`. An answer by rules is kept
    where no language model is to read."""
    if approach == "dense precision":
        found = DENSE(context, query)
        if query.answer and context.has_pairs and context.llm is None:
            from gsw_graph.retrieve.chains.one_pair import with_one_pair

            return with_one_pair(context, query, found, SURE)
        return found
    if query.plan is None and approach in ("comparative matrix", "temporal-ordered"):
        from gsw_graph.retrieve.comparison.matrix import comparison_matrix
        from gsw_graph.retrieve.times.ordered import time_ordered

        found = (comparison_matrix if approach == "comparative matrix" else time_ordered)(context, query)
        return found if context.llm is None else replace(found, draft=None)
    deep = query.plan is not None or context.has_pairs
    return FUSION(context, query) if deep else LINKED(context, query)


def statements(context: Context, query: Query, approach: Approach) -> tuple[str, ...]:
    """Names of the statements that it runs."""
    if approach == "dense precision":
        return _STATEMENTS["dense"]
    if query.plan is None and approach in ("comparative matrix", "temporal-ordered"):
        return _STATEMENTS[approach]
    return _STATEMENTS["chains" if query.plan else "fusion" if context.has_pairs else "linked"]
