"""The strategy `pruned`: AutoPrunedRetriever, runs of edges found by their symbols, and passages by a walk
that starts from them. docs/pruned.md has the equations and what departs from them.

Of the paper: the coarse score (section 2.4, A.3), the five terms of the fine score (A.3), and the choice of
runs by channel (2.5). Ours: the paper gives a language model the runs alone, which lack what a second hop
needs and name no passage; so their passages are seeds of the walk of `linked`, and the names in the best
runs lead on to a second one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.retrieve.recipes import PrunedRecipe
from gsw_graph.retrieve.strategies.dense import DENSE
from gsw_graph.retrieve.strategies.linked import LINKED, in_order, read
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

FORBIDDEN = "Neo.ClientError.Security.Forbidden"

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.pruned.codebook import Codebook
    from gsw_graph.retrieve.pruned.runs import Scored


def run(context: Context, query: Query, recipe: PrunedRecipe) -> Retrieved:
    """Passages from the runs of a question. `linked` where the memory holds no runs, or more than the client
    may hold; `dense` where the question has no symbols."""
    from neo4j.exceptions import ClientError

    from gsw_graph.retrieve.names.passages import best_together
    from gsw_graph.retrieve.names.trace import write_walk
    from gsw_graph.retrieve.pruned import question as asking
    from gsw_graph.retrieve.pruned.channels import channels

    if not context.held_by_client:
        return _instead(context, query, LINKED, "the codebook of so large a memory is not held by the client")
    question, traced = query.question, context.trace is not None
    lines = asking.lines_of(question, query.plan)
    vector = context.vectors([question, *lines])[question]  # with the lines in one batch
    with context.clock("database"):
        nearest = context.reader.nearest([vector.tolist()], recipe.walk.nearest)
        near, graph = nearest.passages[0], context.names.of(nearest.version)
        try:
            book = context.codebook(nearest.version)
        except ClientError as error:
            if error.code != FORBIDDEN:
                raise
            return _instead(context, query, LINKED, "runs are missing, and who asks may not write them")
    if not book.runs:
        return _instead(context, query, LINKED, "the memory holds nothing that runs are made of")
    asked = asking.read(context, book, question, lines)
    if asked is None:
        return _instead(context, query, DENSE, "the question has no symbols: it names and relates nothing")
    found = channels(context, book, query, asked, recipe)
    with context.clock("rank"):
        near_runs = [some for one in found.values() if (some := _passages(book, one))]
        starts = [(question, near), *((question, some) for some in near_runs)]
        most = max(query.k, recipe.order.passages)
        leads = _leads(graph, book, question, list(found.values()), recipe.names)
    if leads:
        import numpy as np

        numbers = np.array(leads, dtype=np.intp)
        further = " ".join([question, *(book.shown[n] for n in leads)])
        toward = vector + recipe.toward * book.concepts.unit(numbers).mean(axis=0)
        with context.clock("database"):
            others = context.reader.nearest([toward.tolist()], recipe.nearest).passages[0]
        starts.append((further, others))
    with context.clock("rank"):
        found_passages = best_together(graph, starts, most, recipe.walk, trace=traced)
    passages = read(context, found_passages, {}, most)
    with context.clock("rank"):
        ranked = in_order(graph, question, passages, recipe.order, query.k)
    if context.trace is not None:
        paths = dict(zip(found_passages.passages, found_passages.paths, strict=True))
        ids = [one.id for one in ranked]
        shown = replace(found_passages, passages=ids, paths=[paths[one] for one in ids])
        over = "whole graph" if graph.matrices.size <= recipe.walk.whole else "neighbourhood"
        write_walk(context, context.trace, shown, ranked, over)
        context.trace.bridges = [book.shown[n] for n in leads]
        context.trace.runs = [run for name, one in found.items() for run in book.shown_runs(name, one)]
    return Retrieved(ranked)


def _instead(context: Context, query: Query, other: Strategy[Any], why: str) -> Retrieved:
    return replace(other.run(context, query, other.recipe), ran=other.name, why=why)


def _passages(book: Codebook, found: Scored) -> list[tuple[str, float]]:
    """The passages of the runs' nearest lines, best first, each with the cosine of its best."""
    best: dict[str, float] = {}
    for line, cosine in zip(found.lines.tolist(), found.cosines.tolist(), strict=True):
        passage = book.passages[book.passage[line]]
        best[passage] = max(best.get(passage, -1.0), cosine)
    return sorted(best.items(), key=lambda one: -one[1])


def _leads(graph: NameGraph, book: Codebook, question: str, found: list[Scored], most: int) -> list[int]:
    """The first concepts, by number, of the nearest lines of the best runs that the question does not name,
    and that another passage has too."""
    from gsw_graph.names import normalise

    asked, leads = f" {normalise(question)} ", list[int]()
    for line in (line for one in found for line in one.lines.tolist()):
        for concept in (int(book.object[line]), int(book.subject[line])):
            key = book.concepts.names[concept]
            number = graph.name_numbers.get(key)
            new = number is not None and concept not in leads and f" {key} " not in asked
            if new and len(leads) < most and graph.matrices.frequency[number] > 1:
                leads.append(concept)
    return leads


PRUNED = Strategy(
    "pruned",
    "AutoPrunedRetriever: runs of edges found by their symbols and ranked by what they say, then a walk from "
    "them",
    run,
    PrunedRecipe(),
    follows_plan=True,
    steady=True,
)
