"""The search of AutoPrunedRetriever: runs of edges near a question by their symbols, then by what their
edges say. docs/pruned.md has the equations and what departs from them.

Of the paper: the coarse score (section 2.4, A.3), the five terms of the fine score (A.3), and the choice of
runs by channel (2.5). The database gives the runs that come into question: the paper compares all runs
there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.ask.answer.evidence import flat
from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.model.results import RunEdge
from gsw_graph.store.codebook import edge_number
from gsw_graph.text.words import CONNECTORS, FUNCTION_WORDS, WORD, unpack_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.plan import Plan
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.recipes import FineRecipe, PrunedRecipe
    from gsw_graph.store.codebook import RunsAround, StoredEdge

_LINES = 4  # of a question: what one-to-one matching costs doubles with each
_REFERENCE = re.compile(r"#\d+")


class Codebook:
    """The runs around a question with their edges and symbols.

    Names that were merged are one: no edge is there twice, and none from a name to itself (section 2.7).

    Attributes:
        runs: Ids. `lines`: of each run its edges, one for each statement that an edge is based on, in the
            order of the text, with unit `vectors` of the statements.
        concepts: By id, of an alias the canonical one's; `vector_of`: their unit vectors.
    """

    def __init__(self, part: RunsAround) -> None:
        self.concepts = {concept.canonical: concept for concept in part.concepts}
        self.concepts |= {concept.id: concept for concept in part.concepts}
        texts = (
            edge
            for edge in part.edges
            if edge.relation in part.relations and {edge.subject, edge.object} <= self.concepts.keys()
        )
        edges = [edge for edge in map(self._canonical, texts) if edge.subject != edge.object]
        edges.sort(key=lambda edge: (edge.run, edge.position, edge.statement))
        lines: dict[str, list[StoredEdge]] = {}
        for edge in edges:
            lines.setdefault(edge.run, []).append(edge)
        self.runs, self.lines = list(lines), list(lines.values())
        self.vectors = [_unit([edge.vector for edge in run]) for run in self.lines]
        ids = sorted(self.concepts)
        self.vector_of = dict(zip(ids, _unit([self.concepts[id_].vector for id_ in ids]), strict=True))
        kinds = sorted(part.relations)
        self._relations = dict(zip(kinds, _unit([part.relations[name] for name in kinds]), strict=True))

    def _canonical(self, edge: StoredEdge) -> StoredEdge:
        subject, object_ = (self.concepts[id_].canonical for id_ in (edge.subject, edge.object))
        if (subject, object_) == (edge.subject, edge.object):
            return edge
        number = edge_number(subject, edge.relation, object_)
        return replace(edge, subject=subject, object=object_, number=number)

    def coarse(self, question: QueryVectors, recipe: PrunedRecipe) -> list[int]:
        """Return the `recipe.shortlist` best runs: w_ent * the largest cosine between a concept of the
        question and one of the run + w_rel * the same of relations; what is below 0 counts 0 (A.3)."""
        near_concept = _best_cosines(self.vector_of, question.concepts)
        near_relation = _best_cosines(self._relations, question.lines)
        scores = [
            recipe.concept_weight * max(max(near_concept[e.subject], near_concept[e.object]) for e in run)
            + recipe.relation_weight * max(near_relation[edge.relation] for edge in run)
            for run in self.lines
        ]
        return sorted(range(len(scores)), key=lambda run: (-scores[run], run))[: recipe.shortlist]

    def in_passages(self, passages: Sequence[str]) -> list[int]:
        """Return the runs that occur in some passages."""
        passage_ids = set(passages)
        return [n for n, run in enumerate(self.lines) if any(edge.passage in passage_ids for edge in run)]

    def edges(self, run: int) -> list[RunEdge]:
        """Return the edges of a run as people see them, each once."""
        edges: dict[int, RunEdge] = {}
        for edge in self.lines[run]:
            subject, object_ = (flat(self.concepts[id_].name) for id_ in (edge.subject, edge.object))
            place = edge.statement, edge.passage
            edges.setdefault(edge.number, RunEdge(edge.number, subject, edge.relation, object_, *place))
        return list(edges.values())


@dataclass(frozen=True)
class QueryVectors:
    """Unit vectors (n, dimension) of what a question names, and of its lines, which are its relations too."""

    concepts: NDArray[np.float32]
    lines: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run by number with its fine score, the edge that is nearest to the question, and its cosine."""

    run: int
    score: float
    edge: StoredEdge
    cosine: float


def lines_of(question: str, plan: Plan | None) -> list[str]:
    """Return the sub-questions of a plan without its references, else the question."""
    steps = [step.question for level in plan.levels() for step in level] if plan is not None else []
    lines = [line for step in steps if (line := " ".join(_REFERENCE.sub(" ", step).split()))]
    return lines[:_LINES] or [question]


def query_vectors(
    context: Context, book: Codebook, question: str, lines: Sequence[str]
) -> QueryVectors | None:
    """Return the symbols of a question, None where it names and relates nothing: the names that are
    concepts by the concepts' vectors, what is near the question as a whole, and for relations what is near
    its lines.

    The public code has another model take a question apart in triples, and finds nothing where that gives
    none. Names and the words between them embedded one by one found as much as the lines do and took twice
    the time (docs/pruned.md).
    """
    linked = link(mentions(question), book.vector_of)
    words = (word[0].casefold() for word in WORD.finditer(question))
    if not linked and all(word in FUNCTION_WORDS | CONNECTORS for word in words):
        return None
    vectors = context.vectors([question, *lines])
    of_lines = np.stack([vectors[line] for line in lines])
    concepts = np.stack([vectors[question], *(book.vector_of[mention.key] for mention in linked)])
    return QueryVectors(concepts, of_lines)


def rank_runs(
    book: Codebook, runs: Sequence[int], question: QueryVectors, recipe: PrunedRecipe
) -> list[ScoredRun]:
    """Return the `recipe.runs` best of some runs by their fine score."""
    if not runs:
        return []
    longest = max(len(book.lines[run]) for run in runs)
    similar = np.full((len(runs), len(question.lines), longest), -np.inf, np.float64)
    middle = mean_vector(question.lines)
    whole = np.zeros(len(runs), np.float64)
    for n, run in enumerate(runs):
        vectors = book.vectors[run]
        similar[n, :, : len(vectors)] = question.lines @ vectors.T
        whole[n] = mean_vector(vectors) @ middle
    scores = fine_scores(similar, whole, recipe.fine)
    nearest = similar.max(axis=1)
    order = sorted(range(len(runs)), key=lambda n: (-scores[n], runs[n]))[: recipe.runs]
    best = nearest.argmax(axis=1)
    return [
        ScoredRun(runs[n], float(scores[n]), book.lines[runs[n]][best[n]], float(nearest[n, best[n]]))
        for n in order
    ]


def fine_scores(
    raw: NDArray[np.float64], whole: NDArray[np.float64], recipe: FineRecipe
) -> NDArray[np.float64]:
    """Return the fine score of each run: five terms over cosines (A.3).

    Thresholds are on raw cosines, as in the paper; the public code divides these by the number of the
    question's lines first, so that its one-to-one term can never count for three lines or more. Two more
    departures: the one-to-one term is the best matching instead of a greedy one, and a negative cosine of
    the whole counts as 0, so that no larger cosine ever makes a score smaller.

    Args:
        raw: (runs, question lines, run lines), the cosines S; -inf where a run has fewer lines.
        whole: (runs,), the cosine of the question with the run as a whole.
        recipe: Weights and thresholds.
    """
    lines = np.isfinite(raw[:, 0]).sum(axis=1)
    size = np.maximum(raw.shape[1] * lines, 1)
    top = -np.sort(-raw.reshape(len(raw), -1), axis=1)[:, : recipe.top]
    used = np.minimum(size, recipe.top)
    mean = np.where(np.arange(top.shape[1]) < used[:, None], top, 0.0).sum(axis=1) / used
    above = np.maximum(whole, 0.0)
    gate = _sigmoid((above - recipe.gate) / recipe.gate_scale) * above / np.sqrt(np.maximum(lines, 1))
    pairs = _sigmoid((raw - recipe.pair) / recipe.pair_scale).sum(axis=(1, 2))
    scores: NDArray[np.float64] = (
        recipe.top_weight * mean / raw.shape[1]
        + recipe.cover_weight * (raw.max(axis=2) >= recipe.cover).mean(axis=1)
        + recipe.pair_weight * np.log1p(pairs / np.sqrt(size))
        + recipe.match_weight * matched(raw, recipe.match)
        + recipe.gate_weight * gate
    )
    return scores


def matched(raw: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Return (runs,): the largest sum / sqrt(number) over matchings of question lines and run lines, none
    twice, of cosines of at least `least`; 0 without one. It costs 2^lines of the question, which are
    few."""
    runs, questions, lines = raw.shape
    sets = np.arange(2**questions)
    best = np.full((runs, len(sets)), -np.inf)
    best[:, 0] = 0.0
    for line in range(lines):
        grown = best.copy()
        for asked_line in range(questions):
            with_it = sets[(sets >> asked_line) & 1 == 1]
            cosine = np.where(raw[:, asked_line, line] >= least, raw[:, asked_line, line], -np.inf)
            without = best[:, with_it ^ (1 << asked_line)]
            grown[:, with_it] = np.maximum(grown[:, with_it], without + cosine[:, None])
        best = grown
    matches = np.array([int(bits).bit_count() for bits in sets])
    scores: NDArray[np.float64] = np.max(best / np.sqrt(np.maximum(matches, 1)), axis=1)
    return scores


def select(book: Codebook, scored: list[ScoredRun], choice: str, same: float) -> list[ScoredRun]:
    """Return `all` runs, `none`, or of those that say the same one (`unique`; section 2.5).

    The paper has the medoid of each cluster of run vectors. Here a run joins the cluster of the best run
    that it is near to, not of any member, so that no chain of likenesses joins what is different; the
    medoid takes the place of the best.
    """
    if choice == "all" or not scored:
        return scored
    if choice == "none":
        return []
    vectors = np.stack([mean_vector(book.vectors[match.run]) for match in scored])
    cosines = vectors @ vectors.T
    clusters: dict[int, list[int]] = {}
    for n in range(len(scored)):
        leader = next((first for first in clusters if cosines[first, n] >= same), n)
        clusters.setdefault(leader, []).append(n)
    medoids = (
        members[int(np.argmax(cosines[np.ix_(members, members)].sum(axis=1).round(5)))]
        for members in clusters.values()
    )
    return [scored[n] for n in medoids]


def mean_vector(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of some vectors, of length 1."""
    total = vectors.sum(axis=0)
    mean: NDArray[np.float32] = total / np.float32(max(float(np.linalg.norm(total)), 1e-12))
    return mean


def _best_cosines(vectors: dict[str, NDArray[np.float32]], queries: NDArray[np.float32]) -> dict[str, float]:
    """Return the largest cosine of each vector with any of some others, at least 0."""
    cosines = np.maximum((queries @ np.stack(list(vectors.values())).T).max(axis=0), 0.0)
    return dict(zip(vectors, cosines.tolist(), strict=True))


def _unit(packed: list[bytes]) -> NDArray[np.float32]:
    """Return packed vectors, of length 1."""
    vectors = unpack_vectors(packed)
    unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))
