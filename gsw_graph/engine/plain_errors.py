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
        from neo4j.exceptions import (
            ConstraintError,
            DriverError,
            Neo4jError,
            ServiceUnavailable,
            SessionExpired,
        )

        if args[0]._closed:  # type: ignore[attr-defined]
            where = args[0]._connection.url  # type: ignore[attr-defined]
            raise EngineError("the memory is closed", where=where, hint="Open it again with Memory.open")
        try:
            return method(*args, **kwargs)
        except ConstraintError as error:
            where = args[0]._connection.url  # type: ignore[attr-defined]
            raise EngineError(
                "another process wrote the same at the same time",
                where=where,
                hint="Run it again; what was written stays",
            ) from error
        except (DriverError, Neo4jError) as error:
            where = args[0]._connection.url  # type: ignore[attr-defined]
            text = " ".join(str(getattr(error, "message", None) or error).split())[:300]
            if "No space left" in text or _is_full(where):
                raise EngineError(
                    "the disk is full", where=where, hint="Make room and run it again; what was written stays"
                ) from error
            if isinstance(error, ServiceUnavailable | SessionExpired):  # whose text is a dump of addresses
                raise EngineError(
                    "the engine does not answer any more",
                    where=where,
                    hint="See whether it runs, and run it again; a load goes on",
                ) from error
            raise EngineError(
                f"the engine failed ({text})",
                where=where,
                hint="See gswgraph doctor and run it again; a load goes on",
            ) from error

    return call


def _is_full(where: str) -> bool:
    """Whether the disk of an embedded memory has no room left: the engine says no more than that a commit
    failed."""
    try:
        return "://" not in where and shutil.disk_usage(where).free < _ROOM
    except OSError:
        return False
