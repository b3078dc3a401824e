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
from neo4j.exceptions import ClientError, DriverError, Neo4jError

from gsw_graph.concurrency import prefetch
from gsw_graph.config import Settings, expanded
from gsw_graph.cypher import Unlogged, definitions, statement
from gsw_graph.engine import Connection, to_engine_error
from gsw_graph.engine.opening import connect
from gsw_graph.errors import EngineError, InputError, SchemaError
from gsw_graph.model.results import Copied
from gsw_graph.store import schema
from gsw_graph.store.nodes import Kind, Label, Relationship, kinds, labels, relationships
from gsw_graph.store.writer import parts
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

Row = Fields
Report = Callable[[int], None]
# Keys of a page: a node may carry a vector and a long text.
_NODES, _RELATIONSHIPS = 200, 2000


def dump(connection: Connection, target: str | Path) -> Copied:
    """Write a whole memory into a new file, a node or a relationship a line. The file is complete or absent.

    Vectors are `{"float32": base64}` in the order of Intel machines, bytes are `{"bytes": base64}`. Writers,
    in other processes too, wait meanwhile.

    Raises:
        InputError: The file exists, or the memory is empty.
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

    Remains of an interrupted restore or copy are removed first.

    Raises:
        InputError: The file cannot be read, is no dump, or is incomplete.
        SchemaError: The target is not empty, or the dump has another schema.
    """
    start = perf_counter()
    with Path(source).open(encoding="utf-8") as file:
        counts = _write_all(connection, _from_lines(file, str(source)), on_written)
    return _copied(str(source), connection.url, counts, start)


def copy(source: Settings, target: Settings, on_written: Report = lambda _: None) -> Copied:
    """Copy the memory of `source` to `target`, each a folder or a url with its own user and database.

    A copy that was cut off leaves no memory: copy again. Who writes to the source waits meanwhile.

    Args:
        source: Settings of the memory that is read; `copy_settings` makes both from the environment.
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


def copy_settings(source: str, target: str) -> tuple[Settings, Settings]:
    """Return the settings of both sides of a copy from the environment.

    User, password and database come from NEO4J_USERNAME and so on; for `source`, NEO4J_FROM_USERNAME and so
    on come first. They are no options, as every user of the machine can read a command line.
    """
    to = Settings.from_env()
    own: Fields = {}
    for name in ("username", "password", "database"):
        value = os.environ.get(f"NEO4J_FROM_{name.upper()}")
        if value:
            own[name] = value
    return replace(to, memory=source, **own), replace(to, memory=target)


def read_all(connection: Connection) -> Iterator[tuple[Kind, Row]]:
    """Yield all nodes, the Memory node first, then all relationships, kind by kind, each with its row: `key`
    and `properties`, of a relationship the keys of its ends as `key` and `end`. Each relationship has both
    its nodes, whoever writes beside it."""
    found: dict[str, set[str]] = {}  # keys of the nodes that were read, by label
    for label in labels().values():
        keys = found[label.name] = set()
        for row in _pages(connection, label, label, "nodes", _NODES):
            keys.add(row["key"])
            yield label, row
    for kind in relationships():
        begins, ends = found[kind.begin.name], found[kind.end.name]
        for row in _pages(connection, kind, kind.begin, "relationships", _RELATIONSHIPS):
            if row["key"] in begins and row["end"] in ends:
                yield kind, row


def _pages(connection: Connection, kind: Kind, label: Label, name: str, limit: int) -> Iterator[Row]:
    """Yield the rows of a kind, page by page in the order of the keys of a label."""
    text = _text(connection, name, kind)
    for keys in _keys(connection, label, limit):
        place = {key: number for number, key in enumerate(keys)}
        rows = _run(connection, text, page=Unlogged(keys))
        yield from sorted(rows, key=lambda row: place[row["key"]])


@contextmanager
def _held(connection: Connection) -> Iterator[None]:
    """Have everybody wait who writes to a memory: what is read is of one moment."""
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
    """Remove the remains of an interrupted restore or copy."""
    for label in labels().values():
        text = _text(connection, "remove_nodes", label)
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
    nodes = {name: count for name, count in counts.items() if " " not in name}
    others = {name: count for name, count in counts.items() if " " in name}
    return Copied(source, target, nodes, others, perf_counter() - start)


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
    with closing(prefetch(_batches(rows))) as ahead:
        for kind, batch in ahead:
            if kind.name == "Memory":
                memory = batch[0]
            else:
                with _translated(connection), connection.session() as session:
                    session.execute_write(_write, connection.dialect.name, kind, batch)
            counts[kind.name] += len(batch)
            on_written(counts.total())
    if not memory:
        raise InputError("this is no whole dump of a memory: it has no Memory node", where=connection.url)
    memory["properties"]["indexed"] = False

    def complete(tx: ManagedTransaction) -> None:
        tx.run(statement("move/end")).consume()
        _write(tx, connection.dialect.name, labels()["Memory"], [memory])

    with _translated(connection), connection.session() as session:
        session.execute_write(complete)
    schema.build_search_indexes(connection, memory["properties"]["dimension"])
    return counts


def _batches(rows: Iterable[tuple[Kind, Row]]) -> Iterator[tuple[Kind, list[Row]]]:
    for kind, group in groupby(rows, key=itemgetter(0)):
        for batch in parts(row for _, row in group):
            yield kind, batch


def _write(tx: ManagedTransaction, dialect: str, kind: Kind, rows: list[Row]) -> None:
    if isinstance(kind, Relationship):
        _write_parts(tx, dialect, kind, "write_relationships", rows)
        return
    vectors = []
    if dialect == "neo4j":
        # Neo4j stores a list of floats in 64 bits; its procedure stores a vector in 32.
        nodes = []
        for row in rows:
            properties = dict(row["properties"])
            for name in kind.vectors:
                vector = properties.pop(name, None)
                if vector is not None:
                    vectors.append({"key": row["key"], "property": name, "vector": vector})
            nodes.append({"key": row["key"], "properties": properties})
        rows = nodes
    _write_parts(tx, dialect, kind, "write_nodes", rows)
    _write_parts(tx, dialect, kind, "write_vectors", vectors)


def _write_parts(tx: ManagedTransaction, dialect: str, kind: Kind, name: str, rows: list[Row]) -> None:
    for part in parts(rows):
        (text,) = definitions(f"move/{name}", dialect, **_literals(kind))
        written = tx.run(text, rows=Unlogged(part)).single(strict=True)["written"]
        if written != len(part):
            raise EngineError(
                f"{len(part):,} of {kind.name} were sent and {written:,} written",
                hint="Another process writes there too: end it, empty the target, and do it again",
            )


def _keys(connection: Connection, label: Label, limit: int) -> Iterator[list[str]]:
    text = _text(connection, "keys", label)
    if connection.dialect.name != "neo4j":
        keys = sorted(row["key"] for row in _run(connection, text) if row["key"] is not None)
        for begin in range(0, len(keys), limit):
            yield keys[begin : begin + limit]
        return
    after = ""
    while rows := _run(connection, text, after=after, limit=limit):
        keys = [row["key"] for row in rows]
        yield keys
        after = keys[-1]


def _text(connection: Connection, name: str, kind: Kind) -> str:
    """Return a statement of `cypher/move/` for a label or a kind of relationships."""
    (text,) = definitions(f"move/{name}", connection.dialect.name, **_literals(kind))
    return text


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
    try:
        yield
    except (DriverError, Neo4jError) as error:
        raise to_engine_error(error, connection.url) from error


def _to_line(kind: Kind, row: Row) -> Row:
    vectors = kind.vectors if isinstance(kind, Label) else ()
    properties = {}
    for name, value in sorted(row["properties"].items()):
        if value is not None:
            properties[name] = _to_json(value, vector=name in vectors)
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
                key = labels()[line["label"]].key
                kind, row = by_name[line["label"]], {"key": properties[key], "properties": properties}
            else:
                (begin, key), (end, end_key) = line["begin"], line["end"]
                kind = by_name[f"{begin} {line['type']} {end}"]
                row = {"key": key, "end": end_key, "properties": properties}
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
