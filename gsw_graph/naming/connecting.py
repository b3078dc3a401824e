"""Moved to `gsw_graph.dates`."""

from gsw_graph.dates import is_distinctive as connects

__all__ = ["connects"]
