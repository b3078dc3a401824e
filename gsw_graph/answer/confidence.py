"""How sure an answer from chains is: the chance that the answer stands in the evidence, fitted on
questions asked with and without their passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.strategy import ChainConfidence

FEATURES = ("chain", "last", "first", "weakest")
# held out: refuses 9 % (fusion: 11) of questions whose answer stands in the evidence, 82 % (83) of those
# without their passages
REFUSED_BELOW = 0.25
_LEAST = 1e-3


def confidence(hops: Sequence[Sequence[float]], chains: Sequence[float], scale: ChainConfidence) -> float:
    """In [0, 1], from the hop scores of the chains and the scores of the chains, best first; 0 without a
    chain."""
    return (
        float(1 / (1 + np.exp(scale.bias - np.array(features(hops, chains)) @ np.array(scale.weights))))
        if chains
        else 0.0
    )


def features(hops: Sequence[Sequence[float]], chains: Sequence[float]) -> list[float]:
    """Of the best chain: its score, its last and first hop, and its weakest on a logarithmic scale from 0
    (0.001 and less) to 1: a chain is as good as that."""
    if not chains:
        return [0.0] * len(FEATURES)
    best = hops[0]
    return [chains[0], best[-1], best[0], 1 + float(np.log10(max(min(best), _LEAST))) / 3]
