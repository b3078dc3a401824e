"""Names that are similar by their vectors: the synonymy edges of PropRAG, and the threshold that an
embedder needs for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# share of random pairs of names that an embedder puts above its threshold: 0.80 for all-MiniLM-L6-v2, as the
# paper has for its own
CHANCE = 1e-4
FALLBACK = 0.8  # the paper's, where the names are too few to see that share
NEIGHBOURS = 100  # of one name (the code's 101)
SLACK = 0.05  # pairs this far below the threshold are kept too: it moves a little as names are added
_SAMPLE = 2000  # names whose pairs show the threshold
_FEWEST = 500
_BLOCK = 1024
_EXACT = 50_000  # names up to which all are compared with all; above, those of the same bucket
_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Pairs:
    """Pairs of names by number, each once, with their cosine of at least `least`: of each name the
    nearest, more of them than NEIGHBOURS."""

    one: NDArray[np.int32]
    other: NDArray[np.int32]
    cosines: NDArray[np.float32]
    least: float


def threshold(vectors: NDArray[np.float32]) -> float:
    """The cosine that a share of CHANCE of the pairs of names exceeds, seen on evenly spread names;
    `vectors` (names, dimension) are of length 1."""
    if len(vectors) < _FEWEST:
        return FALLBACK
    sample = vectors[np.linspace(0, len(vectors) - 1, min(_SAMPLE, len(vectors))).astype(np.intp)]
    return float(np.quantile((sample @ sample.T)[np.triu_indices(len(sample), 1)], 1 - CHANCE))


def pairs(
    names: Sequence[str], vectors: NDArray[np.float32], least: float, new: NDArray[np.bool_] | None = None
) -> Pairs:
    """The pairs of names, of more than two letters and digits each, whose cosine is at least `least`; with
    `new` only those that one of these names is in.

    Up to _EXACT names every new one is compared with all; above, with the names that are nearest to the same
    two of some pivots. A pair is there where one of the two is among the nearest of the other, so that
    names which are all alike make no more than a few pairs each.
    """
    speaking = np.array([len(_LETTERS.sub("", name)) > 2 for name in names], dtype=bool)
    new = np.ones(len(names), dtype=bool) if new is None else new
    found: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]] = []
    for bucket in _buckets(vectors):
        inside = bucket[speaking[bucket]]
        fresh, known = inside[new[inside]], inside[~new[inside]]
        for asking, others in (
            (fresh, inside),
            (known, fresh),
        ):  # a new name may be among the nearest of a known one, and not the other way round
            found += [
                _nearest(vectors, asking[begin : begin + _BLOCK], others, least)
                for begin in range(0, len(asking), _BLOCK)
            ]
    if not found:
        return Pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32), least)
    one, other, cosine = (np.concatenate(parts) for parts in zip(*found, strict=True))
    low, high = np.minimum(one, other), np.maximum(one, other)
    _, first = np.unique(
        low * np.intp(len(names)) + high, return_index=True
    )  # found from both sides, or in two buckets
    return Pairs(
        low[first].astype(np.int32), high[first].astype(np.int32), cosine[first].astype(np.float32), least
    )


def _nearest(
    vectors: NDArray[np.float32], asked: NDArray[np.intp], others: NDArray[np.intp], least: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Pairs of an asked name and another with their cosine: of each the nearest, twice as many as count,
    as some may be forgotten in later versions."""
    cosines = vectors[asked] @ vectors[others].T
    near = (cosines >= least) & (asked[:, None] != others)
    for row in np.flatnonzero(np.count_nonzero(near, axis=1) > 2 * NEIGHBOURS):
        there = np.flatnonzero(near[row])
        near[row, there[np.argsort(-cosines[row, there], kind="stable")[2 * NEIGHBOURS :]]] = False
    rows, columns = np.nonzero(near)
    return asked[rows], others[columns], cosines[rows, columns]


def matrix(found: Pairs, size: int, least: float) -> sparse.csr_array:
    """(size, size), symmetric: the cosines of at least `least`, for each name its NEIGHBOURS best and
    those whose best it is among."""
    kept = found.cosines >= least
    one, other = (
        np.concatenate([found.one[kept], found.other[kept]]),
        np.concatenate([found.other[kept], found.one[kept]]),
    )
    cosines = np.tile(found.cosines[kept], 2)
    order = np.lexsort((other, -cosines, one))
    sorted_ = one[order]
    place = np.empty(len(one), dtype=np.intp)
    place[order] = np.arange(len(one)) - np.searchsorted(sorted_, sorted_)
    half = len(one) // 2
    near = (place < NEIGHBOURS)[:half] | (place < NEIGHBOURS)[half:]
    both = np.tile(near, 2)
    return sparse.csr_array((cosines[both], (one[both], other[both])), shape=(size, size))


def _buckets(vectors: NDArray[np.float32]) -> list[NDArray[np.intp]]:
    """Groups of names within which similar ones are looked for."""
    if len(vectors) <= _EXACT:
        return [np.arange(len(vectors))]
    pivots = vectors[np.linspace(0, len(vectors) - 1, int(np.sqrt(len(vectors)))).astype(np.intp)]
    nearest = np.concatenate(
        [
            np.argpartition(-(vectors[b : b + _BLOCK] @ pivots.T), 2, axis=1)[:, :2]
            for b in range(0, len(vectors), _BLOCK)
        ]
    )
    pivot, name = nearest.ravel(), np.repeat(np.arange(len(vectors)), 2)
    order = np.lexsort((name, pivot))
    return np.split(name[order], np.flatnonzero(np.diff(pivot[order])) + 1)
