"""Personalised PageRank as sparse iteration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_TOLERANCE = 1e-6  # of the sum of changes in a step, where the weights sum to 1
_STEPS = 200
_SHARE = 2_000_000  # entries of a matrix that are worth a thread

Vector = NDArray[np.floating]


def pagerank(
    edges: sparse.csr_array,
    reset: Vector,
    damping: float,
    *,
    preference: Vector | None = None,
    tolerance: float = _TOLERANCE,
    steps: int = _STEPS,
) -> Vector:
    """Weights of the nodes, which sum to 1: the fixed point of x = damping (T x + share of the nodes without
    an edge * reset) + (1 - damping) reset.

    edges: symmetric, weights above 0. reset: (nodes,), not negative, any sum but 0. damping: in (0, 1).
    preference: (nodes,), a factor above 0 on what flows into a node; T is then D W over its column sums. A
    node without an edge gives its weight back to the reset, as in networkx and igraph. It ends after
    `steps`, or when a step changes less than the share `tolerance` of all weight, which is then about what
    it errs by.
    """
    kind: np.dtype[np.floating] = edges.dtype
    preference = np.ones(edges.shape[0], dtype=kind) if preference is None else preference.astype(kind)
    start = (reset / reset.sum()).astype(kind)
    with _product(edges) as product:
        sums = product(preference)  # W is symmetric
        outflow = np.divide(damping, sums, out=np.zeros_like(sums), where=sums > 0)
        weight = _fixed_point(
            lambda x: preference * product(x * outflow) + start, start, damping, tolerance, steps
        )
    whole: Vector = weight / weight.sum()
    return whole


def _fixed_point(
    step: Callable[[Vector], Vector], start: Vector, damping: float, tolerance: float, steps: int
) -> Vector:
    """Of x = damping T x + start. What the nodes without an edge give back would change its sum alone.

    T is similar to a symmetric matrix, so that its eigenvalues are real and in [-1, 1], for which Chebyshev's
    semi-iteration (Golub and Varga 1961) takes up to half the steps.
    """
    before, weight, omega = np.zeros_like(start), start, 2.0
    for number in range(steps):
        new = step(weight)
        if number:
            omega = 1 / (1 - damping**2 * omega / 4)
            new = start.dtype.type(omega) * (new - before) + before
        change = float(np.abs(new - weight).sum())
        before, weight = weight, new
        if change < tolerance * float(weight.sum()):
            break
    return step(np.maximum(weight, 0))  # a small weight may have come out below 0


@contextmanager
def _product(edges: sparse.csr_array) -> Iterator[Callable[[Vector], Vector]]:
    """`edges @ x`, of a large matrix by a thread a processor: scipy lets the others run meanwhile."""
    threads = min(os.cpu_count() or 1, edges.nnz // _SHARE)
    if threads < 2:
        yield edges.__matmul__
        return
    rows = np.searchsorted(edges.indptr, np.linspace(0, edges.nnz, threads + 1))
    rows[0], rows[-1] = 0, edges.shape[0]
    parts = []
    for first, last in pairwise(rows):
        begin, end = edges.indptr[first], edges.indptr[last]
        inner = edges.data[begin:end], edges.indices[begin:end], edges.indptr[first : last + 1] - begin
        parts.append(sparse.csr_array(inner, shape=(last - first, edges.shape[1])))
    with ThreadPoolExecutor(threads) as pool:
        yield lambda x: np.concatenate(list(pool.map(lambda part: part @ x, parts)))
