"""The fine stage: what the edges of a run say, held against what a question asks (AutoPrunedRetriever, A.3).

Thresholds are on raw cosines, as in the paper; the public code divides these by the number of the question's
lines first, so that its one-to-one term can never count for three lines or more. Two more departures: the
one-to-one term is the best matching instead of a greedy one, and a negative cosine of the whole counts as 0,
so that no larger cosine ever makes a score smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.recipes import FineRecipe


def scores(
    similar: NDArray[np.float32],
    there: NDArray[np.bool_],
    whole: NDArray[np.float32],
    recipe: FineRecipe,
) -> NDArray[np.float64]:
    """(runs,): the score of each run.

    similar: (runs, question lines, run lines), the cosines S; there: (runs, run lines), False where a run has
    fewer lines. whole: (runs,), the cosine of the question with the run as a whole.
    """
    asked = similar.shape[1]
    lines = there.sum(axis=1)
    inside = there[:, None, :]
    raw = np.where(inside, similar, -np.inf).astype(np.float64)
    size = np.maximum(asked * lines, 1)
    found: NDArray[np.float64] = (
        recipe.top_weight * _top(raw, size, recipe.top) / asked
        + recipe.cover_weight * (raw.max(axis=2) >= recipe.cover).mean(axis=1)
        + recipe.pair_weight
        * np.log1p(_sigmoid((raw - recipe.pair) / recipe.pair_scale).sum(axis=(1, 2)) / np.sqrt(size))
        + recipe.match_weight * matched(raw, recipe.match)
        + recipe.gate_weight * _whole(whole, lines, recipe)
    )
    return found


def _top(raw: NDArray[np.float64], size: NDArray[np.intp], top: int) -> NDArray[np.float64]:
    """The mean of the `top` largest cosines, of fewer where there are fewer."""
    flat = -np.sort(-raw.reshape(len(raw), -1), axis=1)[:, :top]
    taken = np.arange(flat.shape[1]) < np.minimum(size, top)[:, None]
    mean: NDArray[np.float64] = np.where(taken, flat, 0.0).sum(axis=1) / np.minimum(size, top)
    return mean


def matched(raw: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """(runs,): the largest sum / sqrt(number) over matchings of question lines and run lines, none twice, of
    cosines of at least `least`; 0 without one. It costs 2^lines of the question, which are few."""
    runs, asked, lines = raw.shape
    sets = np.arange(2**asked)
    best = np.full((runs, len(sets)), -np.inf)
    best[:, 0] = 0.0
    for line in range(lines):
        grown = best.copy()
        for one in range(asked):
            with_it = sets[(sets >> one) & 1 == 1]
            cosine = np.where(raw[:, one, line] >= least, raw[:, one, line], -np.inf)
            grown[:, with_it] = np.maximum(grown[:, with_it], best[:, with_it ^ (1 << one)] + cosine[:, None])
        best = grown
    taken = np.array([int(one).bit_count() for one in sets])
    found: NDArray[np.float64] = np.max(best / np.sqrt(np.maximum(taken, 1)), axis=1)
    return found


def _whole(cosine: NDArray[np.float32], lines: NDArray[np.intp], recipe: FineRecipe) -> NDArray[np.float64]:
    above = np.maximum(cosine.astype(np.float64), 0.0)
    return _sigmoid((above - recipe.gate) / recipe.gate_scale) * above / np.sqrt(np.maximum(lines, 1))


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))
