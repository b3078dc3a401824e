"""The strategy `auto`: what measures best for what the memory holds (docs/results.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.retrieve.comparison import Sides, sides_of
from gsw_graph.ask.retrieve.recipes import AutoRecipe
from gsw_graph.ask.retrieve.strategies.fusion import FUSION
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.strategy import Query, Retrieved, Strategy, reciprocal_rank_fusion

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context

WHOLE_WEIGHT = 0.5  # of the ranking of the whole question, where that of a side has 1
RANK_CONSTANT = 1.0  # the first passages of each side count for much more than the next
DEPTH = 30  # of each ranking at least, so that the first passages are the same however many are wanted


def run(context: Context, query: Query, recipe: AutoRecipe) -> Retrieved:
    """Choose a strategy by the question and the memory.

    `fusion` where there is a plan or the memory holds question-answer pairs, else `linked`; a comparison of
    names is searched for each side. Without a plan and a language model, a pair that surely answers the whole
    question gives the answer.
    """
    if not query.plan:
        sides = sides_of(query.question)
        if sides is not None and sides.named:  # descriptions are often read wrongly (docs/results.md)
            retrieved = search_sides(context, query, sides)
            return replace(
                retrieved, ran=LINKED.name, why="the question compares names: each was searched for"
            )
    strategy: Strategy[Any] = FUSION if query.plan or context.has_pairs else LINKED
    if query.plan:
        why = "there is a plan"
    else:
        why = f"the memory holds {'' if context.has_pairs else 'no '}question-answer pairs"
    retrieved = strategy(context, query)
    retrieved = replace(retrieved, ran=retrieved.ran or strategy.name, why=retrieved.why or why)
    if query.plan or not query.answer or context.llm is not None or not context.has_pairs:
        return retrieved
    from gsw_graph.ask.retrieve.qa_chains import with_one_pair

    return with_one_pair(context, query, retrieved, recipe.sure)


def search_sides(context: Context, query: Query, sides: Sides) -> Retrieved:
    """Search for each side and for the whole question by `linked`, and fuse the rankings.

    The trace is that of the whole question.
    """
    top_k = max(query.k + query.below, DEPTH)
    trace, context.trace = context.trace, None
    try:
        rankings = [LINKED(context, Query(question, k=top_k)).passages for question in sides.questions]
    finally:
        context.trace = trace
    whole = LINKED(context, replace(query, k=top_k, below=0))
    weights = [*[1.0] * len(rankings), WHOLE_WEIGHT]
    fused = reciprocal_rank_fusion([*rankings, whole.passages], weights, k=RANK_CONSTANT)
    end = query.k + query.below
    return Retrieved(fused[: query.k], below=fused[query.k : end], confidence=whole.confidence)


AUTO = Strategy(
    "auto",
    "`fusion` with a plan, or where the memory holds question-answer pairs; else `linked`; without a plan, a "
    "comparison of names is searched for each of them by `linked`",
    run,
    AutoRecipe(),
    follows_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
)
