"""The strategy `auto`: what measures best for what the memory holds (docs/results.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.retrieve.recipes import AutoRecipe
from gsw_graph.retrieve.strategies.fusion import FUSION
from gsw_graph.retrieve.strategies.linked import LINKED
from gsw_graph.retrieve.strategies.pathwise import PATHWISE, by_rules
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context

PATHS = {  # for which paths measure better
    "comparative matrix": "the question compares",
    "temporal-ordered": "the question is bounded by a time",
}


def run(context: Context, query: Query, recipe: AutoRecipe) -> Retrieved:
    """`fusion` with a plan; without one, the paths of `pathwise` for a comparison or a question bounded by
    time, by rules alone; else `fusion` where the memory holds question-answer pairs, and `linked` where not.
    Without a plan and a language model, a pair that surely answers the whole question answers it."""
    from gsw_graph.retrieve.pathwise.intent import intent_of
    from gsw_graph.retrieve.pathwise.selection import select

    approach = "" if query.plan else select(intent_of(query.question), PATHWISE.recipe)[0].approach
    if approach in PATHS:
        found = by_rules(context, query, PATHWISE.recipe)
        return replace(found, ran=PATHWISE.name, why=PATHS[approach])
    chosen: Strategy[Any] = LINKED
    why = "the memory holds no question-answer pairs"
    if query.plan:
        chosen, why = FUSION, "there is a plan"
    elif context.has_pairs:
        chosen, why = FUSION, "the memory holds question-answer pairs"
    found = chosen(context, query)
    if query.answer and not query.plan and context.has_pairs and context.llm is None:
        from gsw_graph.retrieve.chains.one_pair import with_one_pair

        found = with_one_pair(context, query, found, recipe.sure)
    return replace(found, ran=found.ran or chosen.name, why=found.why or why)


AUTO = Strategy(
    "auto",
    "`fusion` with a plan, or where the memory holds question-answer pairs; else `linked`; without a plan, a "
    "comparison or a question bounded by time is searched as `pathwise` does by its rules",
    run,
    AutoRecipe(),
    follows_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
)
