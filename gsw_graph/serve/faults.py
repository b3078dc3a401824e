"""What went wrong, as HTTP says it: a status, and JSON with `error`, `where`, `hint` and `kind`."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from gsw_graph.cli.text.safe_text import without_password
from gsw_graph.errors import (
    EndedError,
    EngineError,
    GswGraphError,
    InputError,
    MemoryLockedError,
    ModelError,
    SchemaError,
)
from gsw_graph.serve.lines import BusyError, GoneError, LateError


class RefusedError(GswGraphError):
    """What this server does not do, or not for everybody."""


log = logging.getLogger(__name__)

# The first that fits: what is raised, and how HTTP calls it.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (BusyError, 503),
    (LateError, 504),
    (GoneError, 499),
    (EndedError, 503),  # by the server, which is stopping
    (RefusedError, 403),
    (InputError, 400),
    (MemoryLockedError, 423),
    (SchemaError, 409),
    (ModelError, 502),
    (EngineError, 502),
)


@dataclass(frozen=True)
class Fault:
    """A status, its body, and headers."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


def fault(status: int, error: str, hint: str | None = None, **headers: str) -> Fault:
    """A fault of the request itself."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault(status, {"error": error, "where": None, "hint": hint, "kind": "RequestError"}, names)


def fault_of(error: Exception) -> Fault:
    """An error of ours as it was said; anything else is our own mistake, whose trace stands in the log and
    nowhere else."""
    if not isinstance(error, GswGraphError):
        log.error("a request failed", exc_info=error)
        return fault(500, "the server made a mistake", "Its log says more; please report it")
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    said = {"error": error.message, "where": error.where, "hint": error.hint, "kind": type(error).__name__}
    headers = {"Retry-After": str(error.seconds)} if isinstance(error, BusyError) else {}
    return Fault(status, {name: text and without_password(text) for name, text in said.items()}, headers)
