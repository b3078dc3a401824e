"""Where the graph lives. `connect(settings)` gives a driver, the database's name and the dialect of the
server behind it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from gsw_graph.errors import EngineError
from gsw_graph.turns import InTurn

if TYPE_CHECKING:
    from neo4j import Driver, Session

    from gsw_graph.config import Settings
    from gsw_graph.engine.tracing import Tracer

_SILENT = logging.NullHandler()  # one, so that a second connection adds no other


class Dialect(Protocol):
    """What differs between servers: index DDL, waiting for it, and how to tell a read from a write."""

    name: str  # "neo4j" or "arcadedb"; the suffix of statements that exist once for each server
    version: str  # as the server tells it

    def run_schema(self, ddl: str) -> None:
        """Run one DDL statement (Cypher; on the embedded engine also SQL)."""

    def wait_online(self, timeout: float) -> None:
        """Return when every index answers, raise EngineError after `timeout` seconds."""

    def check(self, *, mend: bool = False) -> list[str] | None:
        """What the engine's own check of its storage finds wrong, None where it has none. `mend`: it first
        repairs what it can."""

    def objection(self, query: str) -> str | None:
        """What the query does beyond reading the memory, None where nothing; it is not run. EngineError
        where it cannot be planned."""


class OneWriter:
    """A session whose transactions that write wait for those of others: the embedded engine lets both run,
    fails the second, and the driver tries again a second later."""

    def __init__(self, session: Session, turn: InTurn) -> None:
        self._session, self._turn = session, turn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def __enter__(self) -> OneWriter:
        self._session.__enter__()
        return self

    def __exit__(self, *given: Any) -> None:
        self._session.__exit__(*given)  # type: ignore[no-untyped-call]

    def execute_write(self, work: Callable[..., Any], *args: Any, **given: Any) -> Any:
        """As the driver's, in turn."""
        with self._turn:
            return self._session.execute_write(work, *args, **given)


@dataclass(slots=True)
class Connection:
    """An open way to a graph; `close()` ends what `connect` started (a child process too)."""

    driver: Driver
    database: str
    dialect: Dialect
    url: str  # for people: a folder or a url, never a password
    on_close: Callable[[], None] | None = None
    writing: InTurn | None = None  # where one of two transactions that write at the same time fails

    def session(self, **given: Any) -> Session:
        """A session of the database that sees what others of this connection wrote, on a cluster too.
        given: as the driver takes it."""
        session = self.driver.session(
            database=self.database, bookmark_manager=self.driver.execute_query_bookmark_manager, **given
        )
        return session if self.writing is None else cast("Session", OneWriter(session, self.writing))

    def trace(self, tracer: Tracer) -> None:
        """From now on give `tracer` each statement as a text for people; see `gsw_graph.engine.tracing`."""
        from gsw_graph.engine.tracing import TracedDialect, TracedDriver

        self.driver = cast("Driver", TracedDriver(self.driver, tracer))
        self.dialect = cast("Dialect", TracedDialect(self.dialect, tracer))

    def close(self) -> None:
        try:
            self.driver.close()
        finally:
            if self.on_close is not None:
                self.on_close()


def connect(settings: Settings, meanwhile: Callable[[], None] | None = None) -> Connection:
    """Open `settings.memory`: a url goes to a Neo4j server, anything else is a folder for the embedded
    engine.

    `meanwhile` is called while an embedded engine starts, which takes a second or two.
    """
    check_address(settings.memory)
    logging.getLogger("neo4j").addHandler(_SILENT)  # what the driver would say stands in our errors
    if "://" in settings.memory:
        from gsw_graph.engine import neo4j

        return neo4j.connect(settings)
    from gsw_graph.engine import embedded

    return embedded.connect(settings, meanwhile)


def check_address(memory: str) -> None:
    """EngineError for what was meant as a url and is none, as `bolt:/host`, which would else be a folder."""
    if "://" not in memory and (
        found := re.match(r"(bolt|neo4j|https?)(\+s|\+ssc)?:", memory, re.IGNORECASE)
    ):
        hint = f"Use bolt://HOST:7687, or ./{memory} for a folder of that name"
        raise EngineError(
            f"{found[0]} begins the address of a server, which needs two slashes", where=memory, hint=hint
        )


def exists(settings: Settings) -> bool:
    """Whether `settings.memory` is a folder with a memory in it; of a server it is not known before it is
    asked."""
    from gsw_graph.engine.embedded_folder import MARKER

    check_address(settings.memory)
    try:
        return "://" in settings.memory or (Path(settings.memory).expanduser() / MARKER).exists()
    except OSError:  # said when it is opened
        return True
