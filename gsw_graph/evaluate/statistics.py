"""Means with intervals by resampling the questions, and paired differences. The same values always give the
same figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

RESAMPLES = 2000
SEED = 0


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return float(np.mean(values)) if len(values) else None


def interval(values: Sequence[float]) -> list[float] | None:
    """Return the 95 % bootstrap percentile interval of the mean; None of nothing, the value itself of one."""
    from scipy.stats import bootstrap

    if len(values) < 2:
        return [float(values[0])] * 2 if len(values) else None
    limits = bootstrap(
        (np.asarray(values, dtype=np.float64),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, 4_000_000 // len(values)),
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return [float(limits.low), float(limits.high)]


def paired(first: Sequence[float], second: Sequence[float]) -> dict[str, Any] | None:
    """Return how much more the second has than the first, question by question: n, mean with its interval,
    and on how many it is above, below or equal. None of nothing."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    if not differences:
        return None
    above, below = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return {
        "n": len(differences),
        "mean": float(np.mean(differences)),
        "interval": interval(differences),
        "above": above,
        "below": below,
        "equal": len(differences) - above - below,
    }


def spread(values: Sequence[float]) -> dict[str, float] | None:
    """Return `mean`, `p50` and `p95` (between two values in proportion). None of nothing."""
    if not len(values):
        return None
    p50, p95 = np.percentile(np.asarray(values, dtype=np.float64), (50, 95))
    return {"mean": float(np.mean(values)), "p50": float(p50), "p95": float(p95)}
