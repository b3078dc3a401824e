"""Beam search over paths of propositions (PropRAG, section 5.3.3): on vectors that stand in the memory, no
model runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POOL = 200  # candidates of one path that are looked at, the best by their score


@dataclass(frozen=True, slots=True)
class Path:
    """Propositions in the order they were joined, by number, and the cosine of the whole with the
    question."""

    steps: tuple[int, ...]
    score: float


Exact = Callable[[Sequence[tuple[int, ...]]], "NDArray[np.float32]"]


def search(
    vectors: NDArray[np.float32],
    question: NDArray[np.float32],
    linked: NDArray[np.bool_],
    *,
    width: int,
    length: int,
    jumps: int = 0,
    coherence: float = -1.0,
    exact: int = 0,
    encode: Exact | None = None,
    one_order: bool = True,
) -> tuple[list[Path], list[Path]]:
    """The `width` best single propositions; and the paths of every length up to `length` that stood in a
    beam, best first.

    vectors: (propositions, dimension) and question: (dimension,), of length 1. linked: (propositions,
    propositions), whether one can follow the other. The `jumps` best propositions can follow any. One whose
    cosine with the last is below `coherence` cannot. A path scores the cosine of the mean of its vectors with
    the question; with `exact` the best that many of each depth score what `encode` gives for their text
    instead, where there are more than `width`. one_order: the same propositions in another order are the
    same path, the first found stays (as in the authors' code).
    """
    if not len(vectors):
        return [], []
    alone = vectors @ question
    rows: dict[
        int, NDArray[np.float32]
    ] = {}  # cosines of a proposition with all, of those that paths end with

    def row(n: int) -> NDArray[np.float32]:
        if n not in rows:
            rows[n] = vectors @ vectors[n]
        return rows[n]

    best = np.argsort(-alone, kind="stable")
    first = beam = [Path((int(n),), float(alone[n])) for n in best[:width]]
    every = list(beam)
    jump = np.zeros(len(vectors), dtype=bool)
    jump[best[:jumps]] = True
    seen: set[object] = set()
    for _ in range(1, length):
        grown: list[tuple[float, tuple[int, ...]]] = []
        for path in beam:
            steps = list(path.steps)
            allowed = (linked[steps[-1]] | jump) & (row(steps[-1]) >= coherence)
            allowed[steps] = False
            nexts = np.flatnonzero(allowed)
            cosines = np.sum([row(step) for step in steps], axis=0)
            lengths = np.sqrt(np.maximum(cosines[steps].sum() + 2 * cosines[nexts] + 1, 1e-12))
            scores = (alone[steps].sum() + alone[nexts]) / lengths
            order = np.argsort(-scores, kind="stable")[:_POOL]
            for score, new in zip(scores[order].tolist(), nexts[order].tolist(), strict=True):
                key = frozenset((*steps, new)) if one_order else (*steps, new)
                if key not in seen:
                    seen.add(key)
                    grown.append((score, (*path.steps, new)))
        if not grown:
            break
        grown.sort(key=lambda entry: -entry[0])  # stable: of equal ones the first found
        if encode is not None and exact and len(grown) > width:
            texts = [steps for _, steps in grown[:exact]]
            grown = sorted(
                zip((encode(texts) @ question).tolist(), texts, strict=True), key=lambda entry: -entry[0]
            )
        beam = [Path(steps, score) for score, steps in grown[:width]]
        every += beam
    return first, sorted(every, key=lambda path: -path.score)
