"""The strategy `pruned`: AutoPrunedRetriever, runs of edges found by their symbols, and passages by a walk
that starts from them. docs/pruned.md has the equations and what departs from them.

Of the paper: the coarse score (section 2.4, A.3), the five terms of the fine score (A.3), and the choice of
runs by channel (2.5). Ours: the paper gives a language model the runs alone, which lack what a second hop
needs and name no passage; so their passages are seeds of the walk of `linked`, and the names in the best
runs lead on to a second one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.names import normalise
from gsw_graph.retrieve.recipes import PrunedRecipe
from gsw_graph.retrieve.strategies.dense import DENSE
from gsw_graph.retrieve.strategies.linked import LINKED, in_order, read, text_of
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.pruned.codebook import Codebook
    from gsw_graph.retrieve.pruned.runs import Scored


def run(context: Context, query: Query, recipe: PrunedRecipe) -> Retrieved:
    """Passages from the runs of a question. `linked` where the memory holds no runs, or more than the client
    may hold; `dense` where the question has no symbols."""
    from gsw_graph.retrieve.names.passages import best_together
    from gsw_graph.retrieve.names.trace import write_walk
    from gsw_graph.retrieve.pruned import question as asking
    from gsw_graph.retrieve.pruned.channels import channels

    if not context.held_by_client:
        return _instead(context, query, LINKED, "the codebook of so large a memory is not held by the client")
    question, traced = query.question, context.trace is not None
    texts = asking.texts(question, query.plan)
    embedding = context.vectors(texts.all)[question].tolist()
    with context.clock("database"):
        nearest = context.reader.nearest([embedding], recipe.walk.nearest)
        near, graph = nearest.passages[0], context.names.of(nearest.version)
        book = context.codebooks.of(nearest.version)
    if not book.runs:
        return _instead(context, query, LINKED, "the memory holds nothing that runs are made of")
    asked = asking.read(context, book, texts)
    if not asked.symbols:
        return _instead(context, query, DENSE, "the question has no symbols: it names and relates nothing")
    with context.clock("rank"):
        found = channels(context, book, asked, recipe)
        starts = [(question, near), *((question, some) for one in found.values() if (some := _passages(book, one)))]
        most = max(query.k, recipe.order.passages)
        first = best = best_together(graph, starts, most, recipe.walk, trace=traced)
        leads = _leads(graph, book, question, list(found.values()), recipe.names)
    passages = []
    if leads:
        further = " ".join([question, *leads])
        embedding = context.vector(further).tolist()
        with context.clock("database"):
            others = context.reader.nearest([embedding], recipe.nearest).passages[0]
        with context.clock("rank"):
            best = best_together(graph, [*starts, (further, others)], most, recipe.walk, trace=traced)
    passages = read(context, best, [])
    with context.clock("rank"):
        ranked = in_order(graph, question, passages, recipe.order)[: query.k]
    if context.trace is not None:
        paths = dict(zip(first.passages, first.paths, strict=True))
        paths |= zip(best.passages, best.paths, strict=True)
        ids = [one.id for one in ranked]
        over = "whole graph" if graph.matrices.size <= recipe.walk.whole else "neighbourhood"
        write_walk(context, context.trace, replace(best, passages=ids, paths=[paths[one] for one in ids]), ranked, over)
        context.trace.bridges = leads
        context.trace.runs = [shown for name, one in found.items() for shown in book.shown_runs(name, one)]
    return Retrieved(ranked)


def _instead(context: Context, query: Query, other: Strategy, why: str) -> Retrieved:
    return replace(other.run(context, query, other.recipe), ran=other.name, why=why)


def _passages(book: Codebook, found: Scored) -> list[tuple[str, float]]:
    """The passages of the runs' nearest lines, best first, each with the cosine of its best."""
    best: dict[str, float] = {}
    for line, cosine in zip(found.lines.tolist(), found.cosines.tolist(), strict=True):
        passage = book.passages[book.passage[line]]
        best[passage] = max(best.get(passage, -1.0), cosine)
    return sorted(best.items(), key=lambda one: -one[1])


def _leads(graph: NameGraph, book: Codebook, question: str, found: list[Scored], most: int) -> list[str]:
    """The first names, as shown, of the nearest lines of the best runs that the question has not, and that
    another passage has too."""
    asked, leads = f" {normalise(question)} ", dict[str, str]()
    for one in found:
        for line in one.lines.tolist():
            for concept in (int(book.object[line]), int(book.subject[line])):
                key = book.concepts.names[concept]
                number = graph.name_numbers.get(key)
                if len(leads) < most and number is not None and f" {key} " not in asked and graph.matrices.frequency[number] > 1:
                    leads.setdefault(key, book.shown[concept])
    return list(leads.values())


PRUNED = Strategy(
    "pruned",
    "AutoPrunedRetriever: runs of edges found by their symbols and ranked by what they say, then a walk from them",
    run,
    PrunedRecipe(),
    follows_plan=True,
    steady=True,
)
