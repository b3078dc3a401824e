"""A connection to the graph, wherever it lives, and the errors of its driver. `opening.connect` makes one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from gsw_graph.concurrency import FairLock
from gsw_graph.cypher import statement
from gsw_graph.engine.address import LOG
from gsw_graph.engine.tracing import Intercepted, OneWriter, renaming, reporting
from gsw_graph.errors import EngineError
from gsw_graph.values import Fields, single_spaced

if TYPE_CHECKING:
    from neo4j import Driver, Record, Session

    from gsw_graph.engine.tracing import Tracer

_FREE_BYTES = 1 << 20  # with less a disk counts as full
# The embedded engine fails a read that meets a record which another transaction removed after the read began.
_REMOVED_MEANWHILE = re.compile(r"Record #\d+:\d+ not found")
_READS = 5
_P = ParamSpec("_P")
_R = TypeVar("_R")


class Dialect(Protocol):
    """Declare the differences between servers: how to make a schema, and which statements only read."""

    name: str
    version: str

    def run_schema(self, ddl: str) -> None: ...
    def wait_online(self, timeout: float) -> None: ...
    def read_only_violation(self, query: str) -> str | None: ...


@dataclass(slots=True)
class Connection:
    """Hold an open connection to a graph. `close()` ends everything that `connect` started, a child process
    too."""

    driver: Driver
    database: str
    dialect: Dialect
    url: str  # for people: a folder or a url, never a password
    on_close: Callable[[], None] | None = None
    writing: FairLock | None = None  # where one of two transactions that write at the same time fails
    memory: str = ""  # its name, where it is not the default one of the database
    default: Connection | None = None  # of a named memory the connection to the default one

    def to_memory(self, name: str) -> Connection:
        """Return a connection to a named memory of the same database."""
        base = self.default or self
        driver = cast("Driver", Intercepted(base.driver, renaming(name)))
        url = f"{base.url}{'&' if '?' in base.url else '?'}memory={name}"
        return replace(base, driver=driver, url=url, memory=name, default=base)

    def session(self, **options: Any) -> Session:
        """Return a session of the database that sees earlier writes of this connection, on a cluster too.
        options: Arguments of the driver's session."""
        bookmarks = self.driver.execute_query_bookmark_manager
        session = self.driver.session(database=self.database, bookmark_manager=bookmarks, **options)
        return session if self.writing is None else cast("Session", OneWriter(session, self.writing))

    def read(self, name: str, **parameters: Any) -> list[Record]:
        """Return the records of a reading statement of `cypher/`. The driver runs the statement again after a
        temporary failure."""
        text = statement(name, self.dialect.name)
        options: Fields = {"database_": self.database, "routing_": "r"}
        records: list[Record]
        records, _, _ = read_again(lambda: self.driver.execute_query(text, parameters, **options))
        return records

    def write(self, name: str, **parameters: Any) -> None:
        """Run a statement of `cypher/` that writes, in a transaction of its own."""
        text = statement(name, self.dialect.name)
        with self.session() as session:
            session.execute_write(lambda tx: tx.run(text, parameters).consume())

    def trace(self, tracer: Tracer) -> None:
        """From now on give `tracer` each statement as a text for people; see `gsw_graph.engine.tracing`."""
        run = reporting(tracer, self.memory)
        self.driver = cast("Driver", Intercepted(self.driver, run))
        self.dialect = cast("Dialect", Intercepted(self.dialect, run))

    def close(self) -> None:
        try:
            self.driver.close()
        finally:
            if self.on_close is not None:
                self.on_close()


def open_driver(url: str, auth: tuple[str, str] | None, **options: Any) -> Driver:
    """Return a driver that shows no notifications and sends no telemetry. options: Arguments of the
    driver."""
    from neo4j import GraphDatabase

    return GraphDatabase.driver(
        url, auth=auth, notifications_min_severity="OFF", telemetry_disabled=True, **options
    )


def with_plain_errors(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a method of an object with a `_connection`: an error of the driver becomes an EngineError that
    says where it happened and what to do.

    A call after the object was closed (`_closed`) raises EngineError too.
    """

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from neo4j.exceptions import DriverError, Neo4jError

        owner: Any = args[0]
        where = owner._connection.url
        if owner._closed:
            raise EngineError("the memory is closed", where=where, hint="Open it again with Memory.open")
        try:
            return method(*args, **kwargs)
        except (DriverError, Neo4jError) as error:
            raise to_engine_error(error, where) from error

    return call


def read_again(read: Callable[[], _R]) -> _R:
    """Return the result of `read`. If another transaction removed a record meanwhile, `read` runs again, at
    most five times in all.

    Raises:
        Neo4jError: The read failed for another reason, or each time.
    """
    from neo4j.exceptions import Neo4jError

    for _ in range(_READS - 1):
        try:
            return read()
        except Neo4jError as error:
            if not _REMOVED_MEANWHILE.search(error.message or ""):
                raise
    return read()


def to_engine_error(error: Exception, where: str) -> EngineError:
    """Return an error of the driver, at the memory `where`, as one sentence with a next step."""
    from neo4j.exceptions import ConstraintError, ServiceUnavailable, SessionExpired

    if isinstance(error, ConstraintError):
        return EngineError(
            "another process wrote the same at the same time",
            where=where,
            hint="Run it again; what was written stays",
        )
    text = single_spaced(str(getattr(error, "message", None) or error))[:300]
    full, log = False, ""
    if "://" not in where:  # the engine itself tells no more than that a commit failed
        with suppress(OSError):
            full = shutil.disk_usage(where).free < _FREE_BYTES
            log = (Path(where) / LOG).read_text(encoding="utf-8", errors="replace")
    message, hint = f"the engine failed ({text})", "See gswgraph doctor and run it again; a load goes on"
    if "No space left" in text or full:
        message, hint = "the disk is full", "Free some space and run it again; what was written stays"
    elif re.search("OutOfMemory|heap (space|budget)", text) or "OutOfMemoryError" in log:
        message = "the engine ran out of Java heap"
        hint = "Give it more, such as GSWGRAPH_ENGINE_HEAP=4g, and run it again; what was written stays"
    elif isinstance(error, ServiceUnavailable | SessionExpired):  # whose text is a dump of addresses
        message = "the engine does not answer any more"
        hint = "See whether it runs, and run it again; a load goes on"
    return EngineError(message, where=where, hint=hint)
