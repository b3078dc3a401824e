"""The graph of propositions around a question, and the search of PropRAG over it (Wang 2025): a wide walk,
beam search for paths of propositions in what it found, a narrow walk from what they say.

Follows the authors' code, or the paper, by its `PropositionRecipe`; docs/proprag.md has what departs from
both and why.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from gsw_graph.ask.retrieve.names.walk import Seeds, walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.names.graph import Near
    from gsw_graph.ask.retrieve.recipes import EdgeWeights, PropositionRecipe

PassagePropositions = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A passage, its propositions, and the concepts that each mentions."""
Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]
VectorsOf = Callable[[list[str]], "Mapping[str, NDArray[np.float32]]"]
EncodePaths = Callable[[Sequence[Sequence[str]]], "NDArray[np.float32]"]

CHANCE = 1e-4  # share of random pairs of names above the threshold of similarity; .80 for all-MiniLM-L6-v2
FALLBACK = 0.8  # the paper's threshold, where the names are too few to see that share
NEIGHBOURS = 100  # similar names of one name (the code's 101)
_SAMPLE = 2000  # names whose pairs show the threshold
_FEWEST = 500
_BLOCK = 1024
_POOL = 100  # best extensions of a path that compete for the beam
_BELOW = 0.5  # passages that stage 2 does not reach stay below those that it does, in the order of stage 1
_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class PropositionGraph:
    """Passages, concepts and propositions by number.

    Attributes:
        passages: Their ids, ascending; and `concepts`, ascending; and `propositions`, passage by passage.
        mentions: (propositions, concepts), 1 where one mentions the other.
        home: The passage of each proposition, ascending.
        similar: (concepts, concepts), symmetric, the cosine of similar names, 0 elsewhere.
    """

    passages: list[str]
    concepts: list[str]
    propositions: list[str]
    mentions: sparse.csr_array
    home: NDArray[np.int32]
    similar: sparse.csr_array

    @cached_property
    def contains(self) -> sparse.csr_array:
        """Return (passages, concepts): 1 where a proposition of the passage mentions the concept."""
        ones, numbers = np.ones(len(self.home), np.float32), np.arange(len(self.home))
        size = (len(self.passages), len(self.propositions))
        counts = sparse.csr_array(sparse.csr_array((ones, (self.home, numbers)), shape=size) @ self.mentions)
        counts.data[:] = 1
        return counts

    def edges(self, weights: EdgeWeights) -> sparse.csr_array:
        """Return all edges in one symmetric matrix over the nodes: the passages, then the concepts."""
        together = sparse.csr_array(self.mentions.T @ self.mentions)
        together.setdiag(0)
        together.eliminate_zeros()
        aside = np.float32(weights.clique) * together + np.float32(weights.synonymy) * self.similar
        up = np.float32(weights.containment) * self.contains
        return sparse.csr_array(
            sparse.block_array([[None, up], [up.T, aside]], format="csr", dtype=np.float32)
        )


def build(
    rows: Iterable[PassagePropositions], similar_to: Callable[[list[str]], sparse.csr_array] | None = None
) -> PropositionGraph:
    """Build a graph from rows of passages, sorted since engines give them in any order; similar_to: gives the
    cosines of similar names, where they are wanted."""
    ordered = [(passage, sorted(zip(ids, mentions, strict=True))) for passage, ids, mentions in sorted(rows)]
    passages = [passage for passage, _ in ordered]
    propositions = [id_ for _, facts in ordered for id_, _ in facts]
    home = [number for number, (_, facts) in enumerate(ordered) for _ in facts]
    mentioned = [sorted(set(concepts)) for _, facts in ordered for _, concepts in facts]
    concepts = sorted({concept for keys in mentioned for concept in keys})
    numbers = {concept: number for number, concept in enumerate(concepts)}
    column = np.array([numbers[concept] for keys in mentioned for concept in keys], dtype=np.int32)
    ends = np.cumsum([0, *map(len, mentioned)])
    ones = np.ones(len(column), np.float32)
    shape = (len(propositions), len(concepts))
    matrix = sparse.csr_array((ones, column, ends), shape=shape)
    similar = similar_to(concepts) if similar_to else _none_similar(len(concepts))
    return PropositionGraph(passages, concepts, propositions, matrix, np.array(home, dtype=np.int32), similar)


def similar_names(names: Sequence[str], encode: Encode, threshold: float = 0.0) -> sparse.csr_array:
    """Return (names, names), symmetric: the cosine of names of more than two letters that is above the
    threshold, of each name its NEIGHBOURS nearest and those whose nearest it is among.

    A threshold of 0 is the cosine that a share of CHANCE of the pairs exceeds, so that it fits any embedder.
    """
    rows, columns, cosines = [], [], []
    vectors = encode(names) if names else np.zeros((0, 1), np.float32)
    least = threshold or FALLBACK
    if not threshold and len(names) >= _FEWEST:
        sample = np.linspace(0, len(names) - 1, min(_SAMPLE, len(names))).astype(np.intp)
        pairs = (vectors[sample] @ vectors[sample].T)[np.triu_indices(len(sample), 1)]
        least = float(np.quantile(pairs, 1 - CHANCE))
    speaking = np.array([len(_LETTERS.sub("", name)) > 2 for name in names], dtype=bool)
    for begin in range(0, len(names), _BLOCK):
        block = vectors[begin : begin + _BLOCK] @ vectors.T
        block[~speaking[begin : begin + _BLOCK]] = 0
        block[:, ~speaking] = 0
        block[np.arange(len(block)), np.arange(begin, begin + len(block))] = 0
        if block.shape[1] > NEIGHBOURS:
            floor = np.partition(block, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS]
            block[block < floor[:, None]] = 0
        row, column = np.nonzero(block >= least)
        rows.append(row + begin)
        columns.append(column)
        cosines.append(block[row, column])
    if not rows:
        return _none_similar(0)
    ends = (np.concatenate(rows), np.concatenate(columns))
    one_way = sparse.csr_array((np.concatenate(cosines), ends), shape=(len(names), len(names)))
    return sparse.csr_array(one_way.maximum(one_way.T))


def _none_similar(names: int) -> sparse.csr_array:
    return sparse.csr_array(sparse.eye_array(names, dtype=np.float32, format="csr") * np.float32(0))


@dataclass(frozen=True, slots=True)
class Path:
    """Propositions in the order they were joined, by number, and the cosine of the whole with the
    question."""

    steps: tuple[int, ...]
    score: float


def beam_search(
    vectors: NDArray[np.float32],
    question: NDArray[np.float32],
    linked: NDArray[np.bool_],
    *,
    width: int,
    length: int,
    jumps: int = 0,
    coherence: float = -1.0,
    exact: int = 0,
    encode: Callable[[Sequence[tuple[int, ...]]], NDArray[np.float32]] | None = None,
    one_order: bool = True,
) -> tuple[list[Path], list[Path]]:
    """Search for paths of propositions that are near a question.

    Args:
        vectors: (propositions, dimension), of length 1.
        question: (dimension,), of length 1.
        linked: (propositions, propositions), whether one can follow the other.
        width: Paths of a length that are kept.
        length: Longest path.
        jumps: So many of the best propositions can follow any.
        coherence: Least cosine of a proposition with the one before.
        exact: Best paths of a length that score what `encode` gives for their text; the others, and all where
            there are no more than `width`, score the cosine of the mean of their vectors.
        encode: Vectors of paths.
        one_order: Whether the same propositions in another order are the same path, of which the first stays
            (as in the authors' code).

    Returns:
        The `width` best single propositions; and the paths of every length that were in a beam, best first.
    """
    if not len(vectors):
        return [], []
    alone = vectors @ question
    best = np.argsort(-alone, kind="stable")
    first = beam = [Path((int(n),), float(alone[n])) for n in best[:width]]
    every = list(beam)
    jump = np.zeros(len(vectors), dtype=bool)
    jump[best[:jumps]] = True
    visited: set[object] = set()
    for _ in range(1, length):
        grown: list[tuple[float, tuple[int, ...]]] = []
        for path in beam:
            steps = list(path.steps)
            allowed = (linked[steps[-1]] | jump) & (vectors @ vectors[steps[-1]] >= coherence)
            allowed[steps] = False
            nexts = np.flatnonzero(allowed)
            cosines = vectors @ vectors[steps].sum(axis=0)
            lengths = np.sqrt(np.maximum(cosines[steps].sum() + 2 * cosines[nexts] + 1, 1e-12))
            scores = (alone[steps].sum() + alone[nexts]) / lengths
            order = np.argsort(-scores, kind="stable")[:_POOL]
            for score, new in zip(scores[order].tolist(), nexts[order].tolist(), strict=True):
                key = frozenset((*steps, new)) if one_order else (*steps, new)
                if key not in visited:
                    visited.add(key)
                    grown.append((score, (*path.steps, new)))
        if not grown:
            break
        grown.sort(key=lambda entry: -entry[0])  # stable: of equal ones the first
        if encode is not None and exact and len(grown) > width:
            texts = [steps for _, steps in grown[:exact]]
            scored = zip((encode(texts) @ question).tolist(), texts, strict=True)
            grown = sorted(scored, key=lambda entry: -entry[0])
        beam = [Path(steps, score) for score, steps in grown[:width]]
        every += beam
    return first, sorted(every, key=lambda path: -path.score)


@dataclass(frozen=True, slots=True)
class PropositionResult:
    """What PropRAG found: passage ids with their scores, best first; seeds of the last walk, the heaviest
    first; the best paths, as proposition ids with the cosine of the path; and passages that it walked
    over."""

    passages: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    seeds: list[tuple[str, float]] = field(default_factory=list)
    paths: list[tuple[list[str], float]] = field(default_factory=list)
    walked: int = 0


def rank_passages(
    graph: PropositionGraph,
    vector: NDArray[np.float32],
    near: Near,
    facts: Near,
    k: int,
    recipe: PropositionRecipe,
    *,
    vectors_of: VectorsOf,
    encode: EncodePaths | None = None,
) -> PropositionResult:
    """Rank passages for a question by PropRAG.

    Args:
        graph: The whole, or the part around the question.
        vector: Of the question, length 1.
        near: Its nearest passages; those beyond count as no nearer than the last.
        facts: Its nearest propositions.
        k: Passages wanted.
        recipe: Constants.
        vectors_of: Gives vectors of propositions by id, of length 1. A proposition without a vector takes no
            part in the search: its document was replaced meanwhile.
        encode: Gives vectors of paths, each the ids of its propositions, for a recipe that has `exact` ones.
    """
    size = len(graph.passages)
    if not size:
        return PropositionResult()
    edges = graph.edges(recipe.weights)
    numbers = {passage: number for number, passage in enumerate(graph.passages)}
    cosines = {numbers[passage]: cosine for passage, cosine in near if passage in numbers}
    best, last = max(cosines.values(), default=1.0), min(cosines.values(), default=0.0)
    scaled = np.zeros(edges.shape[0], dtype=np.float32)
    scaled[list(cosines)] = (np.array(list(cosines.values())) - last) / max(best - last, 1e-9)
    of_facts = {fact: number for number, fact in enumerate(graph.propositions)}
    start = [Path((of_facts[fact],), cosine) for fact, cosine in facts if fact in of_facts]
    heads = _concepts(graph, start[: recipe.propositions])[: recipe.entities]
    reset = recipe.passage_weight * scaled
    reset[[size + concept for concept, _ in heads]] = 1.0
    if not reset.any():
        reset = scaled if scaled.any() else np.ones_like(scaled)
    wide = _walk(edges, reset, recipe.damping, recipe.steps)[:size]
    focus = np.sort(np.argsort(-wide, kind="stable")[: recipe.focus])

    inside = np.unique(np.concatenate([focus, edges[focus].indices]))
    concepts = inside[inside >= size] - size
    single, paths = _search(graph, vector, focus, concepts, recipe, vectors_of, encode)
    if recipe.first_stage:
        single = start[: recipe.propositions]
    place = {int(node): n for n, node in enumerate(inside)}
    seeds = {
        node: weight for node, weight in _from_paths(graph, single, paths, recipe).items() if node in place
    }
    reset = recipe.focus_passage_weight * scaled[inside]
    reset[[place[node] for node in seeds]] = list(seeds.values())
    final = wide.astype(np.float64)  # a small share of a small weight must not become nothing
    if reset.any():
        narrow = _walk(edges[inside][:, inside], reset, recipe.focus_damping, recipe.steps)
        reached = np.flatnonzero(narrow[: len(focus)])
        final *= _BELOW * narrow[narrow > 0].min()
        final[inside[reached]] = narrow[reached]
    ranked = np.argsort(-final, kind="stable")[: min(k, int(np.count_nonzero(final)))]
    whole = float(reset.sum()) or 1.0
    named = [(graph.concepts[node - size], weight / whole) for node, weight in seeds.items()]
    return PropositionResult(
        [graph.passages[n] for n in ranked],
        final[ranked].tolist(),
        sorted(named, key=lambda entry: (-entry[1], entry[0])),
        [([graph.propositions[n] for n in path.steps], path.score) for path in paths],
        size,
    )


def _walk(
    edges: sparse.csr_array, reset: NDArray[np.float32], damping: float, steps: int
) -> NDArray[np.float32]:
    seeds = Seeds((reset / reset.sum()).astype(np.float32), np.ones(len(reset), np.float32))
    mass = walk(edges, seeds, restart=1 - damping, steps=steps)
    whole: NDArray[np.float32] = mass / mass.sum()
    return whole


def _search(
    graph: PropositionGraph,
    vector: NDArray[np.float32],
    focus: NDArray[np.intp],
    concepts: NDArray[np.intp],
    recipe: PropositionRecipe,
    vectors_of: VectorsOf,
    encode: EncodePaths | None,
) -> tuple[list[Path], list[Path]]:
    """Return the best single propositions of some passages and the best paths over them. Two may follow each
    other by these concepts alone."""
    numbers = np.flatnonzero(np.isin(graph.home, focus)).tolist()
    vectors = vectors_of([graph.propositions[n] for n in numbers])
    candidates = np.array([n for n in numbers if graph.propositions[n] in vectors], dtype=np.intp)
    if not len(candidates):
        return [], []
    mentioned = graph.mentions[candidates][:, concepts]
    near = mentioned @ graph.similar[concepts][:, concepts]
    linked = ((mentioned @ mentioned.T) + (near @ mentioned.T)).toarray() > 0
    ids = [graph.propositions[n] for n in candidates]
    first, paths = beam_search(
        np.stack([vectors[id_] for id_ in ids]),
        vector,
        linked,
        width=recipe.width,
        length=recipe.length,
        jumps=recipe.jumps,
        coherence=recipe.coherence,
        exact=recipe.exact,
        encode=(lambda some: encode([[ids[n] for n in steps] for steps in some])) if encode else None,
        one_order=recipe.one_order,
    )
    single, best = (
        [Path(tuple(int(candidates[n]) for n in path.steps), path.score) for path in some]
        for some in (first, paths[: recipe.paths])
    )
    return single, best


def _from_paths(
    graph: PropositionGraph, single: Sequence[Path], paths: Sequence[Path], recipe: PropositionRecipe
) -> Mapping[int, float]:
    """Return seeds of stage 2 by node: the concepts of the best single propositions and of the best paths,
    each by its best path, 1 for the best of each kind."""
    seeds: dict[int, float] = {}
    for some, top_k in ((single, recipe.first_entities), (paths, recipe.path_entities)):
        heads = _concepts(graph, some)[:top_k]
        top = max((max(scores) for _, scores in heads), default=0.0)
        for concept, scores in heads:
            node = len(graph.passages) + concept
            seeds[node] = max(seeds.get(node, 0.0), max(scores) / top if top > 0 else 0.0)
    return seeds


def _concepts(graph: PropositionGraph, paths: Sequence[Path]) -> list[tuple[int, list[float]]]:
    """Return the concepts of some paths with the scores of the paths they are in, those with the largest sum
    first."""
    scores: dict[int, list[float]] = defaultdict(list)
    for path in paths:
        for concept in sorted(set(graph.mentions[list(path.steps)].indices.tolist())):
            scores[concept].append(path.score)
    return sorted(scores.items(), key=lambda entry: (-sum(entry[1]), graph.concepts[entry[0]]))
