"""How sure an answer from chains is: the chance that the memory holds it, calibrated on questions asked with and without their passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.ricr import Beams, Chain

REFUSED_BELOW = 0.1


def confidence(chains: Sequence[Chain], beams: Beams) -> float:  # noqa: ARG001 - to be used
    """In [0, 1]; 0 without a chain."""
    return min(hop.score for hop in chains[0].hops) if chains else 0.0
