"""Find bridges, answers in the pairs of the best passages, and walk again from the question with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.ask.retrieve.names.walk import rank_passages, walk_again
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.names.graph import NameGraph
    from gsw_graph.ask.retrieve.names.walk import WalkResult
    from gsw_graph.ask.retrieve.pair_score import Floats
    from gsw_graph.ask.retrieve.recipes import FusionRecipe


def walk_twice(
    context: RetrievalContext, question: str, k: int, recipe: FusionRecipe
) -> tuple[WalkResult, list[str] | None]:
    """Walk as `linked` does, find bridges in the best passages, and walk again from the question and from the
    question with the bridges.

    Returns:
        The last walk and the bridges; None for the bridges if the best passages have no pairs.
    """
    vector = context.vector(question)
    trace = context.trace is not None
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    with context.clock("rank"):
        first = rank_passages(graph, [(question, near)], max(k, recipe.best), recipe.walk, trace=trace)
    best = list(zip(first.passages, first.scores, strict=True))[: recipe.best]
    with context.clock("database"):
        offered = context.reader.pairs_of([passage for passage, _ in best])
    pairs = list(zip(offered.answers, offered.passages, strict=True))
    if not pairs:
        return first, None
    with context.clock("rank"):
        answers = bridges(graph, question, vector, best, pairs, offered.vectors, recipe)
    if not answers:
        return first, []
    _, last = walk_again(context, question, near, answers, k, recipe.walk, recipe.nearest, recipe.ask)
    return last, answers


def bridges(
    graph: NameGraph,
    question: str,
    vector: Floats,
    walked: Sequence[tuple[str, float]],
    pairs: Sequence[tuple[Sequence[str], str]],
    vectors: Floats,
    recipe: FusionRecipe,
) -> list[str]:
    """Return the `recipe.bridges` heaviest answers of some pairs. An answer weighs at least `recipe.least`;
    its weight is the walk weight of the passage times exp(sharpness * cosine of pair and question).

    Answers in the question are skipped. So are answers without a name of another passage: a date or a number
    leads nowhere.

    Args:
        graph: Names and the passages that they occur in.
        question: The question.
        vector: Vector of the question, of length 1.
        walked: Passages with the weight of the first walk.
        pairs: Answers and passage of each pair.
        vectors: (pairs, dimension), of length 1.
        recipe: Constants of the bridges.
    """
    if not pairs:
        return []
    weight = dict(walked)
    weights = np.array([weight[passage] for _, passage in pairs])
    cosines = vectors @ vector
    worth = weights * np.exp(recipe.sharpness * cosines)
    padded = f" {normalise(question)} "
    texts: dict[str, str] = {}
    least = 0.0
    for number in np.argsort(-worth, kind="stable"):
        answers, passage = pairs[number]
        for answer in answers:
            if worth[number] < least or len(texts) == recipe.bridges:
                return list(texts.values())
            key = normalise(answer)
            known = not key or key in texts or f" {key} " in padded
            if not known and _leads_on(graph, answer, passage):
                texts[key] = answer
                least = least or recipe.least * float(worth[number])
    return list(texts.values())


def _leads_on(graph: NameGraph, answer: str, passage: str) -> bool:
    """Tell whether a name in the answer occurs in a passage other than this one."""
    own = graph.passage_numbers[passage]
    names = [graph.name_numbers[mention.key] for mention in graph.mentions_in(answer)]
    return any((graph.passages_of(name) != own).any() for name in names)
