"""A strategy with the settings it runs with: `linked`, `linked [walk.RESTART=0.2]`, `proprag [recipe=paper]`; see `constants` for what can be set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from gsw_graph.errors import InputError
from gsw_graph.evaluate.constants import Value, check, parse_value, places
from gsw_graph.retrieve import STRATEGIES

_BETWEEN = re.compile(r",(?![^\[]*\])")  # no comma inside brackets


@dataclass(frozen=True)
class Variant:
    """A strategy and settings other than the usual. InputError: there is no such strategy or setting, or its value is of another type."""

    strategy: str
    settings: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise InputError(f"there is no strategy {self.strategy!r}", hint=f"Use one of {', '.join(STRATEGIES)}")
        for name, value in self.settings.items():
            check(self.strategy, name, value)

    @property
    def name(self) -> str:
        """`linked`, `linked [walk.RESTART=0.2]`."""
        return self.strategy + (f" [{', '.join(f'{name}={value}' for name, value in self.settings.items())}]" if self.settings else "")

    @contextmanager
    def applied(self) -> Iterator[None]:
        """What is asked inside runs with these settings: they hold in the whole process."""
        wanted = places(self.strategy, self.settings)
        before = [(module, constant, getattr(module, constant)) for module, constant, _ in wanted]
        try:
            for module, constant, value in wanted:
                setattr(module, constant, value)
            yield
        finally:
            for module, constant, old in before:
                setattr(module, constant, old)


def variants(text: str) -> list[Variant]:
    """The variants that a text names: `linked, proprag[recipe=paper, width=5]`. InputError: it is written otherwise, or names what there is not."""
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
            raise InputError(f"{text.strip()!r} is no strategy with settings", hint="Write linked[walk.RESTART=0.2, walk.STEPS=8], each setting once")
        settings[name] = parse_value(plain.strategy, name, value)
    return Variant(plain.strategy, settings)
