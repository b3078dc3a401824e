"""The graph read and written kind by kind, whatever it means: for copies and exports. Which kinds there are
says `graph.py`; properties go as they are, those that nobody declared too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from gsw_graph.cypher import definitions
from gsw_graph.engine.plain_errors import plain
from gsw_graph.errors import EngineError
from gsw_graph.store.graph import Kind, Label, labels
from gsw_graph.store.statements import Unlogged, statement
from gsw_graph.store.writer import MESSAGE_BYTES, parts, row_size

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

    from gsw_graph.engine import Connection

Row = dict[str, Any]
_NODES, _BEGINNINGS = 200, 2000  # keys of a page: a node may carry a vector and a long text


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a kind, those of one node together. last: the key up to which all are read."""

    last: str
    rows: list[Row]  # nodes: key, properties; relationships: key of their beginning, end, properties


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a copy is, or an import. source: the memory it comes from, as it was when the copy began;
    place: where that is, for people; kind: what is being copied, up to the key `after`; done: nodes and
    relationships. imported: from files, all of them at once; their number is `done`, and `blank` says which
    properties were empty texts, by label, with the keys of their nodes or None for all that have none."""

    source: str
    place: str
    kind: str | None = None
    after: str = ""
    done: int = 0
    imported: bool = False
    blank: Mapping[str, Mapping[str, list[str] | None]] = field(default_factory=dict)

    def text(self) -> str:
        """As it stands in the Memory node."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Mark:
        """From the Memory node."""
        return cls(**json.loads(text))


def read(connection: Connection, kind: Kind, after: str = "") -> Iterator[Page]:
    """All nodes or relationships of a kind whose key, or that of their beginning, comes after `after`, page
    by page. The memory holds a page, and for an embedded one all keys of the label."""
    label = kind if isinstance(kind, Label) else kind.begin
    name = "move/nodes" if isinstance(kind, Label) else "move/relationships"
    (text,) = definitions(name, connection.dialect.name, **_literals(kind))
    for keys in _keys(connection, label, after, _NODES if isinstance(kind, Label) else _BEGINNINGS):
        place = {key: n for n, key in enumerate(keys)}
        rows = _run(connection, text, page=Unlogged(keys))
        rows.sort(key=lambda row: place[row["key"]])
        yield Page(keys[-1], rows)


def batches(pages: Iterable[Page]) -> Iterator[Page]:
    """Pages put together until they fill a message."""
    rows: list[Row] = []
    bytes_, last = 0, None
    for page in pages:
        rows += page.rows
        bytes_ += sum(map(row_size, page.rows))
        last = page.last
        if bytes_ >= MESSAGE_BYTES:
            yield Page(last, rows)
            rows, bytes_, last = [], 0, None
    if last is not None:
        yield Page(last, rows)


def write(connection: Connection, kind: Kind, rows: list[Row], mark: Mark) -> None:
    """Write rows of a kind and how far that is, in one transaction."""
    with _plainly(connection), connection.session() as session:
        session.execute_write(_write, connection.dialect.name, kind, rows, mark)


def totals(connection: Connection) -> tuple[int, int]:
    """How many nodes and relationships the database holds, of whatever kind."""
    (row,) = _run(connection, statement("move/totals"))
    return row["nodes"], row["relationships"]


def begin(connection: Connection, properties: Row, mark: Mark) -> None:
    """Make the Memory node of a copy; `read_state` says from now on that it is one."""
    _set(connection, statement("move/begin"), properties=properties, moving=mark.text())


def release(connection: Connection, rows: Sequence[Row]) -> None:
    """Give documents the status they have where they come from. rows: key, status."""
    _set(connection, statement("move/release"), rows=Unlogged(rows))


def end(connection: Connection, version: int) -> None:
    """The copy is whole: the memory is one like any other."""
    _set(connection, statement("move/end"), version=version)


def fill(connection: Connection, blank: Mapping[str, Mapping[str, list[str] | None]]) -> None:
    """Set properties to the empty text where they are missing; see `Mark`."""
    for name, properties in blank.items():
        label = labels()[name]
        for property_, keys in properties.items():
            literals = {"LABEL": name, "KEY": label.key, "PROPERTY": property_}
            if keys is None:
                (text,) = definitions("move/fill", connection.dialect.name, **literals)
                connection.dialect.run_schema(text)  # in transactions of its own
                continue
            (text,) = definitions("move/fill_some", connection.dialect.name, **literals)
            for n in range(0, len(keys), _BEGINNINGS):
                _set(connection, text, page=Unlogged(keys[n : n + _BEGINNINGS]))


def _keys(connection: Connection, label: Label, after: str, limit: int) -> Iterator[list[str]]:
    (text,) = definitions("move/keys", connection.dialect.name, LABEL=label.name, KEY=label.key)
    if connection.dialect.name != "neo4j":
        keys = sorted(key for row in _run(connection, text) if (key := row["key"]) > after)
        yield from (keys[n : n + limit] for n in range(0, len(keys), limit))
        return
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

    with _plainly(connection), connection.session(default_access_mode="READ") as session:
        found: list[Row] = session.execute_read(work)
    return found


def _set(connection: Connection, text: str, **parameters: Any) -> None:
    with _plainly(connection), connection.session() as session:
        session.execute_write(lambda tx: tx.run(text, parameters).consume())


@contextmanager
def _plainly(connection: Connection) -> Iterator[None]:
    """What the driver raises as one sentence that names this side of a copy."""
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        yield
    except (DriverError, Neo4jError) as error:
        raise plain(error, connection.url) from error


def _write(tx: ManagedTransaction, dialect: str, kind: Kind, rows: list[Row], mark: Mark) -> None:
    tx.run(statement("move/progress"), moving=mark.text()).consume()
    vectors: list[Row] = []
    if isinstance(kind, Label) and dialect == "neo4j":
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
    for what, some in ((name, rows), ("write_vectors", vectors)):
        for part in parts(some):
            (text,) = definitions(f"move/{what}", dialect, **_literals(kind))
            record = tx.run(text, rows=Unlogged(part)).single()
            if record is None or record["written"] != len(part):
                raise EngineError(
                    f"{len(part):,} of {kind.name} were sent and {record and record['written']:,} written",
                    hint="Another process writes there too: end it, empty the database, copy again",
                )
