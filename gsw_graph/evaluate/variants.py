"""A strategy with the settings it runs with: `linked`, `linked [walk.restart=0.2]`, `proprag
[recipe=paper]`; see `settings` for what can be set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.evaluate.settings import Value, parse_value, with_settings
from gsw_graph.retrieve.strategy import Strategy

_BETWEEN = re.compile(r",(?![^\[]*\])")  # no comma inside brackets


@dataclass(frozen=True)
class Variant:
    """A strategy and settings other than the usual. InputError: there is no such strategy or setting, or
    it cannot have this value."""

    strategy: str
    settings: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with_settings(self.strategy, self.settings)

    @property
    def name(self) -> str:
        """`linked`, `linked [walk.restart=0.2]`."""
        return self.strategy + (
            f" [{', '.join(f'{name}={value}' for name, value in self.settings.items())}]"
            if self.settings
            else ""
        )

    def made(self) -> Strategy[Any]:
        """The strategy with these settings."""
        return with_settings(self.strategy, self.settings)


def variants(text: str) -> list[Variant]:
    """The variants that a text names: `linked, proprag[recipe=paper, width=5]`. InputError: it is written
    otherwise, or names what there is not."""
    return [_variant(part) for part in _BETWEEN.split(text)]


def _variant(text: str) -> Variant:
    strategy, bracket, inside = text.strip().partition("[")
    plain = Variant(strategy.strip())
    if not bracket:
        return plain
    settings: dict[str, Value] = {}
    for one in inside.removesuffix("]").split(","):
        name, sign, value = (part.strip() for part in one.partition("="))
        if not sign or name in settings or not inside.endswith("]"):
            raise InputError(
                f"{text.strip()!r} is no strategy with settings",
                hint="Write linked[walk.restart=0.2, walk.steps=8], each setting once",
            )
        settings[name] = parse_value(plain.strategy, name, value)
    return Variant(plain.strategy, settings)
