"""What becomes of paths as they find things (PathwiseRAG, equations 9, 17 and 40): one that finds nothing
new stops, and how many passages another may bring follows its gain.

omega(p) = alpha InfoGain + beta PathDiversity (equation 40). Ours, as alpha, beta and the measures are not
published: the gain of a path is the share of its passages that no path before it found, which is both; its
k is that share of `documents`, and one at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage


@dataclass(frozen=True, slots=True)
class Adjusted:
    """What a path brings. gain: share of its passages that are new. stopped: it fell below the threshold."""

    passages: Sequence[RankedPassage]
    gain: float
    stopped: bool

    def words(self) -> str:
        """The decision in words, for the trace."""
        kept = f"{len(self.passages)} kept" if self.passages else "none kept"
        return f"gain {self.gain:.2f}: {'stopped' if self.stopped else kept}"


def adjusted(
    found: Sequence[Sequence[RankedPassage]], known: set[str], documents: int, least: float
) -> list[Adjusted]:
    """What each path brings, in their order. known: ids that were found before, added to. documents: of a
    path of which all is new. least: gain below which a path stops; the first never does."""
    results = []
    for passages in found:
        new = [passage.id for passage in passages[:documents] if passage.id not in known]
        gain = len(new) / min(len(passages), documents) if passages else 0.0
        stopped = gain < least and bool(known)
        k = 0 if stopped else max(1, round(gain * documents))
        known.update(passage.id for passage in passages[:k])
        results.append(Adjusted(passages[:k], gain, stopped))
    return results
