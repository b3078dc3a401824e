"""Queries that people write: read-only unless they say otherwise, on every engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import EngineError, InputError
from gsw_graph.results import Table
from gsw_graph.store.statements import statement

if TYPE_CHECKING:
    from gsw_graph.engine import Connection

_OWN_TRANSACTIONS = re.compile(r"\bIN\s+(\d+\s+CONCURRENT\s+)?TRANSACTIONS\b", re.IGNORECASE)


def run(connection: Connection, query: str, parameters: Mapping[str, Any], *, write: bool) -> Table:
    """Run one query. Raises InputError for an update without `write` and for what the engine cannot read or run."""
    from neo4j import READ_ACCESS, WRITE_ACCESS
    from neo4j.exceptions import ClientError, DatabaseError

    if not query.strip():
        raise InputError("the query is empty")
    try:
        if not write and not connection.dialect.is_read_only(query):
            raise InputError("the query may change the memory, and only reading is allowed", hint="Add --write if that is meant")
        mode = WRITE_ACCESS if write else READ_ACCESS
        with connection.session(default_access_mode=mode) as session:

            def work(tx: Any) -> Table:
                result = tx.run(query, dict(parameters))
                columns = list(result.keys())
                return Table(columns, [{column: plain(value) for column, value in record.items()} for record in result])

            if not write:
                return session.execute_read(work)
            try:
                return work(session) if _OWN_TRANSACTIONS.search(query) else session.execute_write(work)
            finally:  # a query with transactions of its own may have written before it failed
                session.execute_write(lambda tx: tx.run(statement("write/stamp")).consume())
    except (OverflowError, UnicodeError, ValueError, TypeError) as error:
        raise InputError(f"a value cannot be sent to the engine ({error})") from error
    except (ClientError, DatabaseError, EngineError) as error:
        message = error.message if isinstance(error, EngineError | ClientError) else str(error)
        raise InputError(f"the query failed: {message}") from error


def plain(value: Any) -> Any:
    """A value in JSON types: a node is {labels, properties}, a relationship {type, properties}, a path its nodes and relationships in turn."""
    from neo4j.graph import Node, Path, Relationship

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Node):
        return {"labels": sorted(value.labels), "properties": plain(dict(value))}
    if isinstance(value, Relationship):
        return {"type": value.type, "properties": plain(dict(value))}
    if isinstance(value, Path):
        mixed = [item for pair in zip(value.nodes, value.relationships, strict=False) for item in pair]
        return [plain(item) for item in [*mixed, value.nodes[-1]]]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return value.iso_format() if hasattr(value, "iso_format") else str(value)
