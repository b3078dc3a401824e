"""The strategy `pruned`: AutoPrunedRetriever, runs of edges found by their symbols, and passages by a walk
that starts from them. docs/pruned.md has the equations and what departs from them.

A language model reads the runs that were selected. Ours: their passages are seeds of the walk of `linked`,
the names in the best runs lead to a second one, and the first passages are read below the runs; with
`recipe=paper` the runs alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.evidence import Edge, Fact, Item, Run, Sentence, cut, flat
from gsw_graph.ask.retrieve.recipes import PRUNED_RECIPES, PrunedRecipe
from gsw_graph.ask.retrieve.strategies.baselines import DENSE
from gsw_graph.ask.retrieve.strategies.linked import LINKED, fetch_passages, in_order
from gsw_graph.ask.strategy import Query, Retrieved, Strategy
from gsw_graph.model.results import FoundRun
from gsw_graph.models.chat.request import estimate
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.pruned import Codebook, ScoredRun
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.questions import CachedQuestion

FORBIDDEN = "Neo.ClientError.Security.Forbidden"
PASSAGE = 200  # tokens of a passage that is read below the runs


def run(context: Context, query: Query, recipe: PrunedRecipe) -> Retrieved:
    """Find passages from the runs of a question: by `linked` where the memory holds no runs, by `dense`
    where the question has no symbols."""
    import numpy as np
    from neo4j.exceptions import ClientError

    from gsw_graph.ask.retrieve import pruned
    from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
    from gsw_graph.ask.retrieve.names.trace import write_walk
    from gsw_graph.ask.retrieve.names.walk import rank_passages

    question, traced = query.question, context.trace is not None
    lines = pruned.lines_of(question, query.plan)
    vector = context.vectors([question, *lines])[question]  # with the lines in one batch
    earlier = _earlier(context, question, recipe) if context.options.question_cache and query.answer else []
    cited = list(dict.fromkeys(quote.passage.id for old in earlier for quote in old.quotes))
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
            "answers": pruned.select(book, answers, recipe.answers, recipe.same),
            "facts": pruned.select(book, facts, recipe.facts, recipe.same),
        }
        queries = [(question, near), *((question, _passages(runs)) for runs in channels.values() if runs)]
        bridges = _bridges(book, question, [run for runs in channels.values() for run in runs], recipe.names)
    bridge_names = [book.concepts[id_].name for id_ in bridges]
    if bridges:
        further = " ".join([question, *bridge_names])
        toward = vector + recipe.toward * np.mean([book.vector_of[id_] for id_ in bridges], axis=0)
        assert context.neighbourhood is not None  # noqa: S101 - fetched above
        (further_near,) = context.neighbourhood.fetch(
            context, {further: toward.tolist()}, recipe.walk, recipe.nearest
        )
        graph = context.neighbourhood.graph
        queries.append((further, further_near))
    top_k = max(query.k, recipe.rerank.passages)
    with context.clock("rank"):
        result = rank_passages(graph, queries, top_k, recipe.walk, trace=traced)
    passages = fetch_passages(context, result, top_k)
    ranked, sure = in_order(context, graph, question, result.mentions, near, passages, recipe.rerank, query.k)
    if context.trace is not None:
        write_walk(context, context.trace, result, ranked, twice=bool(bridges))
        context.trace.bridges = bridge_names
        context.trace.runs = [
            FoundRun(book.runs[run.run], name, run.score, book.edges(run.run))
            for name, runs in channels.items()
            for run in runs
        ]
    if context.llm is None or not query.answer:
        return Retrieved(ranked, confidence=sure)
    related = _questions(earlier, recipe.questions)
    items = _items(context, book, channels, related, ranked, recipe)
    return Retrieved(ranked, items=items, confidence=sure)


def _items(
    context: Context,
    book: Codebook,
    channels: Mapping[str, Sequence[ScoredRun]],
    earlier: Sequence[CachedQuestion],
    ranked: Sequence[RankedPassage],
    recipe: PrunedRecipe,
) -> list[Item]:
    """Return what the language model reads (section 2.6): earlier questions, the runs of each channel, no
    edge twice, and the first passages; each under a number that leads to its passage."""
    runs = [
        (name, edges) for name, some in channels.items() for run in some if (edges := book.edges(run.run))
    ]
    ids = sorted({edge.passage for _, edges in runs for edge in edges})
    with context.clock("database"):
        passages = {passage.id: passage for passage in context.reader.passages(ids, [0.0] * len(ids))}
    items = [
        _item("questions", old.quotes[0].passage, [Sentence(flat(old.question), flat(old.answer))])
        for old in earlier
    ]
    used, budget = set[int](), recipe.tokens
    for channel, edges in runs:
        by_passage = defaultdict[str, list[Fact]](list)
        for edge in edges:
            if edge.number not in used and edge.passage in passages:
                used.add(edge.number)
                by_passage[edge.passage].append(Edge(edge.subject, flat(edge.relation), edge.object))
        new = [_item(channel, passages[id_], facts) for id_, facts in by_passage.items()]
        if (budget := budget - sum(estimate(item.text) for item in new)) < 0:
            break
        items += new
    for passage in ranked[: recipe.passages]:
        text = flat(passage.text.removeprefix(f"{passage.title}\n"))
        items.append(_item("passages", passage, [Sentence(flat(passage.title), cut(text, PASSAGE))]))
    return items


def _item(channel: str, passage: RankedPassage, facts: Sequence[Fact]) -> Item:
    return Item("; ".join(map(" ".join, facts)), passage, run=Run(tuple(facts), channel))


def _questions(earlier: Sequence[CachedQuestion], choice: str) -> list[CachedQuestion]:
    """Return `all` earlier questions, `none`, or one for each answer (`unique`)."""
    questions: dict[str, CachedQuestion] = {}
    for old in earlier if choice != "none" else ():
        questions.setdefault(old.id if choice == "all" else normalise(old.answer), old)
    return list(questions.values())


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


def _earlier(context: Context, question: str, recipe: PrunedRecipe) -> list[CachedQuestion]:
    """Return earlier questions like this one. What was rejected, or cites what is there no more, is left
    out."""
    from gsw_graph.store.questions import near

    vector = context.vector(question).tolist()
    with context.clock("database"):
        earlier = near(context.reader, vector, recipe.near_questions)
    return [
        old
        for old in earlier
        if old.cosine >= recipe.like
        and old.is_citable
        and old.verdict != "rejected"
        and all(context.reader.sees(quote.passage.id) for quote in old.quotes)
    ]


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
    padded, bridges = f" {normalise(question)} ", list[str]()
    for run in runs:
        for id_ in (run.edge.object, run.edge.subject):
            key = book.concepts[id_].canonical
            new = key not in bridges and f" {key} " not in padded
            if new and len(bridges) < top_k and key in book.concepts and book.concepts[key].passages > 1:
                bridges.append(key)
    return bridges


PRUNED = Strategy(
    "pruned",
    "AutoPrunedRetriever: runs of edges found by their symbols and ranked by what they say, which a language "
    "model reads, then a walk from them",
    run,
    PRUNED_RECIPES["default"],
    PRUNED_RECIPES,
    follows_plan=True,
    steady=True,
)
