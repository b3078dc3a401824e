"""Limit a question to a scope: the documents that are searched. A scope limits the graph, not the list of
results: documents outside of it do not affect walks, chains or the frequency of names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from gsw_graph.ask.options import ScopeOptions
    from gsw_graph.store.reader import Reader

_CONDITION = re.compile(r"\s*([\w.-]+)\s*(!=|<=|>=|=|<|>|\bcontains\b)\s*(\S.*?)\s*", re.DOTALL)
_OWN = ("title", "source", "loader", "extractor", "about")  # properties that are no metadata
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


def apply(reader: Reader, options: ScopeOptions) -> None:
    """Limit a reader to the documents of a scope.

    Raises:
        InputError: A date or a condition cannot be read, or no document is in the scope.
    """
    for day in filter(None, (options.since, options.until)):
        if not _DAY.fullmatch(day):
            hint = "Give a year, a month or a day: 2024, 2024-03 or 2024-03-09"
            raise InputError(f"{day!r} is no date", hint=hint)
    reader.set_scope(
        inside=_sources(options.inside),
        outside=_sources(options.outside),
        since=options.since or "",
        until=options.until or "",
        where=[condition(text) for text in options.where],
    )
    if not reader.scope:
        raise InputError("no document is in this scope", hint="gswgraph list shows sources and metadata")


def _sources(names: tuple[str, ...]) -> list[str]:
    """Return sources as written, and as absolute paths."""
    from gsw_graph.load.forgetting import source_paths

    plain = [name.rstrip("/") or name for name in names]
    return list(dict.fromkeys(text for name in plain for text in (name, *source_paths(name, Path.cwd()))))


def condition(text: str) -> dict[str, Any]:
    """Parse a condition such as `author = "Grau"`, `year >= 1901` or `tags contains tide`; a value that is
    not JSON is a text.

    Raises:
        InputError: It is no condition.
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        hint = 'Give KEY OPERATOR VALUE, as author = "Grau"; operators: = != < <= > >= contains'
        raise InputError(f"{text!r} is no condition", hint=hint)
    try:
        value = json.loads(match[3])
    except ValueError:
        value = match[3]
    key = re.sub(r"\W", "_", match[1].lower())
    return {"key": key if key in _OWN else f"meta_{key}", "op": match[2], "value": value}
