"""What the graph is made of, for all that copies, exports and imports it: labels with their keys and
properties, relationships with their ends. Read off the classes of `nodes.py`, so that what is added there is
moved without being listed again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from neomodel import BooleanProperty, FloatProperty, IntegerProperty, StringProperty
from neomodel.properties import Property

from gsw_graph.store import nodes

# What a property holds; a list of floats is a vector of 32 bits.
_TYPES: dict[Any, str] = {
    StringProperty: "string",
    IntegerProperty: "long",
    FloatProperty: "double",
    BooleanProperty: "boolean",
    nodes.BytesProperty: "bytes",
}
VECTOR = "float[]"


@dataclass(frozen=True, slots=True)
class Label:
    """Nodes of one label. key: the property that tells them apart. properties: the type of each by name:
    `string`, `long`, `double`, `boolean`, `bytes`, `string[]`, `long[]` or `float[]`, a vector."""

    name: str
    key: str
    properties: Mapping[str, str]

    @property
    def vectors(self) -> tuple[str, ...]:
        """The properties that are vectors."""
        return tuple(name for name, kind in self.properties.items() if kind == VECTOR)


@dataclass(frozen=True, slots=True)
class Relationship:
    """Relationships of one type between two labels."""

    begin: Label
    type: str
    end: Label
    properties: Mapping[str, str]

    @property
    def name(self) -> str:
        """`Entity IN Passage`."""
        return f"{self.begin.name} {self.type} {self.end.name}"


Kind = Label | Relationship


@cache
def labels() -> Mapping[str, Label]:
    """All labels by name, Memory first."""
    return {cls.__label__: _label(cls) for cls in nodes.NODES}


@cache
def relationships() -> tuple[Relationship, ...]:
    """All kinds of relationships."""
    return tuple(
        Relationship(labels()[begin], kind, labels()[end], _types(model) if model else {})
        for (begin, kind, end), model in declared().items()
    )


def kinds() -> tuple[Kind, ...]:
    """All kinds of nodes, then of relationships."""
    return (*labels().values(), *relationships())


def declared() -> dict[tuple[str, str, str], type | None]:
    """The class of the properties of each kind of relationship, by label, type and label; sorted."""
    found: dict[tuple[str, str, str], type | None] = {}
    for cls in nodes.NODES:
        for definition in cls.defined_properties(aliases=False, properties=False).values():
            made = definition.definition
            other = made["node_class"] if isinstance(made.get("node_class"), type) else definition._raw_class
            other = other if isinstance(other, str) else other.__label__
            begin, end = (
                (cls.__label__, other) if made["direction"].name == "OUTGOING" else (other, cls.__label__)
            )
            key = (begin, made["relation_type"], end)
            found[key] = found.get(key) or made["model"]
    return dict(sorted(found.items(), key=lambda one: one[0]))


def properties(cls: Any) -> dict[str, Property[Any]]:
    """The properties of a class by their names in the graph."""
    found = cls.defined_properties(aliases=False, rels=False)
    return {one.get_db_property_name(name): one for name, one in found.items()}


def _label(cls: Any) -> Label:
    key = next(name for name, one in properties(cls).items() if one.unique_index)
    return Label(cls.__label__, key, _types(cls))


def _types(cls: Any) -> dict[str, str]:
    return {name: _type(one) for name, one in properties(cls).items()}


def _type(one: Any) -> str:
    base = getattr(one, "base_property", None)
    if base is None:
        return _TYPES[type(one)]
    return VECTOR if isinstance(base, FloatProperty) else f"{_type(base)}[]"
