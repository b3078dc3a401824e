"""Personalised PageRank as sparse power iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

_TOLERANCE = 1e-6  # of the sum of changes in a step, where the weights sum to 1
_STEPS = 200


def pagerank(
    edges: sparse.csr_array,
    reset: NDArray[np.floating],
    damping: float,
    *,
    preference: NDArray[np.floating] | None = None,
    tolerance: float = _TOLERANCE,
    steps: int = _STEPS,
) -> NDArray[np.floating]:
    """Weights of the nodes, which sum to 1: the fixed point of x = damping (T x + share of the nodes without an edge * reset) + (1 - damping) reset.

    edges: symmetric, weights above 0. reset: (nodes,), not negative, any sum but 0. preference: (nodes,), a factor above 0 on what flows into a node; T is
    then D W over its column sums. A node without an edge gives its weight back to the reset, as in networkx and igraph. It ends after `steps`, or when a
    step changes less than `tolerance` in all.
    """
    kind: np.dtype[np.floating] = edges.dtype
    preference = np.ones(edges.shape[0], dtype=kind) if preference is None else preference.astype(kind)
    start = (reset / reset.sum()).astype(kind)
    sums = edges @ preference  # W is symmetric
    outflow = np.divide(damping, sums, out=np.zeros_like(sums), where=sums > 0)
    loose = np.flatnonzero(sums <= 0)
    weight: NDArray[np.floating] = start
    for _ in range(steps):
        back = (1 - damping) + (damping * float(weight[loose].sum()) if len(loose) else 0.0)
        new = preference * (edges @ (weight * outflow)) + kind.type(back) * start
        change = float(np.abs(new - weight).sum())
        weight = new
        if change < tolerance:
            break
    return weight
