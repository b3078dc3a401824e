"""Any Neo4j server, cluster or Aura, reached by url."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from gsw_graph.cypher import statement
from gsw_graph.engine import Connection, readonly
from gsw_graph.errors import EngineError
from gsw_graph.version import __version__

if TYPE_CHECKING:
    from neo4j import Driver, Session

    from gsw_graph.config import Settings

OLDEST = (5, 26)  # the long-term release; `CALL (x) { }` came with 5.23
_SCHEMES = tuple(f"{name}{security}" for name in ("bolt", "neo4j") for security in ("", "+s", "+ssc"))
_CONNECT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Address:
    """A url taken apart; `url` holds no user and no password."""

    url: str
    scheme: str
    host: str
    port: int
    username: str | None
    password: str | None
    database: str | None


def parse(url: str) -> Address:
    """Take a `bolt://` or `neo4j://` url apart; a user, a password and a database in it are accepted
    though the driver refuses them."""
    scheme, _, rest = url.strip().partition("://")
    scheme = scheme.lower()
    # from the right, because a password may hold any sign
    login, _, place = rest.rpartition("@")
    if scheme not in _SCHEMES:
        raise EngineError(
            f"{scheme}:// is no address of a Neo4j server",
            where=f"{scheme}://{place}",
            hint="Use bolt://HOST:7687 or neo4j://HOST:7687",
        )
    username, colon, password = login.partition(":")
    try:
        parts = urlsplit(f"//{place}")
        host, port = parts.hostname, parts.port or 7687
    except ValueError as error:
        raise EngineError(f"the address cannot be read ({error})", where=f"{scheme}://{place}") from error
    if not host:
        raise EngineError(
            "the address names no host", where=f"{scheme}://{place}", hint="Use bolt://HOST:7687"
        )
    return Address(
        url=f"{scheme}://{parts.netloc}" + (f"?{parts.query}" if parts.query else ""),
        scheme=scheme,
        host=host,
        port=port,
        username=unquote(username) or None,
        password=unquote(password) if colon else None,
        database=parts.path.strip("/") or None,
    )


def connect(settings: Settings) -> Connection:
    """Connect to the server at `settings.memory` and check that it can serve; EngineError with a next step
    where it cannot."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    address = parse(settings.memory)
    password = settings.password if address.password is None else address.password
    if password is None and address.host in {"127.0.0.1", "localhost", "::1"}:
        from gsw_graph.engine import local

        password = local.password_for(settings, address.port)
    auth = None if password is None else (address.username or settings.username, password)
    driver = None
    try:
        driver = GraphDatabase.driver(
            address.url,
            auth=auth,
            user_agent=f"gswgraph/{__version__}",
            notifications_min_severity="OFF",
            connection_timeout=_CONNECT_SECONDS,
            # one that accepts and never answers counts as none
            connection_acquisition_timeout=_CONNECT_SECONDS,
            telemetry_disabled=True,
        )
        # not execute_query: it would try again for half a minute where no server is
        driver.verify_connectivity()
        with driver.session(database=settings.database or address.database) as session:
            result = session.run(statement("server/components"))
            versions: dict[str, Any] = dict(result.values())
            summary = result.consume()
        version = str(versions.get("Neo4j Kernel", ["unknown"])[0])
        _check_server(address.url, str(summary.server.agent), version)
    except BaseException as error:
        if driver is not None:
            driver.close()
        if isinstance(error, DriverError | Neo4jError | OSError | ValueError):
            raise explain(error, address, with_password=password is not None) from error
        raise
    database = str(summary.database)  # the home database by its name, so that every later call can name it
    return Connection(driver, database, Neo4jDialect(driver, database, version), address.url)


def _check_server(url: str, agent: str, version: str) -> None:
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if not agent.startswith("Neo4j/") or "arcade" in agent.lower() or numbers is None:
        raise EngineError(f"the server is {agent} and no Neo4j", where=url, hint="Use Neo4j 5.26 or newer")
    if (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise EngineError(
            f"the server is Neo4j {version}, which is too old", where=url, hint="Use Neo4j 5.26 or newer"
        )


def explain(error: Exception, address: Address, *, with_password: bool) -> EngineError:
    """Return a failure to connect as one sentence with a next step; never with a password in it.

    Args:
        error: of the driver.
        address: of the server.
        with_password: one was given.
    """
    code = str(getattr(error, "code", "") or "")
    text = " ".join(str(getattr(error, "message", None) or error).split())
    causes: list[BaseException] = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    # The operating system's own words are at the root of the driver's.
    reason = next((e.strerror for e in causes if isinstance(e, OSError) and e.strerror), text[:200])
    start = "Start one with gswgraph db start, or check NEO4J_URI"
    plain = address.scheme.partition("+")[0]
    tls = f"Check the address and the server's certificate, or use {plain}:// where it has no TLS"
    security = ".Security." in code
    cases: list[tuple[object, str, str]] = [
        (
            code.endswith("AuthenticationRateLimit"),
            "the server refuses this user for a while after too many wrong passwords",
            "Wait some seconds and try again",
        ),
        (
            code.endswith("CredentialsExpired"),
            "the password has expired",
            "Change it in Neo4j Browser or with ALTER CURRENT USER SET PASSWORD",
        ),
        (
            security and not with_password,
            "the server asks for a password and none is set",
            "Set NEO4J_PASSWORD (and NEO4J_USERNAME, if it is not neo4j)",
        ),
        (
            security,
            "the user name or the password is wrong",
            "Check NEO4J_USERNAME and NEO4J_PASSWORD",
        ),
        (
            code.endswith("DatabaseNotFound"),
            f"the server has no such database ({text})",
            "Check NEO4J_DATABASE, or unset it for the user's home database",
        ),
        (
            any(isinstance(cause, TimeoutError) for cause in causes),
            f"what listens there does not answer within {_CONNECT_SECONDS} s",
            "Look at the server: it may be starting, or hang",
        ),
        (
            re.search("[Hh]andshake|HTTP", text),
            "what answers there does not speak Bolt",
            "Use the Bolt port (7687 as a rule, not 7474)",
        ),
        (code, f"the server refused the connection ({text[:300]})", "See the server's log"),
        (True, f"no Neo4j server answers ({reason})", tls if "+s" in address.scheme else start),
    ]
    message, hint = next((message, hint) for applies, message, hint in cases if applies)
    return EngineError(message, where=address.url, hint=hint)


class Neo4jDialect:
    """Neo4j: schema in auto-commit transactions, plans by EXPLAIN."""

    name = "neo4j"

    def __init__(self, driver: Driver, database: str, version: str) -> None:
        self._driver, self._database, self.version = driver, database, version

    def _session(self) -> Session:
        # With the bookmarks of all others: in a cluster a member that is asked next has to have seen the
        # schema.
        return self._driver.session(
            database=self._database, bookmark_manager=self._driver.execute_query_bookmark_manager
        )

    def run_schema(self, ddl: str) -> None:
        """Run one DDL statement, again where another process makes the same schema at the same time."""
        from neo4j.exceptions import Neo4jError

        try:
            with self._session() as session:
                session.execute_write(lambda tx: tx.run(ddl).consume())
        except Neo4jError as error:
            # Made by the other process a moment before.
            if not str(error.code).endswith("EquivalentSchemaRuleAlreadyExists"):
                text = " ".join(line for line in ddl.splitlines() if not line.startswith("//"))
                raise EngineError(
                    f"the server refused a statement: {_first_line(error)}",
                    where=" ".join(text.split())[:120],
                ) from error

    def wait_online(self, timeout: float) -> None:
        """Return when every index is online; EngineError names the one that failed or was not ready in
        time."""
        from neo4j.exceptions import Neo4jError

        end = time.monotonic() + timeout
        with self._session() as session:
            names = [str(name) for (name,) in session.run(statement("server/unready", self.name)).values()]
            for name in names:
                seconds = max(1, round(end - time.monotonic()))
                try:
                    session.run(
                        statement("server/await_index", self.name), name=name, seconds=seconds
                    ).consume()
                except Neo4jError as error:
                    raise EngineError(
                        f"the index is not online: {_first_line(error)}",
                        where=name,
                        hint="See SHOW INDEXES for its state",
                    ) from error

    def objection(self, query: str) -> str | None:
        """What the query does beyond reading the memory, by the server's plan of it and our look at its
        words. EngineError where it cannot be planned."""
        from neo4j import READ_ACCESS
        from neo4j.exceptions import Neo4jError

        if "PROFILE" in readonly.preamble(query):
            return "PROFILE runs the query"
        if objection := readonly.objection(query):  # before the server reads it
            return objection
        explained = query if "EXPLAIN" in readonly.preamble(query) else f"EXPLAIN {query}"
        try:
            session = self._driver.session(database=self._database, default_access_mode=READ_ACCESS)
            with session, session.begin_transaction() as work:  # closed without a commit
                summary = work.run(explained).consume()
        except Neo4jError as error:
            raise EngineError(f"the server cannot read the query: {_first_line(error)}") from error
        if summary.query_type == "s" and readonly.asks_server(query):
            return None
        if summary.query_type != "r" or not summary.plan:
            return "the query may change the memory"
        if name := readonly.unknown_step(summary.plan) or readonly.unknown_function(query):
            return f"the query runs {name}, which is not known to only read the memory"
        return None


def _first_line(error: Exception) -> str:
    text = str(getattr(error, "message", None) or error or type(error).__name__)
    return re.sub(r"\s*\(line \d+, column \d+ \(offset: \d+\)\)", "", text.strip().partition("\n")[0])
