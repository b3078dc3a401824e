"""Small functions on plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Fields: TypeAlias = dict[str, Any]
"""Values by their names: options, an object of JSON, a row of a statement."""


def unique(items: Iterable[T]) -> list[T]:
    """Return each item once, in the order in which they first come."""
    return list(dict.fromkeys(items))


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which spaces separate, as a set."""
    return frozenset(text.split())


def single_spaced(text: str) -> str:
    """Return a text without white space at its ends, and with one space in place of other white space."""
    return " ".join(text.split())


def without_none(fields: Mapping[str, Any]) -> Fields:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}
