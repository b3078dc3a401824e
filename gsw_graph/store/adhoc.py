"""Queries that people write: read-only unless they say otherwise, on every engine."""

from __future__ import annotations

import contextlib
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gsw_graph.concurrency import Check, never_cancelled
from gsw_graph.errors import EndedError, EngineError, InputError
from gsw_graph.model.results import Table
from gsw_graph.store.statements import statement

if TYPE_CHECKING:
    from neo4j import Result

    from gsw_graph.engine import Connection

_R = TypeVar("_R")
# Seconds between checks: Ctrl-C does not break into a wait without an end everywhere.
_TICK = 0.1
# Seconds for the server to end a transaction, after which it is tried again or left.
_PATIENCE = 1.0
_OWN_TRANSACTIONS = re.compile(r"\bIN\s+(\d+\s+CONCURRENT\s+)?TRANSACTIONS\b", re.IGNORECASE)


def run(
    connection: Connection,
    query: str,
    parameters: Mapping[str, Any],
    *,
    write: bool,
    timeout: float | None = None,
    check: Check = never_cancelled,
) -> Table:
    """Run one query; its rows as a table. Raises InputError for an update without `write`, for what the
    engine cannot read or run, and after `timeout` seconds; then, at Ctrl-C and where `check` raises, the
    server ends its transaction."""
    return read(connection, query, parameters, _table, write=write, timeout=timeout, check=check)


def read(
    connection: Connection,
    query: str,
    parameters: Mapping[str, Any],
    take: Callable[[Result], _R],
    *,
    write: bool = False,
    timeout: float | None = None,
    check: Check = never_cancelled,
    refused: str = "Add --write if that is meant",
) -> _R:
    """The same for what `take` makes of the result, in its transaction. refused: the hint where it would
    change something."""
    from neo4j.exceptions import ClientError, DatabaseError

    if not query.strip():
        raise InputError("the query is empty")
    try:
        if not write and (objection := connection.dialect.objection(query)):
            raise InputError(f"{objection}, and only reading is allowed", hint=refused)
        return CancellableQuery(
            connection,
            lambda metadata: _run(connection, query, dict(parameters), take, metadata, write=write),
        ).run(timeout, check)
    except (OverflowError, UnicodeError, ValueError, TypeError) as error:
        raise InputError(f"a value cannot be sent to the engine ({error})") from error
    except (ClientError, DatabaseError, EngineError) as error:
        message = error.message if isinstance(error, EngineError | ClientError) else str(error)
        raise InputError(f"the query failed: {message}") from error


def _run(
    connection: Connection,
    query: str,
    parameters: dict[str, Any],
    take: Callable[[Result], _R],
    metadata: dict[str, Any],
    *,
    write: bool,
) -> _R:
    from neo4j import READ_ACCESS, WRITE_ACCESS, Query, unit_of_work

    @unit_of_work(metadata=metadata)
    def work(tx: Any) -> _R:
        return take(tx.run(query, parameters))

    with connection.session(default_access_mode=WRITE_ACCESS if write else READ_ACCESS) as session:
        if not write:
            return session.execute_read(work)
        try:
            if _OWN_TRANSACTIONS.search(query):
                return take(session.run(Query(query, metadata=metadata), parameters))
            return session.execute_write(work)
        finally:  # a query with transactions of its own may have written before it failed
            session.execute_write(lambda tx: tx.run(statement("write/stamp")).consume())


def _table(result: Result) -> Table:
    columns = list(result.keys())
    return Table(
        columns,
        [{column: plain(value) for column, value in zip(columns, record, strict=True)} for record in result],
    )


def plain(value: Any) -> Any:
    """A value in JSON types: a node is {labels, properties}, a relationship {type, properties}, a path its
    nodes and relationships in turn, and each of these relationships says in `forward` whether it leads the
    way of the path."""
    from neo4j.graph import Node, Path, Relationship

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Node):
        return {"labels": sorted(value.labels), "properties": plain(dict(value))}
    if isinstance(value, Relationship):
        return {"type": value.type, "properties": plain(dict(value))}
    if isinstance(value, Path):
        found = [plain(value.nodes[0])]
        for start, relationship, end in zip(value.nodes, value.relationships, value.nodes[1:], strict=False):
            found += [{**plain(relationship), "forward": relationship.start_node == start}, plain(end)]
        return found
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return value.iso_format() if hasattr(value, "iso_format") else str(value)


class CancellableQuery(Generic[_R]):
    """Runs `work(metadata)` in a thread, so that this one can end it. metadata: what its transactions must
    be begun with."""

    def __init__(self, connection: Connection, work: Callable[[dict[str, str]], _R]) -> None:
        self._connection, self._work = connection, work
        self._mark = secrets.token_hex(8)
        self._results: list[_R] = []
        self._failure: BaseException | None = None
        self._done = threading.Event()

    def run(self, timeout: float | None, check: Check = never_cancelled) -> _R:
        """The result of the work. InputError where it takes longer than `timeout` seconds; what it raises
        otherwise, or `check`, which is called now and then."""
        end = None if timeout is None else monotonic() + timeout
        thread = threading.Thread(target=self._run, name="gswgraph-query", daemon=True)
        thread.start()
        try:
            while not self._done.wait(_TICK):
                check()
                if end is not None and monotonic() > end:
                    self._end()
                    hint = "Ask for less, or give it longer: --timeout SECONDS (timeout=SECONDS in Python)"
                    raise InputError(f"the query took longer than {timeout:g} s and was ended", hint=hint)
        except (KeyboardInterrupt, EndedError):
            self._end()
            raise
        thread.join()
        if self._failure is not None:
            raise self._failure
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._work({"gswgraph": self._mark}))
        except BaseException as failure:  # raised in the thread that waits
            self._failure = failure
        finally:
            self._done.set()

    def _end(self) -> None:
        """End the transactions and wait a moment for the thread; a second time, as the first may have come
        before the transaction had begun."""
        from neo4j.exceptions import DriverError, Neo4jError

        for _ in range(2):
            with contextlib.suppress(DriverError, Neo4jError):
                self._terminate()
            if self._done.wait(_PATIENCE / 2):
                return

    def _terminate(self) -> None:
        dialect = self._connection.dialect.name
        listing = statement("server/own_transactions", dialect)
        with self._connection.session() as session:
            rows = session.run(listing, {"mark": self._mark}).data()
            running = [
                row.get("id") or row["transactionId"]
                for row in rows
                if (row.get("currentQuery") or "").split() != listing.split()
            ]
            for transaction in running:
                session.run(statement("server/terminate", dialect), {"id": transaction}).consume()
