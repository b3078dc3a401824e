"""Define the part of a database that a memory may see if there are several: its labels and types, and the
guard that keeps a pattern inside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from gsw_graph.cypher import LABELS, TYPES
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from gsw_graph.engine import Connection

_BASES = "|".join((*LABELS, *TYPES))
_END = re.compile(r"__(?P<memory>[a-z0-9]+(?:_[a-z0-9]+)*)\Z")
_OF_NAMED = re.compile(rf"(?:{_BASES}){_END.pattern}")


@dataclass(frozen=True)
class Space:
    """Hold the part of a database that people's statements may see.

    Attributes:
        memory: The name of the memory, empty for the default one.
        others: Labels of the other memories, which a pattern of the default memory must exclude.
    """

    OTHERS: ClassVar[str] = rf"(?:{_BASES})__[a-z0-9_]+"  # in an expression of Cypher
    memory: str
    others: tuple[str, ...] = ()

    @property
    def end(self) -> str:
        """Return the suffix of the labels, types and indexes of the memory."""
        return f"__{self.memory}" if self.memory else ""

    @cached_property
    def guard(self) -> str:
        """Return a label expression that each node of the memory fulfils, and no node of another memory."""
        if self.memory:
            return "|".join(f"{label}{self.end}" for label in LABELS)
        return f"!({'|'.join(self.others)})"

    @cached_property
    def types(self) -> str:
        """Return the types of all relationships of the memory."""
        return "|".join(f"{name}{self.end}" for name in TYPES)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names of the other known memories."""
        return frozenset(label.partition("__")[2] for label in self.others)

    def is_of_other(self, name: str) -> bool:
        """Return whether a label or type belongs to another memory."""
        match = _OF_NAMED.fullmatch(name)
        return match is not None and match["memory"] != self.memory

    def is_own(self, name: str, bases: Iterable[str] = LABELS) -> bool:
        """Return whether a label or type is of this memory, as it is written in it or in full."""
        return (name.removesuffix(self.end) if self.memory else name) in bases

    def in_full(self, name: str) -> str:
        """Return a label, type or index of this memory as the database knows it."""
        return name if not self.memory or name.endswith(self.end) else f"{name}{self.end}"

    def is_index_of_other(self, name: str) -> bool:
        """Return whether an index or constraint belongs to another memory, by the end of its name."""
        match = _END.search(name)
        if match is None or match["memory"] == self.memory:
            return False
        return bool(self.memory) or match["memory"] in self.names

    def holds(self, labels: Iterable[str]) -> bool:
        """Return whether a node with these labels may leave the database; a deleted node has none."""
        found = list(labels)
        if any(map(self.is_of_other, found)):
            return False
        return not self.memory or not found or any(map(self.is_own, found))

    def lists(self, row: Fields) -> bool:
        """Return whether an index or constraint that the server lists may be seen."""
        if self.is_index_of_other(str(row.get("name"))):
            return False
        return self.holds(row.get("labelsOrTypes") or ())


def space_of(connection: Connection) -> Space | None:
    """Return the space of a connection; None for the default memory of a database without others."""
    if connection.memory:
        return Space(connection.memory)
    labels = sorted(str(record["label"]) for record in connection.read("read/labels_of_memories"))
    others = tuple(label for label in labels if _OF_NAMED.fullmatch(label))
    return Space("", others) if others else None
