"""Failures of the driver, while a memory is in use, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from gsw_graph.errors import EngineError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def plainly(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """For methods of an object with a `_connection`: what the driver raises becomes an EngineError that says where and what to do."""

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from neo4j.exceptions import ConstraintError, DriverError, Neo4jError

        try:
            return method(*args, **kwargs)
        except ConstraintError as error:
            where = args[0]._connection.url  # type: ignore[attr-defined]
            raise EngineError("another process wrote the same at the same time", where=where, hint="Run it again; what was written stays") from error
        except (DriverError, Neo4jError) as error:
            where = args[0]._connection.url  # type: ignore[attr-defined]
            text = " ".join(str(getattr(error, "message", None) or error).split())[:300]
            raise EngineError(f"the engine failed ({text})", where=where, hint="See gswgraph doctor and run it again; a load goes on") from error

    return call
