"""Find runs of edges near a question, by their symbols and then by their lines, and passages by a walk that
starts from the runs (AutoPrunedRetriever). docs/pruned.md has the equations and the departures.

From the paper come the coarse score (section 2.4, A.3), the five terms of the fine score (A.3), the choice of
runs by channel (2.5), and the runs as the prompt (2.6). With `recipe=paper` all runs are compared by their
symbols, the edges of the shortlist are lines, a language model takes the question apart in triples (2.2), and
the reader sees the runs alone. The rest is ours: the database gives candidate runs by their statements; the
passages of the runs are seeds of the walk of `linked`; the names in the best runs lead to a second walk; and
the reader sees the first passages below the runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from neo4j.exceptions import ClientError

from gsw_graph.ask.answer.evidence import (
    Edge,
    EvidenceLine,
    Fact,
    FactGroup,
    Sentence,
    single_line,
    truncate_tokens,
)
from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.ask.retrieve.names.trace import write_walk
from gsw_graph.ask.retrieve.names.walk import rank_passages
from gsw_graph.ask.retrieve.strategies.baselines import DENSE
from gsw_graph.ask.retrieve.strategies.linked import LINKED, fetch_passages, rerank_passages
from gsw_graph.ask.retrieve.triples import MOST, Triple, ask_triples
from gsw_graph.ask.strategy import Query, RetrievalResult, Strategy
from gsw_graph.concurrency import Once
from gsw_graph.errors import InvalidReplyError
from gsw_graph.model.results import FoundRun, RunEdge
from gsw_graph.models.chat.request import estimate
from gsw_graph.store import codebook, questions
from gsw_graph.store.vectors import unpack_vectors
from gsw_graph.text.names import normalise
from gsw_graph.text.words import CONNECTORS, FUNCTION_WORDS, WORD
from gsw_graph.values import single_spaced, unique

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from gsw_graph.ask.plan import Plan
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.recipes import FineRecipe, PrunedRecipe
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.codebook import RunsAround, StoredEdge
    from gsw_graph.store.questions import CachedQuestion

    Vectors: TypeAlias = NDArray[np.float32]
    Scores: TypeAlias = NDArray[np.float64]
    VectorOf: TypeAlias = dict[str, Vectors]
    Channels: TypeAlias = "dict[str, list[ScoredRun]]"
    Earlier: TypeAlias = list[CachedQuestion]

FORBIDDEN = "Neo.ClientError.Security.Forbidden"
PASSAGE = 200  # tokens of a passage that is read below the runs
_BOOKS = 4  # codebooks of whole memories that are kept
_REFERENCE = re.compile(r"#\d+")

_WHOLE: Once[tuple[object, ...], Codebook] = Once(_BOOKS)


class Codebook:
    """Hold the runs around a question with their edges and symbols.

    Merged names are one name: no edge occurs twice, and no edge leads from a name to itself (section 2.7).

    Attributes:
        runs: Ids. `lines`: of each run its edges in the order of the text, one for each statement that an
            edge is based on or, with `triples`, one an edge. `vectors`: unit vectors of the lines by run, of
            triples after `embed`.
        concepts: Concepts by id, an alias by its canonical id. `vector_of`: their unit vectors.
    """

    def __init__(self, part: RunsAround, *, triples: bool = False) -> None:
        self.concepts = {concept.canonical: concept for concept in part.concepts}
        self.concepts |= {concept.id: concept for concept in part.concepts}
        self.vector_of = _unit_vectors({id_: concept.vector for id_, concept in self.concepts.items()})
        self._relations = _unit_vectors(part.relations)
        self._triples = triples
        self._embedded: VectorOf = {}  # by line
        edges = []
        for edge in sorted(part.edges, key=attrgetter("run", "position", "statement")):
            concepts = {edge.subject, edge.object}
            if edge.relation in self._relations and concepts <= self.concepts.keys():
                edges.append(edge)
        self._set_edges(edges)
        if not triples:
            for number, lines in enumerate(self.lines):
                self.vectors[number] = _unit([edge.vector for edge in lines])

    def within(self, sees: Callable[[str], bool]) -> Codebook:
        """Return the part that is based on passages that are seen. Vectors of lines are shared with it."""
        edges = [edge for edge in self._edges if sees(edge.passage)]
        part = copy(self)
        part._set_edges(edges)
        ends: set[str] = set()
        for edge in edges:
            ends.update((edge.subject, edge.object))
        ends |= {self.concepts[end].canonical for end in ends}
        part.vector_of = {id_: self.vector_of[id_] for id_ in ends}
        return part

    def _set_edges(self, edges: list[StoredEdge]) -> None:
        self._edges = edges
        by_run: dict[str, list[StoredEdge]] = {}
        for edge in map(self._canonical, edges):
            lines = by_run.setdefault(edge.run, [])
            is_there = self._triples and lines and lines[-1].position == edge.position
            if edge.subject != edge.object and not is_there:
                lines.append(edge)
        self.runs = [run for run, lines in by_run.items() if lines]
        self.lines = [lines for lines in by_run.values() if lines]
        self.vectors: dict[int, Vectors] = {}

    def _canonical(self, edge: StoredEdge) -> StoredEdge:
        subject = self.concepts[edge.subject].canonical
        object_ = self.concepts[edge.object].canonical
        if (subject, object_) == (edge.subject, edge.object):
            return edge
        number = codebook.edge_number(subject, edge.relation, object_)
        return replace(edge, subject=subject, object=object_, number=number)

    def embed(self, runs: Sequence[int], encode: Callable[[list[str]], Vectors]) -> None:
        """Embed the edges of some runs, each as a line of its subject, relation and object (A.3)."""
        lines_of = {run: [*map(self._line, self.lines[run])] for run in runs if run not in self.vectors}
        new = sorted(set().union(*lines_of.values()) - self._embedded.keys())
        if new:
            self._embedded.update(zip(new, encode(new), strict=True))
        for run, lines in lines_of.items():
            self.vectors[run] = np.stack([self._embedded[line] for line in lines])

    def _line(self, edge: StoredEdge) -> str:
        return f"{self.concepts[edge.subject].name} {edge.relation} {self.concepts[edge.object].name}"

    def coarse(self, question: QueryVectors, recipe: PrunedRecipe) -> list[int]:
        """Return the `recipe.shortlist` best runs by w_ent * the largest cosine between concepts of the
        question and of the run + w_rel * the same for relations. A negative cosine counts 0 (A.3)."""
        near_concept = _best_cosines(self.vector_of, question.concepts)
        near_relation = _best_cosines(self._relations, question.relations)
        scores = []
        for edges in self.lines:
            concept = max(max(near_concept[edge.subject], near_concept[edge.object]) for edge in edges)
            relation = max(near_relation[edge.relation] for edge in edges)
            scores.append(recipe.concept_weight * concept + recipe.relation_weight * relation)
        return sorted(range(len(scores)), key=lambda run: -scores[run])[: recipe.shortlist]

    def in_passages(self, passages: Sequence[str]) -> list[int]:
        """Return the runs that occur in some passages."""
        found = {edge.run for edges in self.lines for edge in edges if edge.passage in passages}
        return [number for number, run in enumerate(self.runs) if run in found]

    def edges(self, run: int) -> list[RunEdge]:
        """Return the edges of a run as people see them, each once."""
        edges: dict[int, RunEdge] = {}
        for edge in self.lines[run]:
            subject = single_line(self.concepts[edge.subject].name)
            object_ = single_line(self.concepts[edge.object].name)
            shown = RunEdge(edge.number, subject, edge.relation, object_, edge.statement, edge.passage)
            edges.setdefault(edge.number, shown)
        return list(edges.values())


@dataclass(frozen=True)
class QueryVectors:
    """Hold unit vectors (n, dimension) of the concepts, the relations and the lines of a question."""

    concepts: Vectors
    relations: Vectors
    lines: Vectors


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """Hold a run by number, its fine score, its edge nearest to the question, and the cosine of that edge."""

    run: int
    score: float
    edge: StoredEdge
    cosine: float


def lines_of(question: str, plan: Plan | None) -> list[str]:
    """Return the sub-questions of a plan without its references, else the question."""
    lines: list[str] = []
    for level in plan.levels() if plan else ():
        lines += (single_spaced(_REFERENCE.sub(" ", step.question)) for step in level)
    return list(filter(None, lines))[:MOST] or [question]


def query_vectors(
    context: RetrievalContext, book: Codebook, question: str, lines: Sequence[str]
) -> QueryVectors | None:
    """Return the symbols of a question; None without a known name and a content word. Vectors of the question
    and of its linked names stand for concepts, vectors of its lines for relations.

    Single names and the words between them found no more than the lines do, in twice the time
    (docs/pruned.md).
    """
    linked = link(mentions(question), book.vector_of)
    words = (word[0].casefold() for word in WORD.finditer(question))
    if not linked and all(word in FUNCTION_WORDS | CONNECTORS for word in words):
        return None
    vectors = context.vectors([question, *lines])
    of_lines = np.stack([vectors[line] for line in lines])
    of_concepts = [book.vector_of[mention.key] for mention in linked]
    return QueryVectors(np.stack([vectors[question], *of_concepts]), of_lines, of_lines)


def triple_vectors(context: RetrievalContext, triples: Sequence[Triple]) -> QueryVectors:
    """Return the symbols and lines of the triples of a question, embedded as in the codebook."""
    encode = context.text_vectors
    names = [normalise(name) for triple in triples for name in (triple.subject, triple.object)]
    relations = [triple.relation.casefold() for triple in triples]
    return QueryVectors(encode(names), encode(relations), encode([*map(" ".join, triples)]))


def rank_runs(
    book: Codebook, runs: list[int], question: QueryVectors, recipe: PrunedRecipe
) -> list[ScoredRun]:
    """Return the `recipe.runs` best of some runs by their fine score."""
    if not runs:
        return []
    runs = sorted(runs)
    longest = max(len(book.lines[run]) for run in runs)
    cosines = np.full((len(runs), len(question.lines), longest), -np.inf)
    whole = np.zeros(len(runs))
    middle = mean_vector(question.lines)
    for number, run in enumerate(runs):
        vectors = book.vectors[run]
        cosines[number, :, : len(vectors)] = question.lines @ vectors.T
        whole[number] = mean_vector(vectors) @ middle
    scores = fine_scores(cosines, whole, recipe.fine)
    ranked = []
    for number in np.argsort(-scores, kind="stable")[: recipe.runs]:
        run = runs[number]
        nearest = cosines[number].max(axis=0)
        best = nearest.argmax()
        edge = book.lines[run][best]
        ranked.append(ScoredRun(run, float(scores[number]), edge, float(nearest[best])))
    return ranked


def fine_scores(raw: Scores, whole: Scores, recipe: FineRecipe) -> Scores:
    """Return the fine score of each run: five terms over cosines (A.3).

    Thresholds are on raw cosines, as in the paper; the public code divides the cosines by the number of
    question lines first, so that its one-to-one term never counts for three lines or more. Two more
    departures: the one-to-one term is the best matching instead of a greedy one, and a negative cosine of the
    whole run counts as 0, so that a larger cosine never makes a score smaller.

    Args:
        raw: (runs, question lines, run lines), the cosines S; -inf if a run has fewer lines.
        whole: (runs,), the cosine of the question with the run as a whole.
        recipe: Weights and thresholds.
    """
    runs, asked, _ = raw.shape
    lines = np.isfinite(raw[:, 0]).sum(axis=1)
    size = np.maximum(asked * lines, 1)
    ordered = -np.sort(-raw.reshape(runs, -1), axis=1)
    top = ordered[:, : recipe.top]
    used = np.minimum(size, recipe.top)
    mean = np.where(np.isfinite(top), top, 0.0).sum(axis=1) / used
    covered = (raw.max(axis=2) >= recipe.cover).mean(axis=1)
    pairs = _sigmoid((raw - recipe.pair) / recipe.pair_scale).sum(axis=(1, 2))
    above = np.maximum(whole, 0.0)
    gate = _sigmoid((above - recipe.gate) / recipe.gate_scale)
    gate *= above / np.sqrt(np.maximum(lines, 1))
    scores: Scores = recipe.top_weight * mean / asked
    scores += recipe.cover_weight * covered
    scores += recipe.pair_weight * np.log1p(pairs / np.sqrt(size))
    scores += recipe.match_weight * matched(raw, recipe.match)
    scores += recipe.gate_weight * gate
    return scores


def matched(raw: Scores, least: float) -> Scores:
    """Return (runs,): the largest sum / sqrt(number) of cosines over one-to-one matchings of question lines
    and run lines. A cosine must be at least `least`; a run without a match has 0. Time grows as 2^lines of
    the question, which has few."""
    runs, asked, lines = raw.shape
    cosines = np.where(raw >= least, raw, -np.inf)
    sets = np.arange(2**asked)
    best = np.full((runs, len(sets)), -np.inf)
    best[:, 0] = 0.0
    for line in range(lines):
        grown = best.copy()
        for number in range(asked):
            with_it = sets[(sets >> number) & 1 == 1]
            joined = best[:, with_it - 2**number] + cosines[:, number, line, None]
            grown[:, with_it] = np.maximum(grown[:, with_it], joined)
        best = grown
    sizes = np.array([bits.bit_count() for bits in range(len(sets))])
    best /= np.sqrt(np.maximum(sizes, 1))
    return np.asarray(best.max(axis=1))


def select(book: Codebook, scored: list[ScoredRun], choice: str, same: float) -> list[ScoredRun]:
    """Return `all` runs, `none`, or one of each group that says the same (`unique`; section 2.5).

    The paper has the medoid of each cluster of run vectors. Here a run joins the cluster of the best run near
    it, not of any member, so that a chain of similar runs does not join different ones. The medoid takes the
    place of the best run.
    """
    if choice == "all" or not scored:
        return scored
    if choice == "none":
        return []
    vectors = np.stack([mean_vector(book.vectors[match.run]) for match in scored])
    cosines = vectors @ vectors.T
    clusters: dict[int, list[int]] = {}
    for number in range(len(scored)):
        leader = next((first for first in clusters if cosines[first, number] >= same), number)
        clusters.setdefault(leader, []).append(number)
    medoids = []
    for members in clusters.values():
        nearness = cosines[np.ix_(members, members)].sum(axis=1).round(5)
        medoids.append(scored[members[nearness.argmax()]])
    return medoids


def mean_vector(vectors: Vectors) -> Vectors:
    """Return the mean of some vectors, of length 1."""
    total = vectors.sum(axis=0)
    return np.asarray(total / np.maximum(np.linalg.norm(total), 1e-12), np.float32)


def _best_cosines(vectors: VectorOf, queries: Vectors) -> dict[str, float]:
    """Return the largest cosine of each vector with any of some others, at least 0."""
    cosines = queries @ np.stack(list(vectors.values())).T
    best = cosines.max(axis=0, initial=0.0)
    return dict(zip(vectors, best.tolist(), strict=True))


def _unit_vectors(packed: dict[str, bytes]) -> VectorOf:
    return dict(zip(packed, _unit(list(packed.values())), strict=True))


def _unit(packed: list[bytes]) -> Vectors:
    """Return packed vectors, of length 1."""
    vectors = unpack_vectors(packed)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12))


def _sigmoid(x: Scores) -> Scores:
    return 1 / (1 + np.exp(-x))


def search_runs(context: RetrievalContext, query: Query, recipe: PrunedRecipe) -> RetrievalResult:
    """Find passages from the runs of a question; by `linked` if the memory has no runs, by `dense` if the
    question has no symbols."""
    question = query.question
    triples = _triples(context, query) if recipe.symbols else []
    lines = lines_of(question, query.plan)
    vector = context.vectors([question, *lines])[question]  # with the lines in one batch
    earlier: Earlier = []
    if context.options.question_cache and query.answer:
        earlier = _earlier(context, vector.tolist(), recipe)
    cited = unique(quote.passage.id for old in earlier for quote in old.quotes)
    try:
        book = _codebook(context, [question, *lines], cited, recipe)
    except ClientError as error:
        if error.code != FORBIDDEN:
            raise
        return _instead(context, query, LINKED, "runs are missing, and who asks may not write them")
    if not book.runs:
        return _instead(context, query, LINKED, "the memory holds nothing that runs are made of")
    symbols = triple_vectors(context, triples) if triples else query_vectors(context, book, question, lines)
    if symbols is None:
        return _instead(context, query, DENSE, "the question has no symbols: it names and relates nothing")
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    queries = [(question, near)]
    shortlist, of_answers = book.coarse(symbols, recipe), book.in_passages(cited)
    book.embed([*shortlist, *of_answers], context.text_vectors)
    with context.clock("rank"):
        facts = rank_runs(book, shortlist, symbols, recipe)
        answers = rank_runs(book, of_answers, symbols, recipe)
        channels = {
            "answers": select(book, answers, recipe.answers, recipe.same),
            "facts": select(book, facts, recipe.facts, recipe.same),
        }
        queries += ((question, _passages(runs)) for runs in channels.values() if runs)
        bridges = _bridges(context, book, question, channels, recipe)
    bridge_names = [book.concepts[id_].name for id_ in bridges]
    if bridges:
        further = " ".join([question, *bridge_names])
        middle = np.mean([book.vector_of[id_] for id_ in bridges], axis=0)
        toward = vector + recipe.toward * middle
        assert context.neighbourhood is not None  # noqa: S101 - fetched above
        (further_near,) = context.neighbourhood.fetch(
            context, {further: toward.tolist()}, recipe.walk, recipe.nearest
        )
        graph = context.neighbourhood.graph
        queries.append((further, further_near))
    trace = context.trace
    top_k = max(query.k, recipe.rerank.passages)
    with context.clock("rank"):
        result = rank_passages(graph, queries, top_k, recipe.walk, trace=trace is not None)
    passages = fetch_passages(context, result, top_k)
    ranked, sure = rerank_passages(
        context, graph, question, result.mentions, near, passages, recipe.rerank, query.k
    )
    if trace is not None:
        write_walk(context, trace, result, ranked, twice=bool(bridges))
        trace.bridges = bridge_names
        trace.runs = []
        for name, runs in channels.items():
            for run in runs:
                trace.runs.append(FoundRun(book.runs[run.run], name, run.score, book.edges(run.run)))
    items = None
    if context.llm is not None and query.answer:
        items = _items(context, book, channels, earlier, ranked, recipe)
    return RetrievalResult(ranked, items=items, confidence=sure)


def _triples(context: RetrievalContext, query: Query) -> list[Triple]:
    """Return the triples of a question, if a language model is set and nobody gave a plan; none, and a note,
    if its reply cannot be used."""
    if context.llm is None or query.plan is not None:
        return []
    try:
        return ask_triples(context, query.question)
    except InvalidReplyError as error:
        context.notes.append(f"the question was not taken apart in triples: {error}")
        return []


def _items(
    context: RetrievalContext,
    book: Codebook,
    channels: Channels,
    earlier: Earlier,
    ranked: list[RankedPassage],
    recipe: PrunedRecipe,
) -> list[EvidenceLine]:
    """Return what the language model reads (section 2.6): earlier questions, the runs of each channel, no
    edge twice and as many as fit in `recipe.tokens`, and the first passages; each under a number that leads
    to its passage."""
    items = []
    for old in _questions(earlier, recipe.questions):
        sentence = Sentence(single_line(old.question), single_line(old.answer))
        items.append(_item("questions", old.quotes[0].passage, [sentence]))
    runs = [(channel, book.edges(run.run)) for channel, some in channels.items() for run in some]
    ids = sorted({edge.passage for _, edges in runs for edge in edges})
    with context.clock("database"):
        found = context.reader.passages(ids, [0.0] * len(ids))
    passages = {passage.id: passage for passage in found}
    used: set[int] = set()
    budget = recipe.tokens
    for channel, edges in runs:
        by_passage: dict[str, list[Fact]] = defaultdict(list)
        for edge in edges:
            fact = Edge(edge.subject, single_line(edge.relation), edge.object)
            size = estimate(" ".join(fact))
            if size <= budget and edge.number not in used and edge.passage in passages:
                used.add(edge.number)
                by_passage[edge.passage].append(fact)
                budget -= size
        items += (_item(channel, passages[id_], facts) for id_, facts in by_passage.items())
    for passage in ranked[: recipe.passages]:
        text = truncate_tokens(single_line(passage.text.removeprefix(f"{passage.title}\n")), PASSAGE)
        items.append(_item("passages", passage, [Sentence(single_line(passage.title), text)]))
    return items


def _item(channel: str, passage: RankedPassage, facts: list[Fact]) -> EvidenceLine:
    text = "; ".join(map(" ".join, facts))
    return EvidenceLine(text, passage, run=FactGroup(tuple(facts), channel))


def _questions(earlier: Earlier, choice: str) -> Earlier:
    """Return `all` earlier questions, `none`, or one for each answer (`unique`)."""
    if choice == "none":
        return []
    chosen: dict[str, CachedQuestion] = {}
    for old in earlier:
        chosen.setdefault(old.id if choice == "all" else normalise(old.answer), old)
    return list(chosen.values())


def _codebook(
    context: RetrievalContext, lines: list[str], cited: list[str], recipe: PrunedRecipe
) -> Codebook:
    """Fetch the runs around a question or, for `recipe.symbols`, return all that it may see. Those that are
    missing in the memory are built first."""
    if recipe.symbols:
        return _whole(context)
    reader = context.reader
    embeddings = [vector.tolist() for vector in context.vectors(lines).values()]
    keys = sorted({mention.key for mention in mentions(lines[0])})
    limits = {"near": recipe.near, "common": recipe.common, "most": recipe.candidates}
    fetch = partial(codebook.around, reader, embeddings, keys, cited, **limits)
    with context.clock("database"):
        part = fetch()
        if not part.complete:
            context.build_runs()
            part = fetch()
        return Codebook(part)


def _whole(context: RetrievalContext) -> Codebook:
    """Return all runs that a question may see. They are read once for a version of the memory, whoever asks;
    a scope is cut from them."""
    reader = context.reader

    def read() -> Codebook:
        if not codebook.is_complete(reader):
            context.build_runs()
        return Codebook(codebook.every(reader), triples=True)

    with context.clock("database"):
        book = _WHOLE.get(reader.stamp(), read, partial(context.note, None))
        return book if reader.scope is None else book.within(reader.sees)


def _earlier(context: RetrievalContext, vector: list[float], recipe: PrunedRecipe) -> Earlier:
    """Return similar earlier questions, without rejected answers and answers that cite deleted evidence."""
    with context.clock("database"):
        earlier = questions.near(context.reader, vector, recipe.near_questions, limited=True)
    kept = []
    for old in earlier:
        usable = old.cosine >= recipe.like and old.is_citable and old.verdict != "rejected"
        if usable and all(context.reader.sees(quote.passage.id) for quote in old.quotes):
            kept.append(old)
    return kept


def _instead(context: RetrievalContext, query: Query, other: Strategy[Any], why: str) -> RetrievalResult:
    return replace(other.run(context, query, other.recipe), ran=other.name, why=why)


def _passages(runs: list[ScoredRun]) -> list[tuple[str, float]]:
    """Return the passages of the runs' nearest edges, best first, each with the cosine of its best."""
    best: dict[str, float] = {}
    for run in runs:
        passage = run.edge.passage
        best[passage] = max(best.get(passage, -1.0), run.cosine)
    return sorted(best.items(), key=lambda entry: -entry[1])


def _bridges(
    context: RetrievalContext, book: Codebook, question: str, channels: Channels, recipe: PrunedRecipe
) -> list[str]:
    """Return the first concepts of the nearest edges of the best runs that the question does not name, and
    that another passage has too."""
    padded = f" {normalise(question)} "
    frequency: dict[str, int] = {}
    for run in (run for runs in channels.values() for run in runs):
        for id_ in (run.edge.object, run.edge.subject):
            concept = book.concepts.get(book.concepts[id_].canonical)
            if concept and f" {concept.canonical} " not in padded:
                frequency[concept.canonical] = concept.passages
    if recipe.symbols and context.reader.scope is not None:
        frequency |= codebook.frequencies(context.reader, list(frequency))
    bridges = [id_ for id_, passages in frequency.items() if passages > 1]
    return bridges[: recipe.names]
