"""The embedded engine: ArcadeDB in a child process that speaks Bolt on the loopback interface."""

from __future__ import annotations

import base64
import http.client
import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.cypher import statement
from gsw_graph.engine import Connection, embedded_folder, readonly
from gsw_graph.engine.embedded_child import DATABASE
from gsw_graph.engine.embedded_process import EngineProcess
from gsw_graph.errors import EngineError
from gsw_graph.turns import InTurn

if TYPE_CHECKING:
    from neo4j import Driver

    from gsw_graph.config import Settings

USER = "root"
_SCHEMA_SECONDS = 3600  # an index built over a large memory takes minutes
# What `CHECK DATABASE` counts or lists, in words; all of it is 0 or empty in a sound memory.
_DAMAGE = {
    "totalCorruptedRecords": "corrupted records",
    "undecodableRecords": "records that cannot be decoded",
    "distinctMissingReferences": "records that are missing",
    "edgesMissingOutReference": "relationships that their beginning does not list",
    "edgesMissingInReference": "relationships that their end does not list",
    "corruptedIndexes": "corrupted indexes",
    "unreferencedFiles": "files that belong to nothing",
    "totalErrors": "errors",
    "totalWarnings": "warnings",
}
_LEADING = re.compile(r"\A(?:\s|//[^\n]*|--[^\n]*|/\*.*?\*/)+", re.DOTALL)  # comments that SQL does not know
_SQL = re.compile(
    r"(CREATE|ALTER|DROP|TRUNCATE|REBUILD)\s+(VERTEX|EDGE|DOCUMENT|PROPERTY|TYPE|BUCKET|DATABASE|INDEX)\b",
    re.IGNORECASE,
)
_CYPHER_INDEX = re.compile(r"CREATE\s+INDEX\b.*?\bFOR\s*\(", re.IGNORECASE | re.DOTALL)


def connect(settings: Settings, meanwhile: Callable[[], None] | None = None) -> Connection:
    """Start the engine on the folder `settings.memory` and connect to it; `close()` ends it."""
    if importlib.util.find_spec("arcadedb_embedded") is None:
        raise EngineError(
            "the embedded engine is not installed (there is no arcadedb-embedded for this platform?)",
            hint="Use a Neo4j server: --memory bolt://localhost:7687, or start one with gswgraph db start",
        )
    folder = embedded_folder.prepare(Path(settings.memory))
    process = EngineProcess(folder, settings.cache_dir.absolute() / "embedded", meanwhile)
    try:
        from neo4j import GraphDatabase

        password = embedded_folder.read_password(folder)
        driver = GraphDatabase.driver(
            f"bolt://127.0.0.1:{process.ready['bolt']}",
            auth=(USER, password),
            connection_timeout=10,
            notifications_min_severity="OFF",
        )
    except BaseException:
        process.stop()
        raise
    dialect = EmbeddedDialect(driver, process, password)
    return Connection(driver, DATABASE, dialect, str(folder), process.stop, InTurn())


class EmbeddedDialect:
    """ArcadeDB: schema by SQL over HTTP, reads and writes told apart by its own parser."""

    name = "arcadedb"

    def __init__(self, driver: Driver, process: EngineProcess, password: str) -> None:
        self.version: str = process.ready["version"]
        self._driver, self._process = driver, process
        self._login = "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()

    def run_schema(self, ddl: str) -> None:
        """Run one DDL statement in SQL or in Cypher."""
        if is_sql(ddl):
            self._sql(_LEADING.sub("", ddl))
        else:
            self._cypher(ddl)

    def wait_online(self, timeout: float) -> None:
        """Indexes answer as soon as they exist."""

    def check(self, *, mend: bool = False) -> list[str]:
        """What `CHECK DATABASE` finds: damaged pages, records and lists of relationships; not what stands
        in a record."""
        if mend:
            self._sql(_LEADING.sub("", statement("server/mend_database", self.name)))
        found = json.loads(self._sql(_LEADING.sub("", statement("server/check_database", self.name))))[
            "result"
        ][0]
        counts = {words: found.get(name) or 0 for name, words in _DAMAGE.items()}
        return [
            f"{count if isinstance(count, int) else len(count):,} {words}"
            for words, count in counts.items()
            if count
        ]

    def objection(self, query: str) -> str | None:
        """What the query does beyond reading the memory, by the engine's own parser and our look at its
        words; nothing is run."""
        if readonly.asks_server(query):
            return None
        if readonly.profiles(query):
            return "PROFILE runs the query"
        if found := readonly.objection(query):
            return found
        if found := readonly.unknown_to_embedded(query):
            return f"the query runs {found}, which is not known to only read the memory"
        analysis = self._process.ask({"analyze": query.strip().removesuffix(";")})
        if "failed" in analysis:
            raise EngineError(f"the engine cannot read the query: {analysis['failed']}")
        if analysis["reads"] is True and set(analysis["operations"]) <= {"READ"}:
            return None
        return "the query may change the memory or disturb others"

    def _cypher(self, statement: str) -> None:
        from neo4j.exceptions import Neo4jError

        try:
            with self._driver.session(database=DATABASE) as session:
                session.run(statement).consume()
        except Neo4jError as error:
            raise EngineError(
                f"the engine refused a statement: {error.message}", where=" ".join(statement.split())[:120]
            ) from error

    def _sql(self, statement: str) -> bytes:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self._process.ready["http"], timeout=_SCHEMA_SECONDS
        )
        try:
            body = json.dumps({"language": "sql", "command": statement})
            headers = {"Authorization": self._login, "Content-Type": "application/json"}
            connection.request("POST", f"/api/v1/command/{DATABASE}", body, headers)
            response = connection.getresponse()
            status, answer = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise EngineError(
                f"the embedded engine does not answer ({error})", hint="Close the memory and open it again"
            ) from error
        finally:
            connection.close()
        if status != 200:
            raise EngineError(
                f"the engine refused a statement: {_reason(answer)}", where=" ".join(statement.split())[:120]
            )
        return answer


def is_sql(statement: str) -> bool:
    """True for the DDL that ArcadeDB knows in SQL only; the rest is Cypher."""
    text = _LEADING.sub("", statement)
    return bool(_SQL.match(text)) and not _CYPHER_INDEX.match(text)


def _reason(answer: bytes) -> str:
    try:
        found = json.loads(answer)
        return str(found.get("detail") or found.get("error") or found)
    except (ValueError, AttributeError):
        return answer.decode(errors="replace")[:300]
