"""Former place of `gsw_graph.concurrency.Cancel`, for callers that are not renamed yet."""

from gsw_graph.concurrency import Cancel

__all__ = ["Cancel"]
