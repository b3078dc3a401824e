"""Any Neo4j server, cluster or Aura, reached by url."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from neo4j import READ_ACCESS
from neo4j.exceptions import DriverError, Neo4jError

from gsw_graph.cypher import statement
from gsw_graph.engine import Connection, open_driver, readonly
from gsw_graph.engine.address import Address, parse
from gsw_graph.errors import EngineError
from gsw_graph.values import Fields, single_spaced
from gsw_graph.version import __version__

if TYPE_CHECKING:
    from neo4j import Driver, Session

    from gsw_graph.config import Settings

OLDEST = (5, 26)  # the long-term release; `CALL (x) { }` came with 5.23
_CONNECT_SECONDS = 10
# Codes of the server by their end, what they mean, and what to do.
_REFUSALS = (
    (
        "AuthenticationRateLimit",
        "the server refuses this user for a while after too many wrong passwords",
        "Wait some seconds and try again",
    ),
    (
        "CredentialsExpired",
        "the password has expired",
        "Change it in Neo4j Browser or with ALTER CURRENT USER SET PASSWORD",
    ),
)


def connect(settings: Settings) -> Connection:
    """Connect to the server at `settings.memory` and check that it can serve. Raises EngineError with a next
    step if it cannot."""
    address = parse(settings.memory)
    password = settings.password if address.password is None else address.password
    if password is None and address.host in {"127.0.0.1", "localhost", "::1"}:
        from gsw_graph.engine import local  # few servers are ours

        password = local.password_for(settings, address.port)
    auth = None if password is None else (address.username or settings.username, password)
    driver = None
    try:
        driver = open_driver(
            address.url,
            auth,
            user_agent=f"gswgraph/{__version__}",
            connection_timeout=_CONNECT_SECONDS,
            # one that accepts and never answers counts as none
            connection_acquisition_timeout=_CONNECT_SECONDS,
        )
        # not execute_query: it would try again for half a minute where no server is
        driver.verify_connectivity()
        with driver.session(database=settings.database or address.database) as session:
            result = session.run(statement("server/components"))
            versions: Fields = dict(result.values())
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
    """Return a failure to connect as a sentence with a next step, without a password.

    Args:
        error: Error of the driver.
        address: Address of the server.
        with_password: Whether a password was given.
    """
    code = str(getattr(error, "code", "") or "")
    for ending, message, hint in _REFUSALS:
        if code.endswith(ending):
            return EngineError(message, where=address.url, hint=hint)
    text = single_spaced(str(getattr(error, "message", None) or error))
    # The operating system's own words are at the root of the driver's.
    is_late, reason = False, ""
    cause: BaseException | None = error
    while cause is not None:
        is_late = is_late or isinstance(cause, TimeoutError)
        if isinstance(cause, OSError):
            reason = reason or cause.strerror or ""
        cause = cause.__cause__
    if ".Security." in code and with_password:
        message = "the user name or the password is wrong"
        hint = "Check NEO4J_USERNAME and NEO4J_PASSWORD"
    elif ".Security." in code:
        message = "the server asks for a password and none is set"
        hint = "Set NEO4J_PASSWORD (and NEO4J_USERNAME, if it is not neo4j)"
    elif code.endswith("DatabaseNotFound"):
        message = f"the server has no such database ({text})"
        hint = "Check NEO4J_DATABASE, or unset it for the user's home database"
    elif is_late:
        message = f"what listens there does not answer within {_CONNECT_SECONDS} s"
        hint = "Look at the server: it may be starting, or hang"
    elif re.search("[Hh]andshake|HTTP", text):
        message = "what answers there does not speak Bolt"
        hint = "Use the Bolt port (7687 as a rule, not 7474)"
    elif code:
        message, hint = f"the server refused the connection ({text[:300]})", "See the server's log"
    else:
        message = f"no Neo4j server answers ({reason or text[:200]})"
        hint = "Start one with gswgraph db start, or check NEO4J_URI"
        if "+s" in address.scheme:
            plain = address.scheme.partition("+")[0]
            hint = f"Check the address and the server's certificate, or use {plain}:// where it has no TLS"
    return EngineError(message, where=address.url, hint=hint)


class Neo4jDialect:
    """Use Neo4j: auto-commit transactions make the schema, EXPLAIN tells reads from writes."""

    name = "neo4j"

    def __init__(self, driver: Driver, database: str, version: str) -> None:
        self._driver, self._database, self.version = driver, database, version

    def _session(self) -> Session:
        # With the bookmarks of all others: in a cluster a member that is asked next has to have seen the
        # schema.
        bookmarks = self._driver.execute_query_bookmark_manager
        return self._driver.session(database=self._database, bookmark_manager=bookmarks)

    def run_schema(self, ddl: str) -> None:
        """Run a DDL statement; again if another process makes the same schema at the same time."""
        try:
            with self._session() as session:
                session.execute_write(lambda tx: tx.run(ddl).consume())
        except Neo4jError as error:
            if str(error.code).endswith("EquivalentSchemaRuleAlreadyExists"):
                return  # made by the other process a moment before
            text = " ".join(line for line in ddl.splitlines() if not line.startswith("//"))
            raise EngineError(
                f"the server refused a statement: {_first_line(error)}", where=single_spaced(text)[:120]
            ) from error

    def wait_online(self, timeout: float) -> None:
        """Wait until every index is online. Raises EngineError with the name of an index that failed or was
        late."""
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

    def read_only_violation(self, query: str) -> str | None:
        """Return what a query does beyond reading the memory, by the server's plan and by the words of the
        query. Raises EngineError if the query cannot be planned."""
        preamble = readonly.preamble(query)
        if "PROFILE" in preamble:
            return "PROFILE runs the query"
        objection = readonly.read_only_violation(query)  # before the server reads it
        if objection:
            return objection
        explained = query if "EXPLAIN" in preamble else f"EXPLAIN {query}"
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
        unknown = readonly.unknown_step(summary.plan) or readonly.unknown_function(query)
        return f"the query runs {unknown}, which is not known to only read the memory" if unknown else None


def _first_line(error: Exception) -> str:
    text = str(getattr(error, "message", None) or error or type(error).__name__)
    return re.sub(r"\s*\(line \d+, column \d+ \(offset: \d+\)\)", "", text.strip().partition("\n")[0])
