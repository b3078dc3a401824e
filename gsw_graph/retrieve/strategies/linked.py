"""The strategy `linked`: names of the question linked to concepts, a walk over names and passages, another
from the names that the first led to, and an order of what they found. docs/linked.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.retrieve.recipes import LinkedRecipe, OrderRecipe, WalkRecipe
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.names.passages import Walked


def run(context: Context, query: Query, recipe: LinkedRecipe) -> Retrieved:
    """Walks over the graph of names that the client holds or, in a memory too large for that, over the
    part that the question needs."""
    from gsw_graph.retrieve.names.leads import leads
    from gsw_graph.retrieve.names.neighbourhood import around
    from gsw_graph.retrieve.names.passages import best_passages, best_together
    from gsw_graph.retrieve.names.trace import write_walk
    from gsw_graph.retrieve.names.wording import Wording

    question, traced = query.question, context.trace is not None
    graph, (near,) = around(context, [question], recipe.walk)
    most = max(query.k, recipe.order.passages)
    with context.clock("rank"):
        first = found = best_passages(graph, question, near, most, recipe.walk, trace=traced)
    known: dict[str, RankedPassage] = {}
    names: list[str] = []
    if recipe.leads.names:
        best = read(context, first, known, recipe.leads.passages)
        with context.clock("rank"):
            names = leads(graph, question, best, Wording(question, list(map(_text, best))), recipe.leads)
    if names:
        further = " ".join([question, *names])
        graph, (others,) = around(context, [further], recipe.walk, recipe.leads.nearest)
        with context.clock("rank"):
            asked = [(question, near), (further, others)]
            found = best_together(graph, asked, most, recipe.walk, trace=traced)
    passages = read(context, found, known, most)
    with context.clock("rank"):
        ranked = in_order(graph, question, passages, recipe.order, query.k)
    if context.trace is not None:
        paths = dict(zip(found.passages, found.paths, strict=True))
        paths |= zip(first.passages, first.paths, strict=True)
        ids = [one.id for one in ranked]
        shown = replace(first, passages=ids, paths=[paths[one] for one in ids])
        write_walk(context, context.trace, shown, ranked, over(context, recipe.walk))
        context.trace.bridges = names
    return Retrieved(ranked)


def over(context: Context, recipe: WalkRecipe) -> str:
    """What a walk goes over, as `Trace.walked` has it."""
    if not context.held_by_client:
        return "neighbourhood by query"
    return "whole graph" if context.names.size <= recipe.whole else "neighbourhood"


def read(context: Context, found: Walked, known: dict[str, RankedPassage], most: int) -> list[RankedPassage]:
    """The first passages that a walk found, with its weights; those known are not asked for again."""
    ids = found.passages[:most]
    if new := [one for one in ids if one not in known]:
        with context.clock("database"):
            known.update((one.id, one) for one in context.reader.passages(new, [0.0] * len(new)))
    return [
        replace(known[one], score=score)
        for one, score in zip(ids, found.scores, strict=False)
        if one in known
    ]


def in_order(
    graph: NameGraph, question: str, passages: list[RankedPassage], recipe: OrderRecipe, k: int
) -> list[RankedPassage]:
    """The first `k`: those of a walk in the order of `names/order.py`, their shares as scores; the others as
    the walk has them, below."""
    from gsw_graph.retrieve.names.order import ordered
    from gsw_graph.retrieve.names.wording import Wording

    some = passages[: recipe.passages]
    if not some:
        return passages[:k]
    numbers, shares = ordered(graph, some, Wording(question, list(map(_text, some))), recipe)
    first = [replace(some[n], score=share) for n, share in zip(numbers[:k], shares, strict=False)]
    rest = [replace(one, score=min(one.score, shares[-1])) for one in passages[len(some) : k]]
    return first + rest


def _text(passage: RankedPassage) -> str:
    return f"{passage.title}\n{passage.text}"


LINKED = Strategy(
    "linked",
    "names of the question, two personalised PageRanks over names and passages, then an order by what "
    "passages say together; no language model",
    run,
    LinkedRecipe(),
    steady=True,
)
