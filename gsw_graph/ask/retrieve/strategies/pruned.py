"""The strategy `pruned`: AutoPrunedRetriever, runs of edges found by their symbols, and passages by a walk
that starts from them. docs/pruned.md has the equations and what departs from them.

Ours: the paper gives a language model the runs alone, which lack what a second hop needs and name no
passage; so their passages are seeds of the walk of `linked`, and the names in the best runs lead to a
second one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.retrieve.recipes import PrunedRecipe
from gsw_graph.ask.retrieve.strategies.baselines import DENSE
from gsw_graph.ask.retrieve.strategies.linked import LINKED, fetch_passages, in_order
from gsw_graph.ask.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.pruned import Codebook, ScoredRun

FORBIDDEN = "Neo.ClientError.Security.Forbidden"


def run(context: Context, query: Query, recipe: PrunedRecipe) -> Retrieved:
    """Find passages from the runs of a question: by `linked` where the memory holds no runs, by `dense`
    where the question has no symbols."""
    import numpy as np
    from neo4j.exceptions import ClientError

    from gsw_graph.ask.retrieve import pruned
    from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
    from gsw_graph.ask.retrieve.names.walk import rank_passages, write_walk

    question, traced = query.question, context.trace is not None
    lines = pruned.lines_of(question, query.plan)
    vector = context.vectors([question, *lines])[question]  # with the lines in one batch
    cited = _cited(context, question, recipe) if context.past else []
    try:
        book = _codebook(context, [question, *lines], cited, recipe)
    except ClientError as error:
        if error.code != FORBIDDEN:
            raise
        return _instead(context, query, LINKED, "runs are missing, and who asks may not write them")
    if not book.runs:
        return _instead(context, query, LINKED, "the memory holds nothing that runs are made of")
    symbols = pruned.query_vectors(context, book, question, lines)
    if symbols is None:
        return _instead(context, query, DENSE, "the question has no symbols: it names and relates nothing")
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    with context.clock("rank"):
        facts = pruned.rank_runs(book, book.coarse(symbols, recipe), symbols, recipe)
        answers = pruned.rank_runs(book, book.in_passages(cited), symbols, recipe)
        channels = {
            "facts": pruned.select(book, facts, recipe.facts, recipe.same),
            "answers": pruned.select(book, answers, recipe.answers, recipe.same),
        }
        queries = [(question, near), *((question, _passages(runs)) for runs in channels.values() if runs)]
        bridges = _bridges(book, question, [run for runs in channels.values() for run in runs], recipe.names)
    shown = [book.concept(id_).name for id_ in bridges]
    if bridges:
        further = " ".join([question, *shown])
        toward = vector + recipe.toward * np.mean([book.vector_of[id_] for id_ in bridges], axis=0)
        assert context.neighbourhood is not None  # noqa: S101 - fetched above
        (others,) = context.neighbourhood.fetch(
            context, {further: toward.tolist()}, recipe.walk, recipe.nearest
        )
        graph = context.neighbourhood.graph
        queries.append((further, others))
    top_k = max(query.k, recipe.rerank.passages)
    with context.clock("rank"):
        result = rank_passages(graph, queries, top_k, recipe.walk, trace=traced)
    passages = fetch_passages(context, result, top_k)
    with context.clock("rank"):
        ranked = in_order(graph, question, passages, recipe.rerank, query.k)
    if context.trace is not None:
        paths = dict(zip(result.passages, result.paths, strict=True))
        ids = [passage.id for passage in ranked]
        write_walk(
            context,
            context.trace,
            replace(result, passages=ids, paths=[paths[id_] for id_ in ids]),
            ranked,
            twice=bool(bridges),
        )
        context.trace.bridges = shown
        context.trace.runs = [found for name, runs in channels.items() for found in book.shown(name, runs)]
    return Retrieved(ranked)


def _codebook(context: Context, lines: list[str], cited: list[str], recipe: PrunedRecipe) -> Codebook:
    """Fetch the runs around a question; those that are missing in the memory are built first."""
    from gsw_graph.ask.retrieve.names.linking import mentions
    from gsw_graph.ask.retrieve.pruned import Codebook
    from gsw_graph.store import codebook

    embeddings = [vector.tolist() for vector in context.vectors(lines).values()]
    keys = sorted({mention.key for mention in mentions(lines[0])})
    limits = {"near": recipe.near, "common": recipe.common, "most": recipe.candidates}
    with context.clock("database"):
        part = codebook.around(context.reader, embeddings, keys, cited, **limits)
        if not part.complete:
            context.build_runs()
            part = codebook.around(context.reader, embeddings, keys, cited, **limits)
    return Codebook(part)


def _cited(context: Context, question: str, recipe: PrunedRecipe) -> list[str]:
    """Return passages that answers to questions like this one cite. What was rejected, or cites what is
    there no more, is left out; what nobody confirmed may point at evidence, as no answer is taken from
    here."""
    from gsw_graph.store.questions import near

    vector, least = context.vector(question).tolist(), recipe.like
    with context.clock("database"):
        earlier = near(context.reader, vector, recipe.asked)
    good = [
        one for one in earlier if one.cosine >= least and one.is_citable and one.verdict != "rejected"
    ]
    return list(dict.fromkeys(quoted.passage.id for one in good for quoted in one.quotes))


def _instead(context: Context, query: Query, other: Strategy[Any], why: str) -> Retrieved:
    return replace(other.run(context, query, other.recipe), ran=other.name, why=why)


def _passages(runs: list[ScoredRun]) -> list[tuple[str, float]]:
    """Return the passages of the runs' nearest edges, best first, each with the cosine of its best."""
    best: dict[str, float] = {}
    for run in runs:
        best[run.edge.passage] = max(best.get(run.edge.passage, -1.0), run.cosine)
    return sorted(best.items(), key=lambda entry: -entry[1])


def _bridges(book: Codebook, question: str, runs: list[ScoredRun], top_k: int) -> list[str]:
    """Return the first concepts of the nearest edges of the best runs that the question does not name, and
    that another passage has too."""
    from gsw_graph.text.names import normalise

    asked, bridges = f" {normalise(question)} ", list[str]()
    for run in runs:
        for id_ in (run.edge.object, run.edge.subject):
            key = book.concept(id_).canonical
            new = key not in bridges and f" {key} " not in asked
            if new and len(bridges) < top_k and key in book.concepts and book.concept(key).passages > 1:
                bridges.append(key)
    return bridges


PRUNED = Strategy(
    "pruned",
    "AutoPrunedRetriever: runs of edges found by their symbols and ranked by what they say, then a walk from "
    "them",
    run,
    PrunedRecipe(),
    follows_plan=True,
    steady=True,
)
