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


def run(context: Context, query: Query, recipe: AutoRecipe) -> Retrieved:
    """`fusion` with a plan; without one, the paths of `pathwise` for a comparison of names, by rules alone;
    else `fusion` where the memory holds question-answer pairs, and `linked` where not. Without a plan and a
    language model, a rule answers a question bounded by a time, and any other a pair that surely answers
    the whole of it."""
    chosen: Strategy[Any] = LINKED
    approach, why = "", "the memory holds no question-answer pairs"
    if query.plan:
        chosen, why = FUSION, "there is a plan"
    else:
        approach = _approach(query.question)
        if approach == "comparative matrix":
            found = by_rules(context, query, PATHWISE.recipe)
            return replace(found, ran=PATHWISE.name, why="the question compares two names")
        if context.has_pairs:
            chosen, why = FUSION, "the memory holds question-answer pairs"
    found = chosen(context, query)
    found = replace(found, ran=found.ran or chosen.name, why=found.why or why)
    if query.plan or not query.answer or context.llm is not None:
        return found
    if approach == "temporal-ordered":
        return _in_time(context, query, found)
    if context.has_pairs:
        from gsw_graph.retrieve.chains.one_pair import with_one_pair

        return with_one_pair(context, query, found, recipe.sure)
    return found


def _approach(question: str) -> str:
    """How `pathwise` would search for a question, by its rules; "" for a comparison of what is described and
    not named: such sides are read wrongly more often, and their paths then lead away (docs/results.md)."""
    from gsw_graph.retrieve.pathwise.intent import intent_of
    from gsw_graph.retrieve.pathwise.selection import select

    intent = intent_of(question)
    if intent.sides is not None and not intent.sides.named:
        return ""
    return select(intent, PATHWISE.recipe)[0].approach


def _in_time(context: Context, query: Query, found: Retrieved) -> Retrieved:
    """What was found with the answer of a rule, where there is one. What that cites stands first; without
    it, passages that are dated as the question asks are worse than those found (docs/results.md)."""
    from gsw_graph.retrieve.facts.ranking import before
    from gsw_graph.retrieve.times.ordered import in_time

    ruled = in_time(context, query)
    if ruled.draft is None:
        return found
    cited = {one.passage for one in ruled.draft.citations}
    passages = before((one for one in ruled.passages if one.id in cited), found.passages, query.k)
    why = f"{found.why}; the question is bounded by a time, and a rule answers it"
    return replace(found, passages=passages, draft=ruled.draft, why=why)


AUTO = Strategy(
    "auto",
    "`fusion` with a plan, or where the memory holds question-answer pairs; else `linked`; without a plan, a "
    "comparison of two names is searched as `pathwise` does by its rules",
    run,
    AutoRecipe(),
    follows_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
)
