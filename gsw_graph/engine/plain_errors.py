"""Failures of the driver, while a memory is in use, in one sentence."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from gsw_graph.errors import EngineError

_ROOM = 1 << 20  # bytes
_P = ParamSpec("_P")
_R = TypeVar("_R")


def with_plain_errors(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """For methods of an object with a `_connection`: what the driver raises becomes an EngineError that says
    where and what to do.

    So does a call after the object was closed (`_closed`).
    """

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from neo4j.exceptions import DriverError, Neo4jError

        if args[0]._closed:  # type: ignore[attr-defined]
            where = args[0]._connection.url  # type: ignore[attr-defined]
            raise EngineError("the memory is closed", where=where, hint="Open it again with Memory.open")
        try:
            return method(*args, **kwargs)
        except (DriverError, Neo4jError) as error:
            raise plain(error, args[0]._connection.url) from error  # type: ignore[attr-defined]

    return call


def plain(error: Exception, where: str) -> EngineError:
    """What the driver raised while the memory at `where` was in use, in one sentence with a next step."""
    from neo4j.exceptions import ConstraintError, ServiceUnavailable, SessionExpired

    if isinstance(error, ConstraintError):
        return EngineError(
            "another process wrote the same at the same time",
            where=where,
            hint="Run it again; what was written stays",
        )
    text = " ".join(str(getattr(error, "message", None) or error).split())[:300]
    if "No space left" in text or _is_full(where):
        return EngineError(
            "the disk is full", where=where, hint="Make room and run it again; what was written stays"
        )
    if isinstance(error, ServiceUnavailable | SessionExpired):  # whose text is a dump of addresses
        return EngineError(
            "the engine does not answer any more",
            where=where,
            hint="See whether it runs, and run it again; a load goes on",
        )
    return EngineError(
        f"the engine failed ({text})",
        where=where,
        hint="See gswgraph doctor and run it again; a load goes on",
    )


def _is_full(where: str) -> bool:
    """Whether the disk of an embedded memory has no room left: the engine says no more than that a commit
    failed."""
    try:
        return "://" not in where and shutil.disk_usage(where).free < _ROOM
    except OSError:
        return False
