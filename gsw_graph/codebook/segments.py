"""Edges in runs: a run goes on while the next edge is near its centroid.

After AutoPrunedRetriever, section 2.3: append while max(0, cos(edge, centroid)) + BONUS [tail = head] >= TAU.
The paper cuts a stream in batches and looks at the boundary between two again. Here one pass goes over a
document, so that no boundary comes from a batch, and every one is a fixed point of the segmenter (Lemma 3):
given the runs on both sides it cuts there again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAU = 0.7
BONUS = 0.05  # where an edge begins with the concept that the one before ends with


def starts(vectors: NDArray[np.float32], follows: Sequence[bool], tau: float = TAU) -> list[int]:
    """Where runs begin, ascending; 0 is the first, and of no edges there are none.

    vectors: (edges, dimension), of length 1. follows: whether an edge begins where the one before ends; of
    the first it is not looked at.
    """
    found: list[int] = []
    total = np.zeros(vectors.shape[1:])
    for n, vector in enumerate(vectors):
        if found:
            length = float(np.linalg.norm(total)) or 1.0
            fit = max(0.0, float(total @ vector) / length) + (BONUS if follows[n] else 0.0)
        if not found or fit < tau:
            found.append(n)
            total = np.array(vector, dtype=np.float64)
        else:
            total += vector
    return found
