"""Intervals by resampling the questions, paired differences, percentiles. The same values give the same
figures always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

RESAMPLES = 2000
SEED = 0
_CHUNK = 4_000_000  # numbers drawn at once


def mean(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return float(np.mean(values)) if len(values) else None


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean: percentiles 2.5 and 97.5 of the means of `RESAMPLES` samples of the
    same size, with repetition. None of nothing."""
    if not len(values):
        return None
    drawn = np.asarray(values, dtype=np.float64)
    source = np.random.default_rng(SEED)
    rows = max(1, _CHUNK // len(drawn))
    means = [
        drawn[source.integers(0, len(drawn), (min(rows, RESAMPLES - at), len(drawn)))].mean(axis=1)
        for at in range(0, RESAMPLES, rows)
    ]
    low, high = np.percentile(np.concatenate(means), (2.5, 97.5))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Paired:
    """How much more the second of two has than the first on the same questions: mean with its 95 %
    interval, and on how many it is above, below or equal."""

    n: int
    mean: float
    interval: tuple[float, float]
    above: int
    below: int
    equal: int

    def to_dict(self) -> dict[str, Any]:
        """This as JSON types."""
        return {**asdict(self), "interval": list(self.interval)}


def paired(first: Sequence[float], second: Sequence[float]) -> Paired | None:
    """The second minus the first, question by question. None: there are none. ValueError: they are not of
    the same questions."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    if (found := interval(differences)) is None:
        return None
    above, below = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    return Paired(
        len(differences), float(np.mean(differences)), found, above, below, len(differences) - above - below
    )


def spread(values: Sequence[float]) -> dict[str, float] | None:
    """`mean`, `p50` and `p95` (between two values in proportion). None of nothing."""
    if not len(values):
        return None
    p50, p95 = np.percentile(np.asarray(values, dtype=np.float64), (50, 95))
    return {"mean": float(np.mean(values)), "p50": float(p50), "p95": float(p95)}
