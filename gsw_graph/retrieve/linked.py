"""`linked`: the question's names linked to concepts, then a personalised PageRank over names and passages. No language model anywhere.

Our own strategy; docs/linked.md has its constants, how they were chosen, and what did not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.linking import Mention, link, mentions
from gsw_graph.retrieve.walk import Seeds, strongest_paths, walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.name_graph import NamedGraph, NameGraph

NEAREST = 100  # passages of the vector index that seed the walk and steer it
BEST = 3  # of them, those whose names are seeds too
SHARPNESS = 20.0  # of the softmax over cosines
PREFERENCE = 3.0  # exponent of the walk's preference for passages near the question
PASSAGE_MASS = 0.2  # seed weight of all passages where names have 1
LINKED_MASS = 4.0  # seed weight of the question's names where those of the best passages have 1
TITLE_BONUS = 3.0  # for a name of the question that is the title of a passage
WHOLE = 500  # passages up to which the walk goes over the whole graph: from there on the neighbourhood is faster


@dataclass(frozen=True, slots=True)
class Linked:
    """What a walk found: passage ids with their weights, best first; the names linked; and, on demand, the paths that led there."""

    passages: list[str]
    scores: list[float]
    mentions: list[Mention]
    seeds: list[tuple[str, float]]  # names with their seed weights, the heaviest first
    walked: int  # passages that the walk went over
    paths: list[list[str]]  # for each passage the names and passage ids of its strongest path; empty without `trace`


Near = Sequence[tuple[str, float]]  # passages of the vector index, best first, with their cosine


def retrieve(memory: NamedGraph, question: str, near: Near, k: int, *, trace: bool = False) -> Linked:
    """The `k` best passages for a question."""
    return retrieve_together(memory, [(question, near)], k, trace=trace)


def retrieve_together(
    memory: NamedGraph, asked: Sequence[tuple[str, Near]], k: int, *, weights: Sequence[float] | None = None, trace: bool = False
) -> Linked:
    """The `k` best passages for some questions with the passages near each, in one walk: their seeds add up, by `weights` where some count more than others;
    of their preferences the strongest holds."""
    numbers = memory.passage_numbers
    graph = memory.graph
    starts = []
    linked: list[Mention] = []
    for question, near in asked:
        known = [(numbers[passage], cosine) for passage, cosine in near if passage in numbers]
        found = link(mentions(question), memory.name_numbers)
        linked += found
        passages = np.array([number for number, _ in known], dtype=np.intp)
        cosines = np.array([cosine for _, cosine in known], dtype=np.float32)
        starts.append((passages, cosines, np.array([memory.name_numbers[mention.key] for mention in found], dtype=np.intp)))
    inside: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    if graph.size > WHOLE:
        every = np.concatenate([passages for passages, _, _ in starts])
        around = np.concatenate([part for passages, _, names in starts for part in (names, graph.names_of(passages[:BEST]))])
        graph, *inside_ = graph.neighbourhood(every, around)
        inside = (inside_[0], inside_[1])
        order = np.argsort(inside[0])
        starts = [
            (order[np.searchsorted(inside[0], passages, sorter=order)], cosines, np.searchsorted(inside[1], names)) for passages, cosines, names in starts
        ]
    several = [seed(graph, *start) for start in starts]
    shares = np.array([1.0] * len(asked) if weights is None else weights, dtype=np.float32)
    together = (shares / shares.sum()) @ np.stack([one.weight for one in several])
    seeds = Seeds(together, np.maximum.reduce([one.preference for one in several]))
    found_weights = walk(graph.edges, seeds)[: graph.size]
    k = min(k, int(np.count_nonzero(found_weights)))
    best = np.lexsort((np.arange(graph.size), -found_weights))[:k]

    def id_of(node: int) -> str:
        if node < graph.size:
            return memory.passages[inside[0][node] if inside else node]
        return memory.names[inside[1][node - graph.size] if inside else node - graph.size]

    paths: list[list[str]] = []
    heaviest: list[tuple[str, float]] = []
    if trace:
        paths = [[id_of(node) for node in path] for path in strongest_paths(graph.edges, seeds, best.tolist())]
        of_names = seeds.weight[graph.size :]
        heaviest = [(id_of(int(n) + graph.size), float(of_names[n])) for n in np.argsort(-of_names, kind="stable")[:20] if of_names[n] > 0]
    return Linked([id_of(int(node)) for node in best], found_weights[best].tolist(), linked, heaviest, graph.size, paths)


def seed(graph: NameGraph, near: NDArray[np.intp], cosines: NDArray[np.float32], linked: NDArray[np.intp]) -> Seeds:
    """Seeds of a walk: passages near the question, the names of the best of them, and the names in the question."""
    passages = np.zeros(graph.size, dtype=np.float32)
    preference = np.ones(graph.size + len(graph.frequency), dtype=np.float32)
    names = np.zeros(len(graph.frequency), dtype=np.float32)
    spread = 1 / np.sqrt(np.maximum(graph.frequency, 1)).astype(np.float32)
    if len(near):
        distance = cosines - cosines[0]
        sharp = np.exp(SHARPNESS * distance)
        passages[near] = PASSAGE_MASS * sharp / sharp.sum()
        preference[: graph.size] = np.exp(PREFERENCE * distance[-1])
        preference[near] = np.exp(PREFERENCE * distance)
        for number, weight in zip(near[:BEST], sharp[:BEST], strict=True):
            there = graph.incidence.indices[graph.incidence.indptr[number] : graph.incidence.indptr[number + 1]]
            names[there] = np.maximum(names[there], weight * spread[there])
        names /= names.sum() or 1
    if len(linked):
        weight = spread[linked] * np.where(graph.titled[linked], np.float32(TITLE_BONUS), np.float32(1))
        np.add.at(names, linked, LINKED_MASS * weight / weight.sum())
        names /= names.sum()
    weights = np.concatenate([passages, names])
    return Seeds((weights / (weights.sum() or 1)).astype(np.float32), preference)
