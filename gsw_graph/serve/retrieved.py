"""Describe passages to the retrievers of other libraries."""

from __future__ import annotations

from gsw_graph.model.results import RankedPassage
from gsw_graph.values import Fields


def passage_metadata(passage: RankedPassage, confidence: float | None) -> Fields:
    """Return what is known of a passage. confidence: that the passages hold the answer, of all together."""
    return {
        "id": passage.id,
        "title": passage.title,
        "section": passage.section,
        "source": passage.source,
        "score": passage.score,
        "confidence": confidence,
    }
