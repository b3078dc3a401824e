"""A query that can be ended before it is done: by Ctrl-C, or when its time is over. The server ends its
transaction, and does no more for it."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from gsw_graph.cypher import statement
from gsw_graph.errors import EndedError, InputError
from gsw_graph.turns import Check, wanted

if TYPE_CHECKING:
    from gsw_graph.engine import Connection

_R = TypeVar("_R")
_TICK = 0.1  # seconds: Ctrl-C does not break into a wait without an end everywhere
_PATIENCE = 1.0  # seconds for the server to end a transaction, after which it is tried again or left


class Endable(Generic[_R]):
    """Runs `work(metadata)` in a thread, so that this one can end it. metadata: what its transactions must
    be begun with."""

    def __init__(self, connection: Connection, work: Callable[[dict[str, str]], _R]) -> None:
        self._connection, self._work = connection, work
        self._mark = secrets.token_hex(8)
        self._results: list[_R] = []
        self._failure: BaseException | None = None
        self._done = threading.Event()

    def run(self, timeout: float | None, check: Check = wanted) -> _R:
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
