"""What `fusion` adds to chains and to a walk: candidates of a hop weighed by walks, and a second walk from
the answers that the first one met. docs/proprag.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.ask.retrieve.names.walk import rank_passages
from gsw_graph.ask.retrieve.qa_chains import Candidates, CandidateSearch, ScoredPair
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.names.graph import NameGraph
    from gsw_graph.ask.retrieve.names.walk import WalkResult
    from gsw_graph.ask.retrieve.pair_score import ConcreteQuestion
    from gsw_graph.ask.retrieve.recipes import FusionRecipe


@dataclass(frozen=True, slots=True)
class Answered:
    """A pair of a passage: its answers, the passage's id, and its place among the vectors."""

    answers: Sequence[str]
    passage: str
    number: int


def bridges(
    memory: NameGraph,
    question: str,
    vector: NDArray[np.float32],
    walked: Sequence[tuple[str, float]],
    pairs: Sequence[Answered],
    vectors: NDArray[np.float32],
    recipe: FusionRecipe,
) -> list[str]:
    """The answers of some pairs that weigh most, `recipe.bridges` of them and none below `recipe.least`: walk
    weight of the passage times exp(sharpness * cosine of pair and question).

    vector: of the question, length 1. walked: passages with the weight of the first walk. vectors: (pairs,
    dimension), by `Answered.number`. Left out is what stands in the question, and what names nothing that
    another passage names too: a date or a number leads nowhere.
    """
    if not pairs:
        return []
    weight = dict(walked)
    numbers = [pair.number for pair in pairs]
    worth = np.array([weight[pair.passage] for pair in pairs]) * np.exp(
        recipe.sharpness * (vectors[numbers] @ vector)
    )
    asked = f" {normalise(question)} "
    found: dict[str, str] = {}
    top = 0.0
    for n in np.argsort(-worth, kind="stable"):
        if worth[n] < recipe.least * top or len(found) == recipe.bridges:
            break
        for answer in pairs[n].answers:
            key = normalise(answer)
            if (
                key
                and key not in found
                and f" {key} " not in asked
                and len(found) < recipe.bridges
                and _leads_on(memory, answer, pairs[n].passage)
            ):
                found[key] = answer
                top = top or float(worth[n])
    return list(found.values())


def _leads_on(memory: NameGraph, answer: str, passage: str) -> bool:
    """Whether a name in the answer stands in a passage other than this one."""
    own = memory.passage_numbers[passage]
    names = (memory.name_numbers[mention.key] for mention in link(mentions(answer), memory.name_numbers))
    return any((memory.passages_of(n) != own).any() for n in names)


_LEAST = 1e-9


class WalkingCandidateSearch(CandidateSearch):
    """Finds candidates for the levels of one question, and scores them with the walk of each concrete
    question."""

    def __init__(self, context: Context, recipe: FusionRecipe) -> None:
        super().__init__(context, recipe.chains)
        self._fusion = recipe

    def _find(self, question: str, asked: Sequence[ConcreteQuestion]) -> Candidates:
        context, recipe = self._context, self._fusion
        self._vectors(question, asked)
        graph, near = fetch_neighbourhood(context, [one.text for one in asked], recipe.walk)
        with context.clock("rank"):
            walked = [
                rank_passages(graph, [(one.text, passages)], recipe.walked, recipe.walk)
                for one, passages in zip(asked, near, strict=True)
            ]
        offered = {
            one.text: found.passages[: recipe.offered] for one, found in zip(asked, walked, strict=True)
        }
        candidates = self._of_graph(question, asked, offered)
        shares = [
            dict(zip(one.passages, (score / one.scores[0] for score in one.scores), strict=True))
            for one in walked
        ]
        return [
            rescored(of_one, share, recipe.walk_weight)
            for of_one, share in zip(candidates, shares, strict=True)
        ]


def rescored(
    candidates: Sequence[ScoredPair], share: dict[str, float], walk_weight: float
) -> list[ScoredPair]:
    """Candidates scored anew, best first; `share` is what a walk gave to passages, 1 for the best:
    walk_weight * (root of it - 1/2) joins the logit."""
    found = []
    for one in candidates:
        chance = min(max(one.score, _LEAST), 1 - _LEAST)
        logit = log(chance / (1 - chance)) + walk_weight * (share.get(one.pair.passage, 0.0) ** 0.5 - 0.5)
        found.append(replace(one, score=1 / (1 + exp(-logit))))
    return sorted(found, key=lambda one: (-one.score, one.pair.id))


def walk_twice(
    context: Context, question: str, k: int, recipe: FusionRecipe
) -> tuple[WalkResult, list[str] | None]:
    """Walks as `linked` does, takes the answers that its best passages offer, and walks once more from the
    question and from the question with these in it; what the last walk found, and these answers, None
    where the best passages have no pairs at all."""
    vector, trace = context.vector(question), context.trace is not None
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    with context.clock("rank"):
        first = rank_passages(graph, [(question, near)], max(k, recipe.best), recipe.walk, trace=trace)
    best = list(zip(first.passages, first.scores, strict=True))[: recipe.best]
    with context.clock("database"):
        offered = context.reader.pairs_of([passage for passage, _ in best])
    with context.clock("rank"):
        pairs = [
            Answered(answers, passage, n)
            for n, (answers, passage) in enumerate(zip(offered.answers, offered.passages, strict=True))
        ]
        found = bridges(graph, question, vector, best, pairs, offered.vectors, recipe)
    if not found:
        return first, [] if pairs else None
    further = " ".join([question, *found])
    graph, (others,) = fetch_neighbourhood(context, [further], recipe.walk, recipe.nearest)
    with context.clock("rank"):
        asked = [(question, near), (further, others)]
        return rank_passages(graph, asked, k, recipe.walk, weights=[1.0, recipe.ask], trace=trace), found
