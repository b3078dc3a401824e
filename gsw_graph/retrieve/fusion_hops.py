"""Fusion with a plan: each concrete question walks too, and a pair is worth more where its passage is one that the walk reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING

from gsw_graph.retrieve.candidates import Candidates, Finder, Scored
from gsw_graph.retrieve.linked import NEAREST, retrieve

if TYPE_CHECKING:
    from gsw_graph.retrieve.pair_score import Concrete

WALK_WEIGHT = 2.0  # in the logit of a pair's score, of the root of its passage's share of the best passage's weight
OFFERED = 3  # passages of the walk whose pairs become candidates
_WALKED = 200  # passages whose weight is looked at; what is beyond counts as nothing
_LEAST = 1e-9


class WalkingFinder(Finder):
    """Finds candidates for the levels of one question, and scores them with the walk of each concrete question."""

    walked_from = 1  # as walks chose it already

    def _find(self, question: str, asked: Sequence[Concrete]) -> Candidates:
        search = self._search
        vectors = search.vectors([question, *(text for one in asked for text in (one.text, one.relation))])
        with search.clock("database"):
            near = search.reader.nearest([vectors[one.text].tolist() for one in asked], NEAREST)
            graph = search.names.of(near.version)
        with search.clock("rank"):
            walked = [retrieve(graph, one.text, passages, _WALKED) for one, passages in zip(asked, near.passages, strict=True)]
        self.offered.update({one.text: found.passages[:OFFERED] for one, found in zip(asked, walked, strict=True)})
        found = super()._find(question, asked)
        shares = [dict(zip(one.passages, (score / one.scores[0] for score in one.scores), strict=True)) for one in walked]
        return [rescored(candidates, share) for candidates, share in zip(found, shares, strict=True)]


def rescored(candidates: Sequence[Scored], share: dict[str, float]) -> list[Scored]:
    """Candidates scored anew, best first; `share` is what a walk gave to passages, 1 for the best: WALK_WEIGHT * (root of it - 1/2) joins the logit."""
    found = []
    for one in candidates:
        chance = min(max(one.score, _LEAST), 1 - _LEAST)
        logit = log(chance / (1 - chance)) + WALK_WEIGHT * (share.get(one.pair.passage, 0.0) ** 0.5 - 0.5)
        found.append(replace(one, score=1 / (1 + exp(-logit))))
    return sorted(found, key=lambda one: (-one.score, one.pair.id))
