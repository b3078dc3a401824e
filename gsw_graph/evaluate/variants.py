"""A strategy with the constants it runs with: `linked`, or `linked` with `walk.RESTART=0.2`.

A setting is a constant of a module of `gsw_graph.retrieve`, named MODULE.CONSTANT. It holds in this process while a question is asked, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TypeAlias

from gsw_graph.errors import InputError

Value: TypeAlias = bool | int | float | str

_ROOM = "gsw_graph.retrieve"
_STORED = "graph_cache"  # what this module binds went into graphs on disk


@dataclass(frozen=True)
class Variant:
    """A strategy and settings other than the usual. InputError: there is no such setting, or its value is of another type."""

    strategy: str
    settings: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.settings.items():
            _checked(name, value)

    @property
    def name(self) -> str:
        """`linked`, `linked [walk.RESTART=0.2]`."""
        return self.strategy + (f" [{', '.join(f'{name}={value}' for name, value in self.settings.items())}]" if self.settings else "")

    @contextmanager
    def applied(self) -> Iterator[None]:
        """What is asked inside runs with these settings."""
        places = [(*_place(name), value) for name, value in self.settings.items()]
        before = [(module, constant, getattr(module, constant)) for module, constant, _ in places]
        try:
            for module, constant, value in places:
                setattr(module, constant, value)
            yield
        finally:
            for module, constant, old in before:
                setattr(module, constant, old)


def parse_value(name: str, text: str) -> Value:
    """What a text says for a setting, in the type that the setting has. InputError: it has another, or there is no such setting."""
    present = current(name)
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


def current(name: str) -> Value:
    """The value that a setting has. InputError: there is no such setting."""
    module, constant = _place(name)
    value = getattr(module, constant)
    if not isinstance(value, bool | int | float | str):
        raise InputError(f"{name} is a {type(value).__name__}", hint="Only numbers, texts, true and false can be set")
    return value


def _checked(name: str, value: Value) -> None:
    present = current(name)
    if type(value) is not type(present) and not (isinstance(present, float) and type(value) is int):
        raise _wrong(name, value, present)


def _wrong(name: str, value: Value, present: Value) -> InputError:
    return InputError(f"{name} cannot be {value!r}", hint=f"It is {present!r}: give a {'number' if isinstance(present, float) else type(present).__name__}")


def _place(name: str) -> tuple[ModuleType, str]:
    """The module and the constant of a setting."""
    where, _, constant = name.rpartition(".")
    hint = "Name a constant of a module of gsw_graph.retrieve: walk.RESTART, linked.LINKED_MASS"
    if not where.isidentifier() or where.startswith("_") or not constant.isidentifier() or not constant.isupper() or constant.startswith("_"):
        raise InputError(f"{name!r} is no setting", hint=hint)
    try:
        module = import_module(f"{_ROOM}.{where}")
    except ModuleNotFoundError:
        raise InputError(f"there is no setting {name}: there is no module {where}", hint=hint) from None
    if not hasattr(module, constant):
        raise InputError(f"there is no setting {name}", hint=hint)
    if where == _STORED or hasattr(import_module(f"{_ROOM}.{_STORED}"), constant):
        raise InputError(f"{name} went into graphs that are kept on disk", hint="Change it in the source and load the memory anew")
    return module, constant
