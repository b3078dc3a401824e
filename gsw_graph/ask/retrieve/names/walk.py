"""Rank passages by a walk: link the names of the question to concepts, then run a personalised PageRank over
names and passages. No language model is needed. docs/linked.md explains the constants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.names.graph import NameGraph, Near
    from gsw_graph.ask.retrieve.names.linking import Mention
    from gsw_graph.ask.retrieve.recipes import WalkRecipe

    Floats: TypeAlias = NDArray[np.float32]

_SHOWN = 20  # seeds of a trace


@dataclass(frozen=True, slots=True)
class WalkResult:
    """The result of a walk.

    Attributes:
        passages: Ids, best first, with their `scores`.
        mentions: Names of the questions that were linked.
        seeds: Names with their seed weights, the heaviest first; empty without a trace.
        walked: Number of passages in the graph.
        paths: For each passage the names and passage ids of its strongest path; empty without a trace.
    """

    passages: list[str]
    scores: list[float]
    mentions: list[Mention]
    seeds: list[tuple[str, float]]
    walked: int
    paths: list[list[str]]

    def shares(self) -> dict[str, float]:
        """Return the score of each passage as a share of the best score."""
        scores = zip(self.passages, self.scores, strict=True)
        return {id_: score / self.scores[0] for id_, score in scores}

    def first(self, k: int) -> WalkResult:
        """Return the walk with its `k` best passages alone."""
        return replace(self, passages=self.passages[:k], scores=self.scores[:k], paths=self.paths[:k])


@dataclass(frozen=True, slots=True)
class Seeds:
    """Hold the start of a walk for each node: its `weight`, which sums to 1 over all nodes, and its
    `preference`, a factor in (0, 1]."""

    weight: Floats
    preference: Floats


def rank_passages(
    graph: NameGraph,
    queries: Sequence[tuple[str, Near]],
    k: int,
    recipe: WalkRecipe,
    *,
    weights: Sequence[float] = (),
    trace: bool = False,
) -> WalkResult:
    """Rank passages for some questions in one walk. Seeds of the questions add up, and each node has its
    strongest preference.

    Args:
        graph: The neighbourhood of the questions.
        queries: Questions with the passages near each.
        k: Passages wanted.
        recipe: Constants of the walk.
        weights: Weights of the questions; without them all count alike.
        trace: Whether to return seeds and strongest paths.
    """
    linked: list[Mention] = []
    weight_of, preferences = [], []
    for question, near in queries:
        names = graph.mentions_in(question)
        linked += names
        part = choose_seeds(graph, near, [name.key for name in names], recipe)
        weight_of.append(part.weight)
        preferences.append(part.preference)
    shares = np.array(weights or [1.0] * len(queries), dtype=np.float32)
    shares /= shares.sum()
    weight = shares @ np.stack(weight_of)
    seeds = Seeds(weight, np.maximum.reduce(preferences))
    edges, restart = graph.edges, recipe.restart
    size = len(graph.passages)
    mass = walk(edges, seeds, restart=restart, steps=recipe.steps)[:size]
    count = min(k, np.count_nonzero(mass))
    best = np.argsort(-mass, kind="stable")[:count].tolist()
    passages = [graph.passages[number] for number in best]
    result = WalkResult(passages, mass[best].tolist(), linked, [], size, [])
    if trace:
        nodes = graph.passages + graph.names
        for path in strongest_paths(edges, seeds, best, restart=restart):
            result.paths.append([nodes[node] for node in path])
        weight[size:][graph.is_artificial] = 0
        heaviest = np.argsort(-weight[size:], kind="stable")[:_SHOWN] + size
        for node in heaviest.tolist():
            if weight[node] > 0:
                result.seeds.append((nodes[node], float(weight[node])))
    return result


def walk_again(
    context: RetrievalContext,
    question: str,
    near: Near,
    bridges: Sequence[str],
    k: int,
    recipe: WalkRecipe,
    nearest: int,
    weight: float = 1.0,
) -> tuple[NameGraph, WalkResult]:
    """Walk from a question, and from the question with bridge entities in it.

    Args:
        context: Context of the question.
        question: The question.
        near: Passages near it.
        bridges: The bridge entities.
        k: Passages wanted.
        recipe: Constants of the walk.
        nearest: Passages of the vector index near the question with the bridge entities.
        weight: Weight of the question with the bridge entities; the question alone has 1.

    Returns:
        The neighbourhood of both, and the walk.
    """
    further = " ".join([question, *bridges])
    graph, (further_near,) = fetch_neighbourhood(context, [further], recipe, nearest)
    queries, trace = [(question, near), (further, further_near)], context.trace is not None
    with context.clock("rank"):
        return graph, rank_passages(graph, queries, k, recipe, weights=[1.0, weight], trace=trace)


def choose_seeds(graph: NameGraph, near: Near, linked: Sequence[str], recipe: WalkRecipe) -> Seeds:
    """Return the seeds of a walk: passages near the question, the names of the best passages, and the names
    in the question.

    A passage without names has one artificial name. The names of another best passage weigh, on average, as
    much together as the artificial name alone, so the passage competes by its vector on equal terms.

    Args:
        graph: The neighbourhood.
        near: Passages near the question, best first, with their cosines.
        linked: Names of the question, by id.
        recipe: Constants of the walk.
    """
    size = len(graph.passages)
    passages = np.zeros(size, dtype=np.float32)
    names = np.zeros(len(graph.names), dtype=np.float32)
    preference = np.ones(size + len(names), dtype=np.float32)
    frequency = np.maximum(graph.frequency, 1)
    spread = 1 / np.sqrt(frequency).astype(np.float32)
    cosine_of = {id_: cosine for id_, cosine in near if id_ in graph.passage_numbers}
    if cosine_of:
        numbers = [graph.passage_numbers[id_] for id_ in cosine_of]
        cosines = np.array(list(cosine_of.values()), dtype=np.float32)
        distance = cosines - cosines[0]
        sharp = np.exp(recipe.sharpness * distance)
        passages[numbers] = recipe.passage_mass * sharp / sharp.sum()
        preference[:size] = np.exp(recipe.preference * distance[-1])
        preference[numbers] = np.exp(recipe.preference * distance)
        best = [graph.names_of(number) for number in numbers[: recipe.best]]
        named = [own for own in best if not graph.is_artificial[own].any()]
        sums = [float(spread[own].sum()) for own in named]
        mean = sum(sums) / len(sums) if sums else 1.0
        for own, weight in zip(best, sharp, strict=False):
            each = spread[own]
            each[graph.is_artificial[own]] = mean
            names[own] = np.maximum(names[own], weight * each)
        names /= names.sum() or 1
    if linked:
        numbers = [graph.name_numbers[name] for name in linked]
        weights = spread[numbers]
        weights[graph.titled[numbers]] *= recipe.title_bonus
        np.add.at(names, numbers, recipe.linked_mass * weights / weights.sum())
        names /= names.sum()
    together = np.concatenate([passages, names])
    together /= together.sum() or 1
    return Seeds(together, preference)


def walk(edges: sparse.csr_array, seeds: Seeds, *, restart: float, steps: int) -> Floats:
    """Return the weights of the nodes after `steps` of a personalised PageRank by power iteration:
    x <- (1 - restart) D W (x / colsum(D W)) + restart seed.

    W are the symmetric edges, D the preferences. A node without an edge gives its weight to nobody.
    """
    outflow = _outflow(edges, seeds)
    forth = np.float32(1 - restart) * seeds.preference
    back = np.float32(restart) * seeds.weight
    weight = seeds.weight
    for _ in range(steps):
        weight = forth * (edges @ (weight * outflow)) + back
    return weight


def strongest_paths(
    edges: sparse.csr_array, seeds: Seeds, targets: Sequence[int], *, restart: float
) -> list[list[int]]:
    """Return for each target the nodes of the path from a seed that carries the most weight. The target is
    last; the list is empty if no seed reaches the target."""
    nodes = edges.shape[0]
    entries = edges.tocoo()
    inflow = (1 - restart) * seeds.preference[entries.row]
    chances = inflow * entries.data * _outflow(edges, seeds)[entries.col]
    # One more node, the source, from which every seed is reached with its weight.
    started = np.flatnonzero(seeds.weight)
    source = np.full(len(started), nodes)
    weights = np.concatenate([chances, seeds.weight[started]])
    lengths = -np.log(np.minimum(weights, 1 - 1e-6))
    begins = np.concatenate([entries.col, source])
    ends = np.concatenate([entries.row, started])
    size = nodes + 1
    graph = sparse.csr_array((lengths, (begins, ends)), shape=(size, size))
    _, before = csgraph.dijkstra(graph, indices=nodes, return_predecessors=True)  # type: ignore[call-overload]  # stubs know matrices only
    paths = []
    for target in targets:
        path, node = [], int(target)
        while 0 <= node < nodes and before[node] >= 0:
            path.append(node)
            node = int(before[node])
        paths.append(path[::-1])
    return paths


def _outflow(edges: sparse.csr_array, seeds: Seeds) -> Floats:
    """Return one over the column sums of D W, 0 for a node without an edge."""
    sums = edges @ seeds.preference  # W is symmetric
    shares: Floats = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    return shares
