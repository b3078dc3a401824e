"""What a strategy can run with other than the usual: the fields of its recipe (`gsw_graph.retrieve.recipes`).

A field of a record within it is named with a point: `walk.restart`. Where a strategy has recipes by name,
`recipe` names one in the place of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.retrieve.strategies import STRATEGIES
from gsw_graph.retrieve.strategy import Strategy

Value: TypeAlias = bool | int | float | str

_RECIPE = "recipe"
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def known(strategy: str) -> Strategy[Any]:
    """The strategy of this name. InputError: there is none."""
    if strategy not in STRATEGIES:
        raise InputError(f"there is no strategy {strategy!r}", hint=f"Use one of {', '.join(STRATEGIES)}")
    return STRATEGIES[strategy]


def names(strategy: str) -> list[str]:
    """The settings of a strategy."""
    of = known(strategy)
    return [*([_RECIPE] if of.recipes else []), *_fields(of.recipe)]


def current(strategy: str, name: str) -> Value:
    """The value that a setting has. InputError: the strategy has no such setting."""
    of = known(strategy)
    if name == _RECIPE and of.recipes:
        return next(key for key, recipe in of.recipes.items() if recipe == of.recipe)
    if name not in _fields(of.recipe):
        has = ", ".join(names(strategy)) or "none"
        raise InputError(f"{strategy} has no setting {name!r}", hint=f"It has {has}")
    return _fields(of.recipe)[name]


def parse_value(strategy: str, name: str, text: str) -> Value:
    """What a text says for a setting, in the type that the setting has. InputError: it has another, or
    there is no such setting."""
    present = current(strategy, name)
    if isinstance(present, bool):
        value: Value | None = {"true": True, "false": False}.get(text.lower())
    else:
        try:
            value = type(present)(text)
        except ValueError:
            value = None
    if value is None:
        raise _wrong(name, text, present)
    return value


def with_settings(strategy: str, settings: Mapping[str, Value]) -> Strategy[Any]:
    """The strategy with other settings. InputError: there is no such setting, or it cannot have this
    value."""
    of = known(strategy)
    for name, value in settings.items():
        _check_type(name, value, current(strategy, name))
    own = dict(settings)
    recipe = of.recipe
    if _RECIPE in own and of.recipes:
        named = own.pop(_RECIPE)
        if named not in of.recipes:
            raise InputError(f"there is no recipe {named!r}", hint=f"Use one of {', '.join(of.recipes)}")
        recipe = of.recipes[str(named)]
    return of.with_recipe(_changed(recipe, own))


def _fields(recipe: Any, before: str = "") -> dict[str, Value]:
    """The values of a record by name, those of records within it too."""
    found: dict[str, Value] = {}
    for one in fields(recipe):
        value = getattr(recipe, one.name)
        found |= (
            _fields(value, f"{before}{one.name}.") if is_dataclass(value) else {f"{before}{one.name}": value}
        )
    return found


def _changed(recipe: Any, settings: Mapping[str, Value]) -> Any:
    """A record with other values, those of records within it too. InputError: a value is below what it can
    be."""
    own = {name: value for name, value in settings.items() if "." not in name}
    inner: dict[str, dict[str, Value]] = {}
    for name, value in settings.items():
        first, point, rest = name.partition(".")
        if point:
            inner.setdefault(first, {})[rest] = value
    return replace(
        recipe, **own, **{name: _changed(getattr(recipe, name), some) for name, some in inner.items()}
    )


def _check_type(name: str, value: Value, present: Value) -> None:
    if type(value) is not type(present) and not (isinstance(present, float) and type(value) is int):
        raise _wrong(name, value, present)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} cannot be {value!r}", hint=f"It is {present!r}: give a finite number")


def _wrong(name: str, value: Value, present: Value) -> InputError:
    return InputError(f"{name} cannot be {value!r}", hint=f"It is {present!r}: give {_KINDS[type(present)]}")
