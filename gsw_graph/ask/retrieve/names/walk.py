"""The best passages by a walk: the question's names linked to concepts, then a personalised PageRank over
names and passages. No language model anywhere.

What `linked` is; docs/linked.md has its constants, how they were chosen, and what did not help.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gsw_graph.ask.retrieve.names.linking import Mention, canonical, link, mentions
from gsw_graph.model.results import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.names.graph import NameGraph, Near
    from gsw_graph.ask.retrieve.recipes import WalkRecipe
    from gsw_graph.model.results import RankedPassage, Trace

_SHOWN = 20  # seeds of a trace


@dataclass(frozen=True, slots=True)
class WalkResult:
    """What a walk found.

    Attributes:
        passages: Ids, best first, with their `scores`.
        mentions: Names of the questions that were linked.
        seeds: Names with their seed weights, the heaviest first.
        walked: Passages that the walk went over.
        paths: For each passage the names and passage ids of its strongest path; empty without a trace.
    """

    passages: list[str]
    scores: list[float]
    mentions: list[Mention]
    seeds: list[tuple[str, float]]
    walked: int
    paths: list[list[str]]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk starts and what it prefers, for each node: `weight` sums to 1, `preference` is a factor
    in (0, 1]."""

    weight: NDArray[np.float32]
    preference: NDArray[np.float32]


def rank_passages(
    graph: NameGraph,
    queries: Sequence[tuple[str, Near]],
    k: int,
    recipe: WalkRecipe,
    *,
    weights: Sequence[float] | None = None,
    trace: bool = False,
) -> WalkResult:
    """Rank passages for some questions in one walk: their seeds add up, of their preferences the strongest
    holds.

    Args:
        graph: The neighbourhood of the questions.
        queries: Questions with the passages near each.
        k: Passages wanted.
        recipe: Constants of the walk.
        weights: Of the questions, where some count more than others.
        trace: Whether seeds and strongest paths are wanted too.
    """
    size = len(graph.passages)
    linked: list[Mention] = []
    parts: list[Seeds] = []
    for question, near in queries:
        found = canonical(link(mentions(question), graph.name_numbers), graph.name_numbers, graph.names)
        linked += found
        known = [(graph.passage_numbers[id_], cosine) for id_, cosine in near if id_ in graph.passage_numbers]
        parts.append(
            seed(
                graph,
                np.array([number for number, _ in known], dtype=np.intp),
                np.array([cosine for _, cosine in known], dtype=np.float32),
                np.array([graph.name_numbers[mention.key] for mention in found], dtype=np.intp),
                recipe,
            )
        )
    shares = np.array([1.0] * len(queries) if weights is None else weights, dtype=np.float32)
    seeds = Seeds(
        (shares / shares.sum()) @ np.stack([part.weight for part in parts]),
        np.maximum.reduce([part.preference for part in parts]),
    )
    mass = walk(graph.edges, seeds, restart=recipe.restart, steps=recipe.steps)[:size]
    best = np.argsort(-mass, kind="stable")[: min(k, int(np.count_nonzero(mass)))]
    nodes = [*graph.passages, *graph.names]
    paths: list[list[str]] = []
    heaviest: list[tuple[str, float]] = []
    if trace:
        found_paths = strongest_paths(graph.edges, seeds, best.tolist(), restart=recipe.restart)
        paths = [[nodes[node] for node in path] for path in found_paths]
        of_names = np.where(graph.nameless, 0, seeds.weight[size:])
        top = np.argsort(-of_names, kind="stable")[:_SHOWN]
        heaviest = [(graph.names[n], float(of_names[n])) for n in top.tolist() if of_names[n] > 0]
    return WalkResult([nodes[n] for n in best], mass[best].tolist(), linked, heaviest, size, paths)


def seed(
    graph: NameGraph,
    near: NDArray[np.intp],
    cosines: NDArray[np.float32],
    linked: NDArray[np.intp],
    recipe: WalkRecipe,
) -> Seeds:
    """Return the seeds of a walk: passages near the question, the names of the best of them, and the names in
    the question.

    A passage without names stands for its own one, which weighs what the names of the others of the best do
    on average, so that it competes by its vector on equal terms.

    Args:
        graph: The neighbourhood.
        near: Passages near the question by number, best first, with their `cosines`.
        cosines: See `near`.
        linked: Names of the question by number.
        recipe: Constants of the walk.
    """
    size = len(graph.passages)
    passages = np.zeros(size, dtype=np.float32)
    preference = np.ones(size + len(graph.names), dtype=np.float32)
    names = np.zeros(len(graph.names), dtype=np.float32)
    spread = 1 / np.sqrt(np.maximum(graph.frequency, 1)).astype(np.float32)
    if len(near):
        distance = cosines - cosines[0]
        sharp = np.exp(recipe.sharpness * distance)
        passages[near] = recipe.passage_mass * sharp / sharp.sum()
        preference[:size] = np.exp(recipe.preference * distance[-1])
        preference[near] = np.exp(recipe.preference * distance)
        best = [graph.names_of(int(passage)) for passage in near[: recipe.best]]
        sums = [float(spread[own].sum()) for own in best if not graph.nameless[own].any()]
        mean = sum(sums) / len(sums) if sums else 1.0
        for own, weight in zip(best, sharp, strict=False):
            each = np.where(graph.nameless[own], np.float32(mean), spread[own])
            names[own] = np.maximum(names[own], weight * each)
        names /= names.sum() or 1
    if len(linked):
        weight = spread[linked] * np.where(
            graph.titled[linked], np.float32(recipe.title_bonus), np.float32(1)
        )
        np.add.at(names, linked, recipe.linked_mass * weight / weight.sum())
        names /= names.sum()
    weights = np.concatenate([passages, names])
    return Seeds((weights / (weights.sum() or 1)).astype(np.float32), preference)


def walk(edges: sparse.csr_array, seeds: Seeds, *, restart: float, steps: int) -> NDArray[np.float32]:
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
    """Return for each target the path from a seed that carries most weight: its nodes, the target last. Empty
    where none leads there."""
    nodes = edges.shape[0]
    entries = edges.tocoo()
    chance = (
        (1 - restart) * seeds.preference[entries.row] * entries.data * _outflow(edges, seeds)[entries.col]
    )
    started = np.flatnonzero(seeds.weight)
    # One node more, from which every seed is reached with its weight.
    source = np.full(len(started), nodes)
    lengths = -np.log(np.minimum(np.concatenate([chance, seeds.weight[started]]), 1 - 1e-6))
    graph = sparse.csr_array(
        (lengths, (np.concatenate([entries.col, source]), np.concatenate([entries.row, started]))),
        shape=(nodes + 1, nodes + 1),
    )
    _, before = csgraph.dijkstra(graph, indices=nodes, return_predecessors=True)  # type: ignore[call-overload]  # stubs know matrices only
    paths = []
    for target in targets:
        path, node = [], int(target)
        while 0 <= node < nodes and before[node] >= 0:
            path.append(node)
            node = int(before[node])
        paths.append(path[::-1])
    return paths


def _outflow(edges: sparse.csr_array, seeds: Seeds) -> NDArray[np.float32]:
    """Return one over the column sums of D W, 0 where a node has no edge."""
    sums: NDArray[np.float32] = edges @ seeds.preference  # W is symmetric
    shares: NDArray[np.float32] = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    return shares


def write_walk(
    context: Context, trace: Trace, result: WalkResult, passages: Sequence[RankedPassage], *, twice: bool
) -> None:
    """Write into a trace how a walk came to its passages: names linked, seeds, and the strongest path to each
    passage, of two the last. twice: it is the second walk of `fusion`."""
    wanted = {passage.id for passage in passages}
    ways = {id_: way for id_, way in zip(result.passages, result.paths, strict=True) if id_ in wanted}
    known = context.neighbourhood.texts if context.neighbourhood else {}
    titles = {passage.id: passage.title or passage.text[:60] for passage in [*known.values(), *passages]}
    nodes = {node for path in ways.values() for node in path}
    others = sorted(node for node in nodes if node not in titles)
    with context.clock("database"):
        names = context.reader.concept_names(others)
        between = [node for node in others if node not in names]
        if between:
            found = context.reader.passages(between, [0.0] * len(between))
            titles |= {passage.id: passage.title or passage.text[:60] for passage in found}
    steps = {
        node: Step("passage", node, titles[node])
        if node in titles
        else Step("name", node, names.get(node, node))
        for node in nodes
    }
    trace.linked, trace.seeds = linked_names(result.mentions), seed_weights(result.seeds)
    # A passage without names leads to itself by its own one.
    trace.paths = {
        passage.id: [steps[node] for node, _ in groupby(ways[passage.id])] for passage in passages
    }
    trace.walked, trace.passages_walked = "twice" if twice else "neighbourhood", result.walked


def linked_names(found: Sequence[Mention]) -> list[dict[str, str]]:
    """Return names of the question with their concepts, as `Trace.linked` has them."""
    return [{"text": mention.text, "concept": mention.key} for mention in dict.fromkeys(found)]


def seed_weights(weights: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return concepts with their seed weights, as `Trace.seeds` has them."""
    return [{"concept": name, "weight": round(weight, 6)} for name, weight in weights]
