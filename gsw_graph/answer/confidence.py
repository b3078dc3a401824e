"""How sure an answer from chains is: the chance that the memory holds it, fitted on questions asked with and without their passages (bench/confidence.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

FEATURES = ("chain", "weakest", "last", "first", "product", "margin")
WEIGHTS = np.array([1.948, 1.521, 2.699, 5.092, 0.178, 0.359])
BIAS = 2.264
REFUSED_BELOW = 0.3  # refuses 6 % of questions whose answer stands in the evidence, 70 % of those without their passages, held out


def confidence(hops: Sequence[Sequence[float]], chains: Sequence[float]) -> float:
    """In [0, 1], from the hop scores of the chains and the scores of the chains, best first; 0 without a chain."""
    return float(1 / (1 + np.exp(BIAS - np.array(features(hops, chains)) @ WEIGHTS))) if chains else 0.0


def features(hops: Sequence[Sequence[float]], chains: Sequence[float]) -> list[float]:
    """Of the best chain: its score, its weakest, last and first hop, the product of its hops; and how far it is ahead of the next chain."""
    if not chains:
        return [0.0] * len(FEATURES)
    best = hops[0]
    return [chains[0], min(best), best[-1], best[0], float(np.prod(best)), chains[0] - chains[1] if len(chains) > 1 else 0.5]
