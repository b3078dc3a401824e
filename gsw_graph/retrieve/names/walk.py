"""A personalised PageRank over passages and names, and the strongest path to a passage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk starts and what it prefers, for each node: `weight` sums to 1, `preference` is a factor
    in (0, 1]."""

    weight: NDArray[np.float32]
    preference: NDArray[np.float32]


def walk(edges: sparse.csr_array, seeds: Seeds, *, restart: float, steps: int) -> NDArray[np.float32]:
    """Weights of the nodes after `steps` of x <- (1 - restart) D W (x / colsum(D W)) + restart seed.

    W are the symmetric edges, D the preferences. A node without an edge gives its weight to nobody.
    """
    outflow = _outflow(edges, seeds)
    forth = np.float32(1 - restart) * seeds.preference
    back = np.float32(restart) * seeds.weight
    weight = seeds.weight
    for _ in range(steps):
        weight = forth * (edges @ (weight * outflow)) + back
    return weight


def strongest_paths(
    edges: sparse.csr_array, seeds: Seeds, targets: Sequence[int], *, restart: float
) -> list[list[int]]:
    """For each target the path from a seed that carries most weight: its nodes, the target last. Empty
    where none leads there."""
    nodes = edges.shape[0]
    entries = edges.tocoo()
    chance = (
        (1 - restart) * seeds.preference[entries.row] * entries.data * _outflow(edges, seeds)[entries.col]
    )
    started = np.flatnonzero(seeds.weight)
    source = np.full(len(started), nodes)  # one node more, from which every seed is reached with its weight
    lengths = -np.log(np.minimum(np.concatenate([chance, seeds.weight[started]]), 1 - 1e-6))
    graph = sparse.csr_array(
        (lengths, (np.concatenate([entries.col, source]), np.concatenate([entries.row, started]))),
        shape=(nodes + 1, nodes + 1),
    )
    _, before = csgraph.dijkstra(graph, indices=nodes, return_predecessors=True)  # type: ignore[call-overload]  # stubs know matrices only
    paths = []
    for target in targets:
        path, node = [], int(target)
        while 0 <= node < nodes and before[node] >= 0:
            path.append(node)
            node = int(before[node])
        paths.append(path[::-1])
    return paths


def _outflow(edges: sparse.csr_array, seeds: Seeds) -> NDArray[np.float32]:
    """One over the column sums of D W, 0 where a node has no edge."""
    sums: NDArray[np.float32] = edges @ seeds.preference  # W is symmetric
    shares: NDArray[np.float32] = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    return shares
