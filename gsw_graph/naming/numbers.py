"""Numbers: moved to `gsw_graph.dates`."""

from gsw_graph.dates import Number, find_numbers

__all__ = ["Number", "find_numbers"]
