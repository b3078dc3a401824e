"""Paths through a network (PathwiseRAG, equation 8): to each end of it, by its priority omega, the most
promising and the most different first.

omega(v) = the mean of relevance, difficulty and expected gain. Ours, as the paper gives no formula:
relevance is the cosine of the sub-problem with the question; difficulty its place in the chain, of 5 at
most; expected gain one less the largest cosine with a sub-problem that is on a path already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.retrieve.pathwise.intent import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.retrieve.pathwise.network import Network, SubProblem


@dataclass(frozen=True, slots=True)
class Path:
    """Sub-problems in the order in which they are asked; the last is what the path is for. omega: its
    priority, the mean of theirs."""

    problems: tuple[SubProblem, ...]
    omega: float

    @property
    def end(self) -> SubProblem:
        """What the path is for."""
        return self.problems[-1]


def paths_of(
    network: Network, question: str, vectors: Mapping[str, NDArray[np.float32]], most: int
) -> list[Path]:
    """At most `most` paths, the best first: each time the end whose path has the largest omega, given those
    chosen before. vectors: of the question and the sub-problems, of length 1."""
    by_id = {problem.id: problem for problem in network.problems}
    ways = {
        end.id: [*(one for one in by_id if one in network.ancestors(end.id)), end.id] for end in network.ends
    }
    taken: set[int] = set()
    paths: list[Path] = []

    def omega(id_: int) -> float:
        vector = vectors[by_id[id_].question]
        relevance = max(0.0, float(vector @ vectors[question]))
        difficulty = min(1 + len(network.ancestors(id_)), DEEPEST) / DEEPEST
        known = max(
            (float(vector @ vectors[by_id[one].question]) for one in taken if one != id_), default=0.0
        )
        gain = 0.0 if id_ in taken else 1 - max(0.0, known)
        return (relevance + difficulty + gain) / 3

    while ways and len(paths) < most:
        worth = {end: sum(map(omega, way)) / len(way) for end, way in ways.items()}
        best = max(worth, key=lambda end: (worth[end], -end))
        paths.append(Path(tuple(by_id[one] for one in ways.pop(best)), worth[best]))
        taken.update(one.id for one in paths[-1].problems)
    return paths
