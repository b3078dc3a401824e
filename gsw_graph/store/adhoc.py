"""Run queries that people write, read-only by default, on every engine. A result is a table, or a graph of
its nodes and relationships, including those in paths, lists and maps."""

from __future__ import annotations

import contextlib
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from neo4j import READ_ACCESS, WRITE_ACCESS, Query, unit_of_work
from neo4j.exceptions import ClientError, DatabaseError, DriverError, Neo4jError
from neo4j.graph import Node, Path, Relationship

from gsw_graph.concurrency import Check, never_cancelled
from gsw_graph.cypher import base_name, statement
from gsw_graph.engine import read_again
from gsw_graph.errors import EngineError, InputError, WorkCancelledError
from gsw_graph.model.results import RankedPassage, Table
from gsw_graph.store import writer
from gsw_graph.store.confine import Confined, confine
from gsw_graph.store.reader import Reader
from gsw_graph.store.space import Space, space_of
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from neo4j import Record, Result

    from gsw_graph.engine import Connection

_R = TypeVar("_R")
Metadata = dict[str, str]  # of a transaction
# Seconds between checks: Ctrl-C does not break into a wait without an end everywhere.
_TICK = 0.1
# Seconds for the server to end a transaction, after which it is tried again or left.
_PATIENCE = 1.0
_EACH = 10  # relationships that are kept for each node of a graph: a query may return all of a memory
_PASSAGES = 3  # behind one entity
# Labels whose nodes occur in passages, and the parameter of `read/behind` that takes their ids.
_LABELS = {
    "Entity": "entities",
    "Passage": "passages",
    "QAPair": "pairs",
    "VerbPhrase": "phrases",
    "Proposition": "propositions",
}
_OWN_TRANSACTIONS = re.compile(r"\bIN\s+(\d+\s+CONCURRENT\s+)?TRANSACTIONS\b", re.IGNORECASE)


def run(
    connection: Connection,
    query: str,
    parameters: Fields,
    *,
    write: bool,
    timeout: float | None = None,
    check: Check = never_cancelled,
    most: int | None = None,
) -> Table:
    """Run a query.

    Args:
        connection: The memory.
        query: The query, in Cypher.
        parameters: Parameters of the query.
        write: Whether the query may change the memory.
        timeout: Seconds. After a timeout, Ctrl-C or an error of `check`, the server ends the transaction.
        check: Called now and then; an error ends the query.
        most: Largest number of rows; None for all.

    Returns:
        The rows.

    Raises:
        InputError: The query would change the memory without `write`, cannot be run, or took too long.
    """
    take = partial(_table, most=most)
    return read(connection, query, parameters, take, write=write, timeout=timeout, check=check)


@dataclass(frozen=True, slots=True)
class _Records:
    """The records of a query, and what they may hold; columns: as they were written, by place."""

    result: Result
    space: Space | None
    columns: Mapping[int, str]

    def __iter__(self) -> Iterator[Record]:
        for record in self.result:
            if self.space is not None:
                for entity in _entities(record.values()):
                    if isinstance(entity, Node):
                        _check(self.space, [entity])
                    else:  # an end that was not returned has neither labels nor properties
                        _check(self.space, [node for node in entity.nodes if node])
            yield record

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return [self.columns.get(place, name) for place, name in enumerate(self.result.keys())]


def _check(space: Space, nodes: Iterable[Node]) -> None:
    """Raise InputError for a node of another memory: a second lock beside what the query says."""
    for node in nodes:
        if not space.holds(node.labels):
            raise InputError("the query left its memory", hint="Give each node a label of the memory")


def read(
    connection: Connection,
    query: str,
    parameters: Fields,
    take: Callable[[_Records], _R],
    *,
    write: bool = False,
    timeout: float | None = None,
    check: Check = never_cancelled,
    refused: str = "Add --write if that is meant",
) -> _R:
    """Run a query as `run` does, and return the value of `take`, called with the result in the transaction.
    refused: Hint for a query that would change the memory."""
    if not query.strip():
        raise InputError("the query is empty")
    space = space_of(connection)
    confined = Confined(query) if space is None else confine(query, space)
    query = confined.text

    def take_inside(result: Result) -> _R:
        return take(_Records(result, space, confined.columns))

    def work(metadata: Metadata) -> _R:
        return _run(connection, query, dict(parameters), take_inside, metadata, write=write)

    try:
        objection = None if write else connection.dialect.read_only_violation(query)
        if objection:
            raise InputError(f"{objection}, and only reading is allowed", hint=refused)
        return _run_cancellable(connection, work, timeout, check)
    except (OverflowError, UnicodeError, ValueError, TypeError) as error:
        raise InputError(f"a value cannot be sent to the engine ({error})") from error
    except (ClientError, DatabaseError, EngineError) as error:
        message = error.message if isinstance(error, EngineError | ClientError) else str(error)
        raise InputError(f"the query failed: {message}") from error


def _run(
    connection: Connection,
    query: str,
    parameters: Fields,
    take: Callable[[Result], _R],
    metadata: Metadata,
    *,
    write: bool,
) -> _R:
    @unit_of_work(metadata=metadata)
    def work(tx: Any) -> _R:
        return take(tx.run(query, parameters))

    with connection.session(default_access_mode=WRITE_ACCESS if write else READ_ACCESS) as session:
        if not write:
            return read_again(lambda: session.execute_read(work))
        try:
            if _OWN_TRANSACTIONS.search(query):
                return take(session.run(Query(query, metadata=metadata), parameters))
            return session.execute_write(work)
        finally:  # a query with transactions of its own may have written before it failed
            session.execute_write(writer.execute, "stamp")


def _table(records: _Records, most: int | None) -> Table:
    columns = records.keys()
    lists_indexes = "labelsOrTypes" in columns
    rows = []
    for record in islice(records, most):
        row = {column: plain(value) for column, value in zip(columns, record.values(), strict=True)}
        if records.space is None or not lists_indexes or records.space.lists(row):
            rows.append(row)
    return Table(columns, rows)


def plain(value: Any) -> Any:
    """Return a value in JSON types: a node is {labels, properties}, a relationship {type, properties}, a path
    its nodes and relationships in turn, and each of these relationships says in `forward` whether it leads
    the way of the path."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Node):
        return {"labels": sorted(map(base_name, value.labels)), "properties": plain(dict(value))}
    if isinstance(value, Relationship):
        return {"type": base_name(value.type), "properties": plain(dict(value))}
    if isinstance(value, Path):
        parts = [plain(value.nodes[0])]
        for start, relationship, end in zip(value.nodes, value.relationships, value.nodes[1:], strict=False):
            parts += [{**plain(relationship), "forward": relationship.start_node == start}, plain(end)]
        return parts
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return value.iso_format() if hasattr(value, "iso_format") else str(value)


def _run_cancellable(
    connection: Connection, work: Callable[[Metadata], _R], timeout: float | None, check: Check
) -> _R:
    """Run `work(metadata)` in a thread, so that this one can end its transactions, which must be begun with
    that metadata. Raises what it raises, what `check` raises, which is called now and then, and InputError
    after `timeout` seconds."""
    mark = secrets.token_hex(8)
    result: Future[_R] = Future()

    def run_work() -> None:
        try:
            result.set_result(work({"gswgraph": mark}))
        except BaseException as error:  # raised in the thread that waits
            result.set_exception(error)

    end = None if timeout is None else monotonic() + timeout
    threading.Thread(target=run_work, name="gswgraph-query", daemon=True).start()
    try:
        while not wait([result], _TICK).done:
            check()
            if end is not None and monotonic() > end:
                _end(connection, mark, result)
                raise InputError(
                    f"the query took longer than {timeout:g} s and was ended",
                    hint="Ask for less, or give it longer: --timeout SECONDS (timeout=SECONDS in Python)",
                )
    except (KeyboardInterrupt, WorkCancelledError):
        _end(connection, mark, result)
        raise
    return result.result()


def _end(connection: Connection, mark: str, result: Future[Any]) -> None:
    """End the transactions of a mark and wait a moment for their thread; a second time, as the first may have
    come before the transaction had begun."""
    dialect = connection.dialect.name
    listing = statement("server/own_transactions", dialect)
    for _ in range(2):
        with contextlib.suppress(DriverError, Neo4jError), connection.session() as session:
            for row in session.run(listing, {"mark": mark}).data():
                if (row.get("currentQuery") or "").split() != listing.split():
                    transaction = row.get("id") or row["transactionId"]
                    session.run(statement("server/terminate", dialect), {"id": transaction}).consume()
        if wait([result], _PATIENCE / 2).done:
            return


# Graphs


@dataclass
class Drawn:
    """Nodes and relationships by the engine's ids. left_out: ids of nodes beyond the limit."""

    nodes: dict[str, Node] = field(default_factory=dict)
    relationships: dict[str, Relationship] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def add(self, node: Node, most: int) -> None:
        """Add a node, or its id to what is left out."""
        if len(self.nodes) < most or node.element_id in self.nodes:
            self.nodes[node.element_id] = node
        else:
            self.left_out.add(node.element_id)

    def ends(self) -> list[str]:
        """Return the ids of the nodes that relationships join, each once."""
        ends: dict[str, None] = {}
        for relationship in self.relationships.values():
            for node in relationship.nodes:
                if node:
                    ends[node.element_id] = None
        return list(ends)


def drawn(
    connection: Connection,
    query: str,
    parameters: Fields,
    *,
    most: int,
    timeout: float | None,
    check: Check = never_cancelled,
) -> Drawn:
    """Run a reading query and return its graph, with the ends of all relationships.

    Args:
        connection: The memory.
        query: The query, in Cypher.
        parameters: Parameters of the query.
        most: Largest number of nodes; further nodes are left out.
        timeout: Seconds.
        check: Called now and then; an error ends the query.

    Raises:
        InputError: As `run` does.
    """
    graph = read(
        connection,
        query,
        parameters,
        lambda records: _take(records, most),
        timeout=timeout,
        check=check,
        refused="Change it first, and draw it then",
    )
    missing = [end for end in graph.ends() if end not in graph.nodes and end not in graph.left_out]
    if missing:
        for row in Reader(connection).rows("read/nodes_by_element", ids=missing[:most]):
            graph.add(row["n"], most)
    return graph


def passages_behind(reader: Reader, nodes: Mapping[str, Node]) -> dict[str, list[RankedPassage]]:
    """Return the passages in which nodes occur, by the engine's id of the node; of an entity a few."""
    ids: dict[str, list[str]] = {name: [] for name in _LABELS.values()}
    by_id: dict[str, list[str]] = {}
    for element, node in nodes.items():
        own = node.get("id")
        for label in map(base_name, node.labels):
            if label in _LABELS and isinstance(own, str):
                ids[_LABELS[label]].append(own)
                by_id.setdefault(own, []).append(element)
    passages: dict[str, list[RankedPassage]] = {}
    for row in reader.rows("read/behind", **ids, most=_PASSAGES) if by_id else ():
        passage = RankedPassage(row["passage"], row["title"], row["text"], row["source"], "", 0.0)
        for element in by_id[row["id"]]:
            passages.setdefault(element, []).append(passage)
    return passages


def _take(records: _Records, most: int) -> Drawn:
    graph = Drawn()
    for record in records:
        for entity in _entities(record.values()):
            if isinstance(entity, Node):
                graph.add(entity, most)
                continue
            ends = {node.element_id for node in entity.nodes if node}
            if len(graph.relationships) < _EACH * most and ends.isdisjoint(graph.left_out):
                graph.relationships[entity.element_id] = entity
    return graph


def _entities(value: Any) -> Iterator[Node | Relationship]:
    """Find nodes and relationships in a value, in their order."""
    if isinstance(value, Node | Relationship):
        yield value
    elif isinstance(value, Path):
        yield from value.nodes
        yield from value.relationships
    elif isinstance(value, Mapping):
        yield from _entities(list(value.values()))
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _entities(item)
