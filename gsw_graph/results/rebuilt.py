"""Results out of the JSON that they say themselves in."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union

from gsw_graph.errors import InputError

T = TypeVar("T")


def rebuilt(kind: type[T], value: Any) -> T:
    """The result of that kind of which `value` is the `to_dict`. Raises InputError where it cannot be."""
    try:
        return typing.cast("T", _made(kind, value))
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise InputError(
            f"this is no {kind.__name__} ({error})", hint="Send it as it was given, whole"
        ) from error


def _made(kind: Any, value: Any) -> Any:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _record(typing.cast("type", kind), value)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        (some,) = (one for one in inside if one is not type(None))
        return _made(some, value)
    if origin is list:
        if not isinstance(value, list):
            raise TypeError("a list is missing")
        return [_made(inside[0], one) for one in value]
    if origin is dict:
        return {str(name): _made(inside[1], one) for name, one in dict(value).items()}
    if kind is float and type(value) is int:
        return float(value)
    if not isinstance(value, kind):
        raise TypeError(f"{type(value).__name__} is no {kind.__name__}")
    return value


def _record(kind: type, value: Mapping[str, Any]) -> Any:
    hints = _hints(kind)
    given = {
        field.name: _made(hints[field.name], value[field.name])
        for field in fields(kind)
        if field.name in value or (field.default is MISSING and field.default_factory is MISSING)
    }
    return kind(**given)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of its fields; modules name some only where types are checked, so the names of all results
    are at hand."""
    from gsw_graph import results
    from gsw_graph.inference.costs.ledger import Entry

    return typing.get_type_hints(kind, localns={**vars(results), "Entry": Entry})
