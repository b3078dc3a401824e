"""Describe the schema in words, for a language model that writes statements over it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from gsw_graph.store import nodes

if TYPE_CHECKING:
    from neomodel.properties import Property

# Labels that hold nothing of the documents.
_INTERNAL = ("Memory", "Run", "Correction")


@cache
def described_schema() -> str:
    """Return the labels and relationships of `store/nodes.py`, one a line, as patterns with the types of
    their properties; without vectors, and without labels that hold nothing of the documents."""
    shown = [cls for cls in nodes.NODES if cls.__label__ not in _INTERNAL]
    lines = ["Nodes", *(f"(:{cls.__label__}{_typed(cls)}) {_meaning(cls)}" for cls in shown)]
    lines += ["", "Relationships"]
    for (begin, kind, end), cls in nodes.declared().items():
        if begin in _INTERNAL or end in _INTERNAL:
            continue
        typed, meaning = (_typed(cls), f" {_meaning(cls)}") if cls else ("", "")
        lines.append(f"(:{begin})-[:{kind}{typed}]->(:{end}){meaning}")
    return "\n".join(lines)


def _typed(cls: Any) -> str:
    """Return the properties of a class with their types, as a map."""
    properties: Iterable[tuple[str, Property[Any]]] = nodes.properties(cls).items()
    typed = [(name, nodes.type_name(property_)) for name, property_ in properties]
    listed = ", ".join(f"{name}: {kind}" for name, kind in typed if kind not in nodes.VECTOR_TYPES)
    return f" {{{listed}}}"


def _meaning(cls: Any) -> str:
    return re.sub(r"\s+", " ", str(cls.__doc__)).strip()
