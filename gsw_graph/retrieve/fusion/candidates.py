"""Fusion with a plan: each concrete question walks too, and a pair is worth more where its passage is one
that the walk reaches."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING

from gsw_graph.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.retrieve.names.walk import rank_passages
from gsw_graph.retrieve.qa_chains import Candidates, CandidateSearch, ScoredPair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.pair_score import ConcreteQuestion
    from gsw_graph.retrieve.recipes import FusionRecipe

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
