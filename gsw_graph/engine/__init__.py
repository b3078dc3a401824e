"""Where the graph lives. `connect(settings)` gives a driver, the database's name and the dialect of the server behind it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from neo4j import Driver, Session

    from gsw_graph.config import Settings

_SILENT = logging.NullHandler()  # one, so that a second connection adds no other


class Dialect(Protocol):
    """What differs between servers: index DDL, waiting for it, and how to tell a read from a write."""

    name: str  # "neo4j" or "arcadedb"; the suffix of statements that exist once for each server
    version: str  # as the server tells it

    def run_schema(self, statement: str) -> None:
        """Run one DDL statement (Cypher; on the embedded engine also SQL)."""

    def wait_online(self, timeout: float) -> None:
        """Return when every index answers, raise EngineError after `timeout` seconds."""

    def is_read_only(self, query: str) -> bool:
        """True where the server's own plan of the query has no update; the query is not run. EngineError where it cannot be planned."""


@dataclass(slots=True)
class Connection:
    """An open way to a graph; `close()` ends what `connect` started (a child process too)."""

    driver: Driver
    database: str
    dialect: Dialect
    url: str  # for people: a folder or a url, never a password
    on_close: Callable[[], None] | None = None

    def session(self, **given: Any) -> Session:
        """A session of the database that sees what others of this connection wrote, on a cluster too. given: as the driver takes it."""
        return self.driver.session(database=self.database, bookmark_manager=self.driver.execute_query_bookmark_manager, **given)

    def close(self) -> None:
        try:
            self.driver.close()
        finally:
            if self.on_close is not None:
                self.on_close()


def connect(settings: Settings, meanwhile: Callable[[], None] | None = None) -> Connection:
    """Open `settings.memory`: a url goes to a Neo4j server, anything else is a folder for the embedded engine.

    `meanwhile` is called while an embedded engine starts, which takes a second or two.
    """
    logging.getLogger("neo4j").addHandler(_SILENT)  # what the driver would say stands in our errors
    if "://" in settings.memory:
        from gsw_graph.engine import neo4j

        return neo4j.connect(settings)
    from gsw_graph.engine import embedded

    return embedded.connect(settings, meanwhile)


def exists(settings: Settings) -> bool:
    """Whether `settings.memory` is a folder with a memory in it; of a server it is not known before it is asked."""
    from gsw_graph.engine.embedded_folder import MARKER

    try:
        return "://" in settings.memory or (Path(settings.memory).expanduser() / MARKER).exists()
    except OSError:  # said when it is opened
        return True
