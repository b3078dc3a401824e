"""What a strategy can run with other than the usual: constants of modules of `gsw_graph.retrieve`, and PropRAG's recipe.

A constant is named MODULE.CONSTANT. For `proprag` and `proprag-linked` `recipe` names one of RECIPES in the place of their own, and a field's name changes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.retrieve import proprag_recipe
from gsw_graph.retrieve.proprag_recipe import RECIPES, Recipe

Value: TypeAlias = bool | int | float | str

_ROOM = "gsw_graph.retrieve"
_CACHE = "graph_cache"  # what this module binds went into graphs on disk
_SYNONYMS = "proposition_synonyms"  # and all of this one
_RECIPE = "recipe"
_OWN = {"proprag": "quick", "proprag-linked": "linked"}  # the recipes of strategies; the constant has the same name in capitals
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_COUNTS = ("width", "length", "focus", "steps")  # of a recipe: without one there is nothing to do
_FIELDS = [name for name in Recipe.__dataclass_fields__ if name != "weights"]


def current(strategy: str, name: str) -> Value:
    """The value that a setting has. InputError: the strategy has no such setting."""
    if strategy in _OWN and name == _RECIPE:
        return _OWN[strategy]
    if strategy in _OWN and name in _FIELDS:
        value: object = getattr(RECIPES[_OWN[strategy]], name)
    else:
        module, constant = _place(name)
        value = getattr(module, constant)
    if not isinstance(value, bool | int | float | str):
        raise InputError(f"{name} is a {type(value).__name__}", hint="Only numbers, texts, true and false can be set")
    return value


def parse_value(strategy: str, name: str, text: str) -> Value:
    """What a text says for a setting, in the type that the setting has. InputError: it has another, or there is no such setting."""
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


def check(strategy: str, name: str, value: Value) -> None:
    """InputError: a setting cannot have this value, or there is no such setting."""
    present = current(strategy, name)
    if type(value) is not type(present) and not (isinstance(present, float) and type(value) is int):
        raise _wrong(name, value, present)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} cannot be {value!r}", hint=f"It is {present!r}: give a finite number")
    if not isinstance(value, str) and value < 0 <= present:  # type: ignore[operator]
        raise InputError(f"{name} cannot be {value!r}", hint=f"It is {present!r}: give a number that is not below 0")
    if name in _COUNTS and strategy in _OWN and value == 0:
        raise InputError(f"{name} cannot be 0", hint=f"It is {present!r}: give at least 1")
    if name == _RECIPE and value not in RECIPES:
        raise InputError(f"there is no recipe {value!r}", hint=f"Use one of {', '.join(RECIPES)}")


def places(strategy: str, settings: Mapping[str, Value]) -> list[tuple[ModuleType, str, object]]:
    """The module, the constant and its value that settings come down to."""
    of_recipe = {name: value for name, value in settings.items() if strategy in _OWN and (name == _RECIPE or name in _FIELDS)}
    found: list[tuple[ModuleType, str, object]] = [(*_place(name), value) for name, value in settings.items() if name not in of_recipe]
    if of_recipe:
        named = RECIPES[str(of_recipe.pop(_RECIPE, _OWN[strategy]))]
        changes: dict[str, object] = dict(of_recipe)
        found.append((proprag_recipe, _OWN[strategy].upper(), replace(named, **changes)))  # type: ignore[arg-type]
    return found


def _wrong(name: str, value: Value, present: Value) -> InputError:
    return InputError(f"{name} cannot be {value!r}", hint=f"It is {present!r}: give {_KINDS[type(present)]}")


def _place(name: str) -> tuple[ModuleType, str]:
    """The module and the constant of a setting."""
    where, _, constant = name.rpartition(".")
    hint = "Name a constant of a module of gsw_graph.retrieve: walk.RESTART, linked.LINKED_MASS; for proprag also recipe or a field of it: width"
    if not where.isidentifier() or where.startswith("_") or not constant.isidentifier() or not constant.isupper() or constant.startswith("_"):
        raise InputError(f"{name!r} is no setting", hint=hint)
    try:
        module = import_module(f"{_ROOM}.{where}")
    except ModuleNotFoundError:
        raise InputError(f"there is no setting {name}: there is no module {where}", hint=hint) from None
    if not hasattr(module, constant):
        raise InputError(f"there is no setting {name}", hint=hint)
    if where in (_CACHE, _SYNONYMS) or hasattr(import_module(f"{_ROOM}.{_CACHE}"), constant):
        raise InputError(f"{name} went into graphs that are kept on disk", hint="Change it in the source and load the memory anew")
    return module, constant
