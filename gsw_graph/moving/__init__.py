"""Memories on the move: from one engine to another, and into files that others read."""

from gsw_graph.moving.copying import copy, sides

__all__ = ["copy", "sides"]
