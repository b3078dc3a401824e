"""The best passages by PropRAG (Wang 2025): a wide walk over propositions, beam search for paths in what it
found, a narrow walk from what they say.

Follows the authors' code, or the paper, by its `PropositionRecipe`; docs/proprag.md has what departs from
both and why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.names.linking import Mention, canonical, link, mentions
from gsw_graph.retrieve.names.pagerank import pagerank
from gsw_graph.retrieve.propositions import paths as beam

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from gsw_graph.retrieve.propositions.walk_graph import Subgraph, WalkGraph
    from gsw_graph.retrieve.recipes import PropositionRecipe

    Encode = Callable[[Sequence[Sequence[str]]], NDArray[np.float32]]

_TOLERANCE = 3e-4  # of a walk: less changes the order of no passage among the first
_BELOW = 0.5  # passages that stage 2 does not reach stay below those that it does, in the order of stage 1

Near = Sequence[tuple[str, float]]  # of a vector index, best first, with their cosine


@dataclass(frozen=True, slots=True)
class Propagated:
    """What was found: passage ids with their weights, best first; the names linked; seeds of the last
    walk, the heaviest first; and the best paths."""

    passages: list[str]
    scores: list[float]
    mentions: list[Mention]
    seeds: list[tuple[str, float]]
    paths: list[tuple[list[str], float]]  # proposition ids with the cosine of the path
    walked: int


def best_passages(
    walk_graph: WalkGraph,
    question: str,
    vector: NDArray[np.float32],
    near: Near,
    facts: Near,
    k: int,
    recipe: PropositionRecipe,
    *,
    encode: Encode | None = None,
) -> Propagated:
    """The `k` best passages for a question.

    vector: of the question, length 1. near, facts: its nearest passages and propositions; passages beyond
    these count as no nearer than the last. encode: vectors of paths, each the ids of its propositions, for
    a recipe that has `exact` ones.
    """
    graph, size = walk_graph.graph, len(walk_graph.graph.passages)
    if not size:
        return Propagated([], [], [], [], [], 0)
    cosines = {
        graph.passage_numbers[passage]: cosine for passage, cosine in near if passage in graph.passage_numbers
    }
    best, last = max(cosines.values(), default=1.0), min(cosines.values(), default=0.0)
    found = link(mentions(question), walk_graph.numbers) if recipe.linked_mass else []
    found = canonical(found, walk_graph.numbers, walk_graph.names)
    linked = _linked(walk_graph, found, recipe.title_bonus)
    known = [
        (graph.proposition_numbers[fact], cosine)
        for fact, cosine in facts
        if fact in graph.proposition_numbers
    ][: recipe.propositions]
    first = [beam.Path((number,), cosine) for number, cosine in known]
    seeds = {size + concept: 1.0 for concept, _ in _concepts(walk_graph, first)[: recipe.entities]}
    _add(seeds, linked, recipe.linked_mass)

    part = walk_graph.around(np.array([*cosines, *seeds], dtype=np.intp), recipe)
    nearest = part.place(np.array(list(cosines), dtype=np.intp))
    scaled = np.zeros(len(part.nodes), dtype=np.float32)
    scaled[nearest] = (np.array(list(cosines.values()), dtype=np.float32) - last) / max(best - last, 1e-9)
    preference = np.ones(len(part.nodes), dtype=np.float32)
    preference[: part.size] = np.exp(recipe.preference * (best - last) * (scaled[: part.size] - 1))
    reset = recipe.passage_weight * scaled + _spread(part, seeds)
    if not reset.any():
        reset = scaled if scaled.any() else np.ones_like(scaled)
    wide = pagerank(
        part.edges, reset, recipe.damping, preference=preference, tolerance=_TOLERANCE, steps=recipe.steps
    )[: part.size]
    focus = np.sort(_best(wide, recipe.focus))

    inside = np.unique(np.concatenate([focus, part.edges[focus].indices]))
    narrower = part.among(inside)
    paths, start = _paths(
        walk_graph, vector, part.nodes[focus], narrower.nodes[narrower.size :] - size, recipe, encode
    )
    within = set(narrower.nodes.tolist())
    seeds = {
        node: weight
        for node, weight in _from_paths(walk_graph, start, paths, recipe).items()
        if node in within
    }
    _add(seeds, {node: weight for node, weight in linked.items() if node in within}, recipe.linked_mass)
    reset = recipe.focus_passage_weight * scaled[inside] + _spread(narrower, seeds)
    final = wide.astype(np.float64)  # a small share of a small weight must not become nothing
    if reset.any():
        narrow = pagerank(
            narrower.edges,
            reset,
            recipe.focus_damping,
            preference=preference[inside],
            tolerance=_TOLERANCE,
            steps=recipe.steps,
        )
        final *= _BELOW * narrow[narrow > 0].min()
        reached = np.flatnonzero(narrow[: narrower.size])
        final[inside[reached]] = narrow[reached]
    ranked = _best(final, min(k, int(np.count_nonzero(final))))
    whole = float(reset.sum()) or 1.0
    named = [(walk_graph.names[node - size], weight / whole) for node, weight in seeds.items()]
    heaviest = sorted(named, key=lambda entry: (-entry[1], entry[0]))
    ids = [([graph.propositions[n] for n in path.steps], path.score) for path in paths]
    return Propagated(
        [graph.passages[part.nodes[n]] for n in ranked],
        final[ranked].tolist(),
        found,
        heaviest,
        ids,
        part.size,
    )


def _paths(
    walk_graph: WalkGraph,
    vector: NDArray[np.float32],
    focus: NDArray[np.intp],
    names: NDArray[np.intp],
    recipe: PropositionRecipe,
    encode: Encode | None,
) -> tuple[list[beam.Path], list[beam.Path]]:
    """The best paths over the propositions of some passages, and the best single ones. Two may follow each
    other by these names alone."""
    graph = walk_graph.graph
    candidates = graph.propositions_of(focus)
    concepts = names[names < len(graph.concepts)]
    mentioned = graph.mentions[candidates][:, concepts]
    near = mentioned @ graph.similar[concepts][:, concepts]
    linked = ((mentioned @ mentioned.T) + (near @ mentioned.T)).toarray() > 0

    def ids(paths: Sequence[tuple[int, ...]]) -> list[list[str]]:
        return [[graph.propositions[candidates[n]] for n in steps] for steps in paths]

    first, paths = beam.search(
        graph.unit(candidates),
        vector,
        linked,
        width=recipe.width,
        length=recipe.length,
        jumps=recipe.jumps,
        coherence=recipe.coherence,
        exact=recipe.exact,
        encode=(lambda paths: encode(ids(paths))) if encode else None,
        one_order=recipe.one_order,
    )
    numbered = [
        [beam.Path(tuple(int(candidates[n]) for n in path.steps), path.score) for path in some]
        for some in (paths[: recipe.paths], first)
    ]
    return numbered[0], numbered[1]


def _from_paths(
    walk_graph: WalkGraph, start: Sequence[beam.Path], paths: Sequence[beam.Path], recipe: PropositionRecipe
) -> dict[int, float]:
    """Seeds of stage 2 by node: the concepts of the best single propositions and of the best paths, each
    by its best path, 1 for the best of each kind."""
    size = len(walk_graph.graph.passages)
    seeds: dict[int, float] = {}
    for some, most in ((start, recipe.first_entities), (paths, recipe.path_entities)):
        heads = _concepts(walk_graph, some)[:most]
        top = max((max(scores) for _, scores in heads), default=0.0)
        for concept, scores in heads:
            seeds[size + concept] = max(seeds.get(size + concept, 0.0), max(scores) / top if top > 0 else 0.0)
    return seeds


def _best(weights: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """Places of the `k` largest, best first; of equal ones the first. Sorts no more than these."""
    k = min(k, len(weights))
    among = (
        np.flatnonzero(weights >= np.partition(weights, len(weights) - k)[len(weights) - k])
        if k
        else np.zeros(0, dtype=np.intp)
    )
    return among[np.lexsort((among, -weights[among]))][:k]


def _spread(part: Subgraph, seeds: Mapping[int, float]) -> NDArray[np.float32]:
    """Seeds by node as an array over a part."""
    found = np.zeros(len(part.nodes), dtype=np.float32)
    found[part.place(np.array(list(seeds), dtype=np.intp))] = list(seeds.values())
    return found


def _concepts(walk_graph: WalkGraph, paths: Sequence[beam.Path]) -> list[tuple[int, list[float]]]:
    """The concepts of some paths with the scores of the paths they are in, those with the largest sum
    first."""
    scores: dict[int, list[float]] = defaultdict(list)
    mentioned = walk_graph.graph.mentions
    for path in paths:
        for concept in dict.fromkeys(
            int(c)
            for n in path.steps
            for c in mentioned.indices[mentioned.indptr[n] : mentioned.indptr[n + 1]]
        ):
            scores[concept].append(path.score)
    return sorted(scores.items(), key=lambda entry: (-sum(entry[1]), walk_graph.names[entry[0]]))


def _linked(walk_graph: WalkGraph, found: Sequence[Mention], title_bonus: float) -> dict[int, float]:
    """The nodes of the question's names with their shares, which sum to 1: a rare name and a title have
    more."""
    size = len(walk_graph.graph.passages)
    nodes = list(dict.fromkeys(walk_graph.numbers[mention.key] for mention in found))
    weights = [
        (title_bonus if walk_graph.titled[n] else 1.0) / max(int(walk_graph.frequency[n]), 1) ** 0.5
        for n in nodes
    ]
    return {size + node: weight / sum(weights) for node, weight in zip(nodes, weights, strict=True)}


def _add(seeds: dict[int, float], linked: Mapping[int, float], mass: float) -> None:
    whole = sum(seeds.values()) or 1.0
    for node, weight in linked.items():
        seeds[node] = seeds.get(node, 0.0) + mass * whole * weight
