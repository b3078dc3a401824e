"""Statements by name, and lists as their parameters."""

from __future__ import annotations

from typing import Any

from gsw_graph.cypher import statement

__all__ = ["Unlogged", "statement"]


class Unlogged(list[Any]):
    """A list as a parameter of a statement. The driver makes a line for its debug log of every parameter,
    wanted or not, and for vectors that takes twenty times as long as sending them
    (docs/lab/performance-2026-11.md); of this one it shows how long it is.
    """

    def __repr__(self) -> str:
        return f"<{len(self)} items>"
