"""Describe the schema in words, for a language model that writes statements over it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from gsw_graph.store import nodes


@cache
def described_schema() -> str:
    """Return the labels and relationships of `store/nodes.py`, one a line, as patterns with their
    properties."""
    lines = [_line(f"(:{cls.__label__})", cls) for cls in nodes.NODES]
    for (begin, kind, end), cls in nodes.declared().items():
        lines.append(_line(f"(:{begin})-[:{kind}]->(:{end})", cls))
    return "\n".join(lines)


def _line(pattern: str, cls: Any) -> str:
    """Return a pattern with the properties of its class, and what the class says of them."""
    if cls is None:
        return pattern
    names = ", ".join(nodes.properties(cls))
    return re.sub(r"\s+", " ", f"{pattern} has {names}. {cls.__doc__}")
