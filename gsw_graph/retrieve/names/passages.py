"""The best passages by a walk: the question's names linked to concepts, then a personalised PageRank over
names and passages. No language model anywhere.

What `linked` is; docs/linked.md has its constants, how they were chosen, and what did not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.names.linking import Mention, canonical, link, mentions
from gsw_graph.retrieve.names.walk import Seeds, strongest_paths, walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.names.graph import NameGraph, NameMatrices
    from gsw_graph.retrieve.recipes import WalkRecipe


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found: passage ids with their weights, best first; the names linked; and, on demand, the
    paths that led there."""

    passages: list[str]
    scores: list[float]
    mentions: list[Mention]
    seeds: list[tuple[str, float]]  # names with their seed weights, the heaviest first
    walked: int  # passages that the walk went over
    paths: list[
        list[str]
    ]  # for each passage the names and passage ids of its strongest path; empty without `trace`


Near = Sequence[tuple[str, float]]  # passages of the vector index, best first, with their cosine


def best_passages(
    memory: NameGraph, question: str, near: Near, k: int, recipe: WalkRecipe, *, trace: bool = False
) -> Walked:
    """The `k` best passages for a question."""
    return best_together(memory, [(question, near)], k, recipe, trace=trace)


def best_together(
    memory: NameGraph,
    asked: Sequence[tuple[str, Near]],
    k: int,
    recipe: WalkRecipe,
    *,
    weights: Sequence[float] | None = None,
    trace: bool = False,
) -> Walked:
    """The `k` best passages for some questions with the passages near each, in one walk: their seeds add up,
    by `weights` where some count more than others; of their preferences the strongest holds."""
    numbers = memory.passage_numbers
    graph = memory.matrices
    starts = []
    linked: list[Mention] = []
    for question, near in asked:
        known = [(numbers[passage], cosine) for passage, cosine in near if passage in numbers]
        found = canonical(link(mentions(question), memory.name_numbers), memory.name_numbers, memory.names)
        linked += found
        passages = np.array([number for number, _ in known], dtype=np.intp)
        cosines = np.array([cosine for _, cosine in known], dtype=np.float32)
        starts.append(
            (
                passages,
                cosines,
                np.array([memory.name_numbers[mention.key] for mention in found], dtype=np.intp),
            )
        )
    inside: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    if graph.size > recipe.whole:
        every = np.concatenate([passages for passages, _, _ in starts])
        around = np.concatenate(
            [
                part
                for passages, _, names in starts
                for part in (names, graph.names_of(passages[: recipe.best]))
            ]
        )
        graph, *inside_ = graph.neighbourhood(every, around, cap=recipe.cap, limit=recipe.limit)
        inside = (inside_[0], inside_[1])
        order = np.argsort(inside[0])
        starts = [
            (
                order[np.searchsorted(inside[0], passages, sorter=order)],
                cosines,
                np.searchsorted(inside[1], names),
            )
            for passages, cosines, names in starts
        ]
    several = [seed(graph, *start, recipe) for start in starts]
    shares = np.array([1.0] * len(asked) if weights is None else weights, dtype=np.float32)
    together = (shares / shares.sum()) @ np.stack([one.weight for one in several])
    seeds = Seeds(together, np.maximum.reduce([one.preference for one in several]))
    found_weights = walk(graph.edges, seeds, restart=recipe.restart, steps=recipe.steps)[: graph.size]
    k = min(k, int(np.count_nonzero(found_weights)))
    best = np.lexsort((np.arange(graph.size), -found_weights))[:k]

    def id_of(node: int) -> str:
        if node < graph.size:
            return memory.passages[inside[0][node] if inside else node]
        return memory.names[inside[1][node - graph.size] if inside else node - graph.size]

    paths: list[list[str]] = []
    heaviest: list[tuple[str, float]] = []
    if trace:
        paths = [
            [id_of(node) for node in path]
            for path in strongest_paths(graph.edges, seeds, best.tolist(), restart=recipe.restart)
        ]
        of_names = seeds.weight[graph.size :]
        heaviest = [
            (id_of(int(n) + graph.size), float(of_names[n]))
            for n in np.argsort(-of_names, kind="stable")[:20]
            if of_names[n] > 0
        ]
    return Walked(
        [id_of(int(node)) for node in best], found_weights[best].tolist(), linked, heaviest, graph.size, paths
    )


def seed(
    graph: NameMatrices,
    near: NDArray[np.intp],
    cosines: NDArray[np.float32],
    linked: NDArray[np.intp],
    recipe: WalkRecipe,
) -> Seeds:
    """Seeds of a walk: passages near the question, the names of the best of them, and the names in the
    question."""
    passages = np.zeros(graph.size, dtype=np.float32)
    preference = np.ones(graph.size + len(graph.frequency), dtype=np.float32)
    names = np.zeros(len(graph.frequency), dtype=np.float32)
    spread = 1 / np.sqrt(np.maximum(graph.frequency, 1)).astype(np.float32)
    if len(near):
        distance = cosines - cosines[0]
        sharp = np.exp(recipe.sharpness * distance)
        passages[near] = recipe.passage_mass * sharp / sharp.sum()
        preference[: graph.size] = np.exp(recipe.preference * distance[-1])
        preference[near] = np.exp(recipe.preference * distance)
        for number, weight in zip(near[: recipe.best], sharp[: recipe.best], strict=True):
            there = graph.incidence.indices[
                graph.incidence.indptr[number] : graph.incidence.indptr[number + 1]
            ]
            names[there] = np.maximum(names[there], weight * spread[there])
        names /= names.sum() or 1
    if len(linked):
        weight = spread[linked] * np.where(
            graph.titled[linked], np.float32(recipe.title_bonus), np.float32(1)
        )
        np.add.at(names, linked, recipe.linked_mass * weight / weight.sum())
        names /= names.sum()
    weights = np.concatenate([passages, names])
    return Seeds((weights / (weights.sum() or 1)).astype(np.float32), preference)
