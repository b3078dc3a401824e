"""Dump a whole memory as lines of JSON, restore it, and copy it from one engine to another.

Rows are read and written kind by kind, as `store/nodes.py` declares them, whatever they mean. The Memory node
is written last: until then the target holds no memory, and nothing reads it or loads into it.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from gsw_graph.concurrency import prefetch
from gsw_graph.config import Settings, expanded
from gsw_graph.cypher import Unlogged, definitions, statement
from gsw_graph.engine import Connection, connect, to_engine_error
from gsw_graph.errors import EngineError, InputError, SchemaError
from gsw_graph.model.results import Copied
from gsw_graph.store import schema
from gsw_graph.store.nodes import Kind, Label, Relationship, kinds, labels
from gsw_graph.store.writer import parts

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

Row = dict[str, Any]
Report = Callable[[int], None]
# Keys of a page: a node may carry a vector and a long text.
_NODES, _RELATIONSHIPS = 200, 2000


def dump(connection: Connection, target: str | Path) -> Copied:
    """Write all that a memory holds into a new file, a node or a relationship a line, whole or not at all.

    Vectors are `{"float32": base64}` in the order of Intel machines, bytes are `{"bytes": base64}`. Who
    writes to the memory meanwhile, in another process too, waits until it is done.

    Raises:
        InputError: The file exists, or there is nothing to dump.
    """
    start, counts = perf_counter(), _no_counts()
    _check_source(connection)
    with _new_file(target) as file, _held(connection):
        for kind, row in read_all(connection):
            counts[kind.name] += 1
            # In ASCII no letter ends a line for any reader.
            file.write(json.dumps(_to_line(kind, row), default=str) + "\n")
    return _copied(connection.url, str(Path(target).resolve()), counts, start)


def restore(connection: Connection, source: str | Path, on_written: Report = lambda _: None) -> Copied:
    """Write the memory of a dump into a new folder or an empty database, with its indexes.

    What a restore or a copy left there that was cut off is removed first.

    Raises:
        InputError: The file cannot be read, or is no dump or a part of one.
        SchemaError: The target holds something already, or the dump is of another schema.
    """
    start = perf_counter()
    with Path(source).open(encoding="utf-8") as file:
        counts = _write_all(connection, _from_lines(file, str(source)), on_written)
    return _copied(str(source), connection.url, counts, start)


def copy(source: Settings, target: Settings, on_written: Report = lambda _: None) -> Copied:
    """Copy the memory of `source` to `target`, each a folder or a url with its own user and database.

    A copy that was cut off leaves no memory: copy again. Who writes to the source waits meanwhile.

    Args:
        source: Settings of the memory that is read; `sides` makes both from the environment.
        target: Settings of a new folder or an empty database.
        on_written: Called with the number of nodes and relationships written so far.

    Raises:
        InputError: There is nothing to copy, or both are one memory.
        SchemaError: The target holds something already.
        EngineError: A side cannot be reached, or not as much was written as was read.
    """
    start = perf_counter()
    same = (source.memory, source.database) == (target.memory, target.database)
    if "://" not in source.memory + target.memory:
        same = expanded(source.memory).resolve() == expanded(target.memory).resolve()
    if same:
        raise InputError("the memory cannot be copied onto itself", where=target.memory)
    with closing(connect(source, create=False)) as reading:
        _check_source(reading)
        with closing(connect(target)) as writing, _held(reading):
            counts = _write_all(writing, read_all(reading), on_written)
        return _copied(reading.url, writing.url, counts, start)


def sides(source: str, target: str, env: Mapping[str, str] | None = None) -> tuple[Settings, Settings]:
    """Return the settings of both sides of a copy from the environment.

    User, password and database come from NEO4J_USERNAME and so on, for `source` from NEO4J_FROM_USERNAME and
    so on where these are set: a password on a command line is read by every user of the machine.
    """
    env = os.environ if env is None else env
    to = Settings.from_env(env)
    credentials = {
        name: env.get(f"NEO4J_FROM_{name.upper()}") for name in ("username", "password", "database")
    }
    own: dict[str, Any] = {name: value for name, value in credentials.items() if value}
    return replace(to, memory=source, **own), replace(to, memory=target)


def read_all(connection: Connection) -> Iterator[tuple[Kind, Row]]:
    """Yield all nodes, the Memory node first, then all relationships, kind by kind, each with its row: `key`
    and `properties`, of a relationship the keys of its ends as `key` and `end`. Each relationship has both
    its nodes, whoever writes beside it."""
    found: dict[str, set[str]] = {}
    for kind in kinds():
        name, limit = ("nodes", _NODES) if isinstance(kind, Label) else ("relationships", _RELATIONSHIPS)
        (text,) = definitions(f"move/{name}", connection.dialect.name, **_literals(kind))
        for keys in _keys(connection, kind if isinstance(kind, Label) else kind.begin, limit):
            place = {key: n for n, key in enumerate(keys)}
            rows = _run(connection, text, page=Unlogged(keys))
            for row in sorted(rows, key=lambda row: place[row["key"]]):
                if isinstance(kind, Label):
                    found.setdefault(kind.name, set()).add(row["key"])
                elif not _has_both(found, kind, row):
                    continue
                yield kind, row


def _has_both(found: Mapping[str, set[str]], kind: Relationship, row: Row) -> bool:
    begins, ends = found.get(kind.begin.name, set()), found.get(kind.end.name, set())
    return row["key"] in begins and row["end"] in ends


@contextmanager
def _held(connection: Connection) -> Iterator[None]:
    """Have everybody wait who writes to a memory: what is read is of one moment."""
    from neo4j.exceptions import ClientError

    if connection.writing is not None:  # the one process of the engine
        with connection.writing:
            yield
        return
    with _translated(connection), connection.session(default_access_mode="WRITE") as session:
        transaction = session.begin_transaction()  # never committed
        with suppress(ClientError):  # a user who may only read holds nobody
            transaction.run(statement("move/hold", connection.dialect.name)).consume()
        try:
            yield
        finally:
            transaction.close()


def clear(connection: Connection) -> None:
    """Remove what a restore or a copy left that was cut off."""
    for label in labels().values():
        (text,) = definitions("move/remove_nodes", connection.dialect.name, **_literals(label))
        for keys in _keys(connection, label, _NODES):
            rest = [key for key in keys if label.name != "Memory"]  # the mark goes last
            _change(connection, text, page=Unlogged(rest))
    _change(connection, statement("move/end"))


def _change(connection: Connection, text: str, **parameters: Any) -> None:
    with _translated(connection), connection.session() as session:
        session.execute_write(lambda tx: tx.run(text, parameters).consume())


def _check_source(connection: Connection) -> None:
    state = schema.read_state(connection)
    if state is None:
        raise InputError(
            "there is nothing to copy", where=connection.url, hint="Load something first: gswgraph load PATH"
        )
    schema.check_schema(state)


def _no_counts() -> Counter[str]:
    return Counter({kind.name: 0 for kind in kinds()})


def _copied(source: str, target: str, counts: Mapping[str, int], start: float) -> Copied:
    return Copied(
        source,
        target,
        nodes={name: count for name, count in counts.items() if " " not in name},
        relationships={name: count for name, count in counts.items() if " " in name},
        seconds=perf_counter() - start,
    )


def _write_all(connection: Connection, rows: Iterable[tuple[Kind, Row]], on_written: Report) -> Counter[str]:
    """Write a memory into a database that holds none; return how many rows of each kind."""
    if schema.read_state(connection) is not None:
        raise SchemaError(
            "the target holds a memory already",
            where=connection.url,
            hint="Use a new folder or an empty database",
        )
    if schema.is_restoring(connection):
        clear(connection)
    schema.refuse_foreign(connection)
    schema.make_constraints(connection)
    _change(connection, statement("move/begin"))
    counts = _no_counts()
    memory: Row = {}
    grouped = groupby(rows, key=itemgetter(0))
    batches = ((kind, part) for kind, group in grouped for part in parts(row for _, row in group))
    with closing(prefetch(batches)) as ahead:
        for kind, batch in ahead:
            if kind.name == "Memory":
                memory = batch[0]
            else:
                with _translated(connection), connection.session() as session:
                    session.execute_write(_write, connection.dialect.name, kind, batch)
            counts[kind.name] += len(batch)
            on_written(sum(counts.values()))
    if not memory:
        raise InputError("this is no whole dump of a memory: it has no Memory node", where=connection.url)
    memory["properties"] |= {"indexed": False}

    def complete(tx: ManagedTransaction) -> None:
        tx.run(statement("move/end")).consume()
        _write(tx, connection.dialect.name, labels()["Memory"], [memory])

    with _translated(connection), connection.session() as session:
        session.execute_write(complete)
    schema.build_search_indexes(connection, memory["properties"]["dimension"])
    return counts


def _write(tx: ManagedTransaction, dialect: str, kind: Kind, rows: list[Row]) -> None:
    vectors: list[Row] = []
    if isinstance(kind, Label) and dialect == "neo4j":
        # Neo4j stores a list of floats in 64 bits; its procedure stores a vector in 32.
        vectors = [
            {"key": row["key"], "property": name, "vector": vector}
            for row in rows
            for name in kind.vectors
            if (vector := row["properties"].get(name)) is not None
        ]
        rows = [
            {
                "key": row["key"],
                "properties": {k: v for k, v in row["properties"].items() if k not in kind.vectors},
            }
            for row in rows
        ]
    name = "write_nodes" if isinstance(kind, Label) else "write_relationships"
    for statement_name, statement_rows in ((name, rows), ("write_vectors", vectors)):
        for part in parts(statement_rows):
            (text,) = definitions(f"move/{statement_name}", dialect, **_literals(kind))
            record = tx.run(text, rows=Unlogged(part)).single()
            if record is None or record["written"] != len(part):
                raise EngineError(
                    f"{len(part):,} of {kind.name} were sent and {record and record['written']:,} written",
                    hint="Another process writes there too: end it, empty the target, and do it again",
                )


def _keys(connection: Connection, label: Label, limit: int) -> Iterator[list[str]]:
    (text,) = definitions("move/keys", connection.dialect.name, LABEL=label.name, KEY=label.key)
    if connection.dialect.name != "neo4j":
        keys = sorted(row["key"] for row in _run(connection, text) if row["key"] is not None)
        yield from (keys[n : n + limit] for n in range(0, len(keys), limit))
        return
    after = ""
    while rows := _run(connection, text, after=after, limit=limit):
        yield [row["key"] for row in rows]
        after = rows[-1]["key"]


def _literals(kind: Kind) -> dict[str, str]:
    if isinstance(kind, Label):
        return {"LABEL": kind.name, "KEY": kind.key}
    return {
        "BEGIN": kind.begin.name,
        "KEY_OF_BEGIN": kind.begin.key,
        "TYPE": kind.type,
        "END": kind.end.name,
        "KEY_OF_END": kind.end.key,
    }


def _run(connection: Connection, text: str, **parameters: Any) -> list[Row]:
    def work(tx: ManagedTransaction) -> list[Row]:
        return [dict(record) for record in tx.run(text, parameters)]

    with _translated(connection), connection.session(default_access_mode="READ") as session:
        rows: list[Row] = session.execute_read(work)
    return rows


@contextmanager
def _translated(connection: Connection) -> Iterator[None]:
    """Raise what the driver raises as one sentence that names this side of a copy."""
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        yield
    except (DriverError, Neo4jError) as error:
        raise to_engine_error(error, connection.url) from error


def _to_line(kind: Kind, row: Row) -> Row:
    vectors = kind.vectors if isinstance(kind, Label) else ()
    properties = {
        name: _to_json(value, vector=name in vectors)
        for name, value in sorted(row["properties"].items())
        if value is not None
    }
    if isinstance(kind, Label):
        return {"label": kind.name, "properties": properties}
    begin, end = [kind.begin.name, row["key"]], [kind.end.name, row["end"]]
    return {"begin": begin, "type": kind.type, "end": end, "properties": properties}


def _from_lines(lines: Iterable[str], source: str) -> Iterator[tuple[Kind, Row]]:
    by_name = {kind.name: kind for kind in kinds()}
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            properties = {name: _from_json(value) for name, value in line["properties"].items()}
            if "label" in line:
                kind = by_name[line["label"]]
                assert isinstance(kind, Label)  # noqa: S101 - for mypy
                row = {"key": properties[kind.key], "properties": properties}
            else:
                kind = by_name[f"{line['begin'][0]} {line['type']} {line['end'][0]}"]
                row = {"key": line["begin"][1], "end": line["end"][1], "properties": properties}
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(
                "this line is none of a dump", where=f"{source}:{number}", hint="Make one: gswgraph dump FILE"
            ) from error
        if kind.name == "Memory" and properties.get("schema") != schema.SCHEMA:
            raise SchemaError(
                f"the dump is of schema {properties.get('schema')}, this gswgraph reads {schema.SCHEMA}"
            )
        yield kind, row


def _to_json(value: Any, *, vector: bool) -> Any:
    if vector:
        return {"float32": base64.b64encode(np.asarray(value, "<f4").tobytes()).decode()}
    if isinstance(value, bytes | bytearray):
        return {"bytes": base64.b64encode(value).decode()}
    return value


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    data = base64.b64decode(text)
    return data if kind == "bytes" else np.frombuffer(data, "<f4").tolist()


@contextmanager
def _new_file(target: str | Path) -> Iterator[IO[str]]:
    """Open a file beside the target, which takes its place when all went well and is removed after an error.

    Raises:
        InputError: There is something in the place of the target.
    """
    place = Path(target).resolve()
    if place.exists():
        raise InputError("there is something here already", where=str(place), hint="Name a new one")
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            yield file
        beside.rename(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
