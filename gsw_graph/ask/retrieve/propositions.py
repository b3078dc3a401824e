"""Search the graph of propositions around a question as PropRAG does (Wang 2025): by a wide walk, a beam
search for paths of propositions in its passages, and a narrow walk from the concepts of the paths.

The `PropositionRecipe` follows the authors' code or the paper; docs/proprag.md lists the departures from
both, with reasons.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from gsw_graph.ask.retrieve.names.walk import Seeds, walk

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.names.graph import Near
    from gsw_graph.ask.retrieve.recipes import EdgeWeights, PropositionRecipe

    Vectors: TypeAlias = NDArray[np.float32]
    Numbers: TypeAlias = NDArray[np.intp]
    Matrix: TypeAlias = sparse.csr_array
    PassagePropositions: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[str]]]
    """A passage, its propositions, and the concepts that each mentions."""
    Encode: TypeAlias = Callable[[list[str]], Vectors]
    VectorsOf: TypeAlias = Callable[[list[str]], dict[str, Vectors]]
    EncodePaths: TypeAlias = Callable[[list[list[str]]], Vectors]

NEIGHBOURS = 100  # similar names of one name (the code's 101)
_BLOCK = 1024
_POOL = 100  # best extensions of a path that compete for the beam
_BELOW = 0.5  # passages that stage 2 does not reach stay below those that it does, in the order of stage 1
_LETTERS = re.compile(r"[\W_]+")


@dataclass(eq=False)
class PropositionGraph:
    """Hold passages, concepts and propositions by number.

    Attributes:
        passages, concepts: Ids, ascending. `propositions`: ids, passage by passage.
        mentions: (propositions, concepts), 1 if the proposition mentions the concept.
        home: The passage of each proposition, ascending.
        similar: (concepts, concepts), symmetric, the cosine of similar names, 0 elsewhere.
        weights: Weights of the edges.
        edges: All edges in one symmetric matrix over the nodes: the passages, then the concepts.
    """

    passages: list[str]
    concepts: list[str]
    propositions: list[str]
    mentions: Matrix
    home: Numbers
    similar: Matrix
    weights: EdgeWeights

    def __post_init__(self) -> None:
        weights = self.weights
        mentions = self.mentions.tocoo()
        places = self.home[mentions.row], mentions.col
        shape = len(self.passages), len(self.concepts)
        contains = sparse.csr_array((mentions.data, places), shape=shape)
        contains.data[:] = weights.containment  # however many propositions mention the concept
        together = sparse.csr_array(self.mentions.T @ self.mentions)
        together.setdiag(0)
        together.eliminate_zeros()
        aside = np.float32(weights.clique) * together
        aside += np.float32(weights.synonymy) * self.similar
        blocks = [[None, contains], [contains.T, aside]]
        self.edges = sparse.csr_array(sparse.block_array(blocks, format="csr", dtype=np.float32))

    def within(self, sees: Callable[[str], bool]) -> PropositionGraph:
        """Return the part of the graph in some passages, with the concepts that their propositions
        mention."""
        kept = np.array(list(map(sees, self.passages)), bool)
        inside = kept[self.home]
        mentions = self.mentions[inside]
        concepts = np.unique(mentions.indices)
        numbers = np.cumsum(kept) - 1
        return PropositionGraph(
            list(compress(self.passages, kept)),
            [self.concepts[number] for number in concepts],
            list(compress(self.propositions, inside)),
            mentions[:, concepts],
            numbers[self.home[inside]],
            self.similar[concepts][:, concepts],
            self.weights,
        )


def build(
    rows: Iterable[PassagePropositions],
    weights: EdgeWeights,
    similar_to: Callable[[list[str]], Matrix] | None = None,
) -> PropositionGraph:
    """Build a graph from rows of passages, sorted since engines give them in any order.

    Args:
        rows: A passage each.
        weights: Of the edges.
        similar_to: Gives the cosines of similar names, if these are wanted.
    """
    ordered = sorted(rows)
    concepts = sorted({name for _, _, mentions in ordered for names in mentions for name in names})
    numbers = {concept: number for number, concept in enumerate(concepts)}
    propositions = []
    home = []
    columns: list[int] = []
    ends = [0]
    for number, (_, ids, mentions) in enumerate(ordered):
        for id_, names in sorted(zip(ids, mentions, strict=True)):
            propositions.append(id_)
            home.append(number)
            columns += sorted(numbers[name] for name in set(names))
            ends.append(len(columns))
    ones = np.ones(len(columns), np.float32)
    shape = (len(propositions), len(concepts))
    matrix = sparse.csr_array((ones, np.array(columns, np.int32), ends), shape=shape)
    similar = similar_to(concepts) if similar_to else _none_similar(len(concepts))
    passages = [passage for passage, _, _ in ordered]
    homes = np.array(home, np.intp)
    return PropositionGraph(passages, concepts, propositions, matrix, homes, similar, weights)


def similar_names(names: list[str], encode: Encode, threshold: float) -> Matrix:
    """Return (names, names), symmetric: the cosines of similar names, else 0. A cosine must reach the
    threshold, names must have more than two letters, and one name must be among the NEIGHBOURS nearest of the
    other."""
    letters = [_LETTERS.sub("", name) for name in names]
    numbers = np.array([number for number, text in enumerate(letters) if len(text) > 2])
    if not len(numbers):
        return _none_similar(len(names))
    vectors = encode([names[number] for number in numbers])
    blocks = []
    for begin in range(0, len(vectors), _BLOCK):
        cosines = vectors[begin : begin + _BLOCK] @ vectors.T
        np.fill_diagonal(cosines[:, begin:], 0)  # of a name with itself
        if len(vectors) > NEIGHBOURS:
            floor = np.partition(cosines, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS, None]
            cosines[cosines < floor] = 0
        cosines[cosines < threshold] = 0
        blocks.append(sparse.csr_array(cosines))
    one_way = sparse.vstack(blocks, format="csr")
    similar = one_way.maximum(one_way.T).tocoo()
    places = numbers[similar.row], numbers[similar.col]
    return sparse.csr_array((similar.data, places), shape=(len(names), len(names)))


def _none_similar(names: int) -> Matrix:
    # The stubs take the shape for data.
    return sparse.csr_array((names, names), dtype=np.float32)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Path:
    """Propositions in the order they were joined, by number, and the cosine of the whole with the
    question."""

    steps: tuple[int, ...]
    score: float


def beam_search(
    vectors: Vectors,
    question: Vectors,
    linked: NDArray[np.bool_],
    recipe: PropositionRecipe,
    encode: Callable[[list[Path]], Vectors],
) -> tuple[list[Path], list[Path]]:
    """Search for paths of propositions that are near a question.

    Args:
        vectors: (propositions, dimension), of length 1.
        question: (dimension,), of length 1.
        linked: (propositions, propositions), whether one can follow the other.
        recipe: `width` paths of each length up to `length` are kept; the `jumps` best propositions can follow
            any; `coherence` is the least cosine of a proposition with the one before. The `exact` best paths
            of a length score what `encode` gives for their text; other paths, and all if there are at most
            `width`, score the cosine of the mean of their vectors. With `one_order` the same propositions in
            another order are the same path, of which the first stays (as in the authors' code).
        encode: Returns vectors of paths.

    Returns:
        The `width` best single propositions; and the paths of every length that were in a beam, best first.
    """
    alone = vectors @ question
    best = np.argsort(-alone, kind="stable")
    first = [Path((number,), float(alone[number])) for number in best[: recipe.width].tolist()]
    jump = np.zeros(len(vectors), dtype=bool)
    jump[best[: recipe.jumps]] = True
    beam = first
    paths = list(first)
    visited: set[object] = set()
    for _ in range(1, recipe.length):
        grown = []
        for path in beam:
            steps = list(path.steps)
            last = steps[-1]
            allowed = (linked[last] | jump) & (vectors @ vectors[last] >= recipe.coherence)
            allowed[steps] = False
            following = np.flatnonzero(allowed)
            cosines = vectors @ vectors[steps].sum(axis=0)
            lengths = cosines[steps].sum() + 2 * cosines[following] + 1  # squared, of the sums of vectors
            scores = alone[steps].sum() + alone[following]
            scores /= np.sqrt(np.maximum(lengths, 1e-12))
            for place in np.argsort(-scores, kind="stable")[:_POOL]:
                joined = (*path.steps, int(following[place]))
                key = frozenset(joined) if recipe.one_order else joined
                if key not in visited:
                    visited.add(key)
                    grown.append(Path(joined, float(scores[place])))
        if not grown:
            break
        grown.sort(key=_by_score)  # stable: of equal ones the first
        if recipe.exact and len(grown) > recipe.width:
            exact = grown[: recipe.exact]
            exact_scores = encode(exact) @ question
            grown = [Path(path.steps, float(score)) for path, score in zip(exact, exact_scores, strict=True)]
            grown.sort(key=_by_score)
        beam = grown[: recipe.width]
        paths += beam
    return first, sorted(paths, key=_by_score)


def _by_score(path: Path) -> float:
    return -path.score


@dataclass(frozen=True, slots=True)
class PropositionResult:
    """Hold the result of PropRAG: passage ids with scores, best first; seeds of the last walk, the heaviest
    first; the best paths, as proposition ids with their cosine; and the number of passages in the walk."""

    passages: list[str]
    scores: list[float]
    seeds: list[tuple[str, float]]
    paths: list[tuple[list[str], float]]
    walked: int


def rank_passages(
    graph: PropositionGraph,
    vector: Vectors,
    near: Near,
    facts: Near,
    k: int,
    recipe: PropositionRecipe,
    *,
    vectors_of: VectorsOf,
    encode: EncodePaths,
) -> PropositionResult:
    """Rank passages for a question by PropRAG.

    Args:
        graph: The whole graph, or the part around the question, with the recipe's weights.
        vector: Vector of the question, of length 1.
        near: Nearest passages to the question. Other passages count as near as the last.
        facts: Nearest propositions to the question.
        k: Number of passages.
        recipe: Constants of PropRAG.
        vectors_of: Returns vectors of propositions by id, of length 1. A proposition without a vector is left
            out, as its document was replaced meanwhile.
        encode: Returns vectors of paths, given as proposition ids, if the recipe has `exact` paths.
    """
    size = len(graph.passages)
    if not size:
        return PropositionResult([], [], [], [], 0)
    edges = graph.edges
    scaled = _scaled_cosines(graph, near, edges.shape[0])
    numbers = {fact: number for number, fact in enumerate(graph.propositions)}
    known = [(numbers[fact], cosine) for fact, cosine in facts if fact in numbers]
    start = [Path((number,), cosine) for number, cosine in known[: recipe.propositions]]
    reset = recipe.passage_weight * scaled
    for concept in _concepts(graph, start, recipe.entities):
        reset[size + concept] = 1.0
    if not reset.any():
        reset = scaled if scaled.any() else np.ones_like(scaled)
    wide = _walk(edges, reset, recipe.damping, recipe.steps)[:size]
    best = np.argsort(-wide, kind="stable")
    focus = np.sort(best[: recipe.focus])

    inside = np.unique(np.concatenate([focus, edges[focus].indices]))
    concepts = inside[len(focus) :] - size
    single, paths = _search(graph, vector, focus, concepts, recipe, vectors_of, encode)
    if recipe.first_stage:
        single = start
    weights = _seed_weights(graph, paths, recipe.path_entities, recipe.path_weight)
    for concept, weight in _seed_weights(graph, single, recipe.first_entities, "best").items():
        weights[concept] = max(weight, weights.get(concept, 0.0))
    reachable = set(concepts.tolist())
    seeds = {concept: weight for concept, weight in weights.items() if concept in reachable}
    reset = recipe.focus_passage_weight * scaled
    for concept, weight in seeds.items():
        reset[size + concept] = weight
    reset = reset[inside]
    whole = float(reset.sum())
    final = wide.astype(np.float64)  # a small share of a small weight must not become nothing
    if whole:
        narrow = _walk(edges[inside][:, inside], reset, recipe.focus_damping, recipe.steps)
        reached = np.flatnonzero(narrow[: len(focus)])
        final *= _BELOW * narrow[narrow > 0].min()
        final[focus[reached]] = narrow[reached]
    ranked = [number for number in np.argsort(-final, kind="stable")[:k] if final[number]]
    passages = [graph.passages[number] for number in ranked]
    named = [(graph.concepts[concept], weight / whole) for concept, weight in seeds.items() if whole]
    named.sort(key=lambda entry: (-entry[1], entry[0]))
    found = [(_ids(graph, path), path.score) for path in paths]
    return PropositionResult(passages, final[ranked].tolist(), named, found, size)


def _scaled_cosines(graph: PropositionGraph, near: Near, nodes: int) -> Vectors:
    """Return (nodes,): the cosines of passages, the best as 1 and the last as 0, and 0 for all else."""
    numbers = {passage: number for number, passage in enumerate(graph.passages)}
    scaled = np.zeros(nodes, dtype=np.float32)
    known = {numbers[passage]: cosine for passage, cosine in near if passage in numbers}
    if known:
        cosines = np.array(list(known.values()))
        last = cosines.min()
        scaled[list(known)] = (cosines - last) / max(cosines.max() - last, 1e-9)
    return scaled


def _walk(edges: Matrix, reset: Vectors, damping: float, steps: int) -> Vectors:
    share = (reset / reset.sum()).astype(np.float32)
    mass = walk(edges, Seeds(share, np.ones_like(share)), restart=1 - damping, steps=steps)
    return np.asarray(mass / mass.sum())


def _search(
    graph: PropositionGraph,
    vector: Vectors,
    focus: Numbers,
    concepts: Numbers,
    recipe: PropositionRecipe,
    vectors_of: VectorsOf,
    encode: EncodePaths,
) -> tuple[list[Path], list[Path]]:
    """Return the best single propositions of some passages and the best paths over them. Two may follow each
    other by these concepts alone."""
    numbers = np.flatnonzero(np.isin(graph.home, focus)).tolist()
    vectors = vectors_of([graph.propositions[number] for number in numbers])
    numbers = [number for number in numbers if graph.propositions[number] in vectors]
    if not numbers:
        return [], []
    mentioned = graph.mentions[numbers][:, concepts]
    similar = mentioned @ graph.similar[concepts][:, concepts]
    linked = (mentioned + similar) @ mentioned.T

    def in_graph(paths: list[Path]) -> list[Path]:
        return [Path(tuple(numbers[step] for step in path.steps), path.score) for path in paths]

    def encode_paths(paths: list[Path]) -> Vectors:
        return encode([_ids(graph, path) for path in in_graph(paths)])

    candidates = np.stack([vectors[graph.propositions[number]] for number in numbers])
    first, paths = beam_search(candidates, vector, linked.toarray() > 0, recipe, encode_paths)
    return in_graph(first), in_graph(paths[: recipe.paths])


def _ids(graph: PropositionGraph, path: Path) -> list[str]:
    return [graph.propositions[step] for step in path.steps]


def _seed_weights(graph: PropositionGraph, paths: Sequence[Path], most: int, weight: str) -> dict[int, float]:
    """Return the weights of seeds of stage 2: the first concepts of some paths, each by its `best` path or
    the `sum` of its paths, as a share of the largest (PropRAG, 5.3.2, step 3: min-max scaling, as concepts on
    no path have 0), 0 for less than 0."""
    totals = {}
    for concept, scores in _concepts(graph, paths, most).items():
        totals[concept] = sum(scores) if weight == "sum" else max(scores)
    top = max([1e-9, *totals.values()])
    return {concept: max(total, 0.0) / top for concept, total in totals.items()}


def _concepts(graph: PropositionGraph, paths: Sequence[Path], most: int) -> dict[int, list[float]]:
    """Return the first concepts of some paths with the scores of the paths they are in, those with the
    largest sum first."""
    scores = defaultdict[int, list[float]](list)
    for path in paths:
        for concept in set(graph.mentions[list(path.steps)].indices.tolist()):
            scores[concept].append(path.score)
    ranked = sorted(scores, key=lambda concept: (-sum(scores[concept]), graph.concepts[concept]))
    return {concept: scores[concept] for concept in ranked[:most]}
