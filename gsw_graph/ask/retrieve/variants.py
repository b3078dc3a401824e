"""Read strategies with settings, such as `linked`, `linked [walk.restart=0.2]`, `proprag [recipe=paper]`.

A setting is a field of the strategy's recipe (`gsw_graph.ask.retrieve.recipes`); a field of a record within
it has a dot: `walk.restart`. If a strategy has several recipes, `recipe` names one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeAlias

from pydantic import ConfigDict, TypeAdapter, ValidationError

from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.ask.strategy import Strategy
from gsw_graph.errors import InputError

Value: TypeAlias = bool | int | float | str

_RECIPE = "recipe"
_COMMA = re.compile(r",(?![^\[]*\])")  # no comma inside brackets
_KINDS = {bool: "true or false", int: "a whole number", float: "a finite number", str: "a text"}


@dataclass(frozen=True)
class Variant:
    """Hold a strategy and its changed settings. Raises InputError if there is no such strategy, setting or
    value."""

    strategy: str
    settings: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.build()

    @property
    def name(self) -> str:
        """Write `linked`, `linked [walk.restart=0.2]`."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{self.strategy} [{settings}]" if settings else self.strategy

    def build(self) -> Strategy[Any]:
        """Return the strategy with these settings."""
        strategy = find_strategy(self.strategy)
        if not self.settings:
            return strategy
        recipe = strategy.recipe
        for name, value in self.settings.items():
            _validate(name, value, current_value(self.strategy, name), strict=True)
        if _RECIPE in self.settings and strategy.recipes:
            named = str(self.settings[_RECIPE])
            if named not in strategy.recipes:
                hint = f"Use one of {', '.join(strategy.recipes)}"
                raise InputError(f"there is no recipe {named!r}", hint=hint)
            recipe = strategy.recipes[named]
        for name, value in self.settings.items():
            if name != _RECIPE:
                recipe = _with_value(recipe, name, value)
        return strategy.with_recipe(recipe)


def parse_variants(text: str) -> list[Variant]:
    """Return the variants that a text names: `linked, proprag[recipe=paper, width=5]`. InputError: it is
    written otherwise, or names a strategy or setting that there is not."""
    return [parse_variant(part.strip()) for part in _COMMA.split(text)]


def parse_value(strategy: str, name: str, text: str) -> Value:
    """Read a value in the type of its setting. Raises InputError for another type, or an unknown setting."""
    return _validate(name, text, current_value(strategy, name), strict=False)


def find_strategy(name: str) -> Strategy[Any]:
    """Return a strategy by name. Raises InputError if there is none."""
    registry = strategies()
    if name not in registry:
        raise InputError(f"there is no strategy {name!r}", hint=f"Use one of {', '.join(registry)}")
    return registry[name]


def settings_of(strategy: str) -> dict[str, Value]:
    """Return the settings of a strategy with their values."""
    resolved = find_strategy(strategy)
    settings: dict[str, Value] = {}
    for name, recipe in resolved.recipes.items():
        if recipe == resolved.recipe:
            settings.setdefault(_RECIPE, name)
    return settings | _values(resolved.recipe)


def current_value(strategy: str, name: str) -> Value:
    """Return the value of a setting. Raises InputError if the strategy has no such setting."""
    values = settings_of(strategy)
    if name not in values:
        raise InputError(f"{strategy} has no setting {name!r}", hint=f"It has {', '.join(values) or 'none'}")
    return values[name]


def parse_variant(text: str) -> Variant:
    """Return the strategy and settings that a text names, such as `ricr[recipe=paper]`. Raises InputError as
    `parse_variants` does."""
    strategy, bracket, inside = text.partition("[")
    strategy = strategy.strip()
    find_strategy(strategy)
    settings: dict[str, Value] = {}
    for part in inside.removesuffix("]").split(",") if bracket else ():
        name, sign, value = part.partition("=")
        name = name.strip()
        if not sign or name in settings or not inside.endswith("]"):
            raise InputError(
                f"{text!r} is no strategy with settings",
                hint="Write linked[walk.restart=0.2, walk.steps=8], each setting once",
            )
        settings[name] = parse_value(strategy, name, value.strip())
    return Variant(strategy, settings)


def _values(recipe: Any, prefix: str = "") -> dict[str, Value]:
    """Return the values of a record by name, with the values of records within it."""
    values: dict[str, Value] = {}
    for item in fields(recipe):
        name = prefix + item.name
        value = getattr(recipe, item.name)
        if is_dataclass(value):
            values |= _values(value, f"{name}.")
        else:
            values[name] = value
    return values


def _with_value(recipe: Any, name: str, value: Any) -> Any:
    """Return a record with another value of a setting, which may be of a record within it."""
    first, point, rest = name.partition(".")
    if point:
        value = _with_value(getattr(recipe, first), rest, value)
    return replace(recipe, **{first: value})


def _validate(name: str, value: object, present: Value, *, strict: bool) -> Value:
    kind = type(present)
    checker = TypeAdapter(kind, config=ConfigDict(allow_inf_nan=False))
    try:
        return checker.validate_python(value, strict=strict)
    except ValidationError:
        hint = f"It is {present!r}: give {_KINDS[kind]}"
        raise InputError(f"{name} cannot be {value!r}", hint=hint) from None
