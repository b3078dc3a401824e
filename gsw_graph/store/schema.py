"""The Memory node, and the constraints and indexes that `store/nodes.py` declares."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from gsw_graph.cypher import definitions
from gsw_graph.errors import SchemaError
from gsw_graph.model.results import Status, StoredMemory
from gsw_graph.store import now
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from neo4j import Record

    from gsw_graph.engine import Connection
    from gsw_graph.store.nodes import Index

SCHEMA = 1
_INDEX_SECONDS = 3600.0
_MAKING_SECONDS, _PAUSE = 20.0, 0.2  # until an index that another process makes has its constraint
# The vector indexes are built anew when there are this many times more vectors, beyond a number that any
# index answers fast.
_GROWTH = 2
_SMALL = 10_000
_ALL_PASSAGES: dict[str, Any] = {"scope": None, "open": True, "spread": 1.0}
_KINDS = {"unique": "RANGE", "range": "RANGE", "vector": "VECTOR", "text": "FULLTEXT"}


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Hold the Memory node: schema and embedder of the memory, and its version stamp, which every write
    raises. `vectors`: number of vectors when the indexes were built."""

    schema: int
    embedder: str
    dimension: int
    created: str
    version: int
    indexed: bool
    vectors: int


def read_state(connection: Connection) -> MemoryState | None:
    """Return the state of the memory, None if nothing was ever loaded."""
    records = connection.read("read/memory")
    return MemoryState(**records[0].data()) if records else None


def prepare(connection: Connection, embedder: str, dimension: int) -> MemoryState:
    """Make the schema and the Memory node if there is none. Raises SchemaError as `examine` does."""
    state = examine(connection, embedder, dimension)
    if state is not None:
        return state
    make_constraints(connection)
    connection.write(
        "write/memory", schema=SCHEMA, embedder=embedder, dimension=dimension, now=now("milliseconds")
    )
    state = read_state(connection)
    assert state is not None  # noqa: S101 - written a line above
    # Another process may have made it meanwhile.
    check(state, embedder, dimension)
    return state


def examine(connection: Connection, embedder: str, dimension: int) -> MemoryState | None:
    """Return the state of the memory, None if there is none yet. Nothing is written.

    Raises:
        SchemaError: The memory was made with another embedder or schema, or the database is another
            application's.
    """
    state = read_state(connection)
    if state is None:
        refuse_foreign(connection)
        state = read_state(connection)
    if state is not None:
        check(state, embedder, dimension)
    return state


def check(state: MemoryState, embedder: str, dimension: int) -> None:
    """Raise SchemaError if the memory does not fit this program or this embedder."""
    check_schema(state)
    old, new = state.embedder, embedder
    if old == new:
        if state.dimension == dimension:
            return
        old, new = f"{embedder} of {state.dimension} dimensions", f"one of {dimension}"
    raise SchemaError(
        f"the memory was made with the embedder {old}, now {new} is set",
        hint=f"Set GSWGRAPH_EMBEDDER={state.embedder.partition(' with ')[0]} and its prompts "
        "(GSWGRAPH_EMBEDDER_QUERY_PROMPT, _DOCUMENT_PROMPT) as they were, or load into a new memory",
    )


def check_schema(state: MemoryState) -> None:
    """Raise SchemaError if another version of gswgraph made the memory."""
    if state.schema != SCHEMA:
        raise SchemaError(
            f"the memory has schema {state.schema}, this gswgraph reads schema {SCHEMA}",
            hint="Load its documents again into a new one: gswgraph --memory NEW load PATH...",
        )


def make_constraints(connection: Connection) -> None:
    """Make the missing constraints, which MERGE and MATCH need.

    The embedded engine stores a vector in 32 bits only if its property is declared before the first row, and
    in twice that otherwise.

    Raises:
        SchemaError: An index or constraint of another tool is in the way.
    """
    _make(connection, _declared(connection, "unique", "range"), 0)
    if connection.dialect.name == "arcadedb":
        for index in _declared(connection, "vector"):
            declaration, _ = definition(index, "arcadedb", 0)
            connection.dialect.run_schema(declaration)


def build_search_indexes(connection: Connection, dimension: int) -> None:
    """Make the vector and full-text indexes, wait until they answer, and ask each once so that the first
    user does not pay for cold caches.

    They are made after the first rows, as an index built over rows answers two to four times faster than an
    index that grew with them.
    """
    _make(connection, _declared(connection, "vector", "text"), dimension)
    connection.dialect.wait_online(_INDEX_SECONDS)
    warm_up(connection, dimension)
    _mark(connection, indexed=True)


def outgrown(connection: Connection, state: MemoryState) -> bool:
    """Return whether to rebuild vector indexes: on the embedded engine, an index that grew tenfold answers
    seven times slower."""
    if connection.dialect.name != "arcadedb":
        return False
    return _vectors(connection) > max(_GROWTH * state.vectors, _SMALL)


def renew_vector_indexes(connection: Connection, dimension: int) -> None:
    """Build the vector indexes anew. The memory is marked as not indexed meanwhile, so that a crash is
    made good by whoever opens it next."""
    _mark(connection, indexed=False)
    _drop(connection, _declared(connection, "vector"))
    build_search_indexes(connection, dimension)


def missing_indexes(connection: Connection) -> list[str]:
    """Return the constraints and indexes that do not exist, or do not answer."""
    states = {record["name"]: record["state"] for record in connection.read("read/indexes")}
    return [index.name for index in _declared(connection) if states.get(index.name) != "ONLINE"]


def memories(connection: Connection) -> list[StoredMemory]:
    """Return the memories of the database of a connection, by name."""
    connection = connection.default or connection
    stored = []
    labels = sorted(str(record["label"]) for record in connection.read("read/memories"))
    for label in labels:
        name = label.partition("__")[2]
        sizes = connection.to_memory(name).read("read/memory_size")
        stored += [StoredMemory(name, **row.data()) for row in sizes]
    return stored


def status(connection: Connection) -> Status:
    """Return the counts and the state of a memory."""
    dialect, state, reader = connection.dialect, read_state(connection), Reader(connection)
    server = Status(connection.url, dialect.name, dialect.version, {}, {}, [])
    if state is None:
        return server
    nodes, relationships = reader.counts()
    unread = {}
    for row in reader.rows("read/unread"):
        if row["unread"]:
            unread[row["source"]] = [place + 1 for place in row["unread"]]
    known = asdict(state)
    del known["vectors"]
    return replace(
        server,
        nodes=nodes,
        relationships=relationships,
        unfinished=reader.unfinished(),
        extractors=reader.extractors(),
        unread=unread,
        questions=reader.rows("read/question_counts")[0],
        **known,
    )


def remove(connection: Connection) -> None:
    """Remove the rest of an empty memory: its indexes, its constraints, its Memory node."""
    _drop(connection, _declared(connection))
    connection.write("write/remove_memory")


def definition(index: Index, dialect: str, dimension: int) -> list[str]:
    """Return the statements that make an index of vectors of `dimension`."""
    return definitions(
        f"schema/{index.kind}",
        dialect,
        NAME=index.name,
        LABEL=index.label,
        PROPERTY=index.properties[0],
        OTHER=index.properties[-1],
        DIMENSIONS=str(int(dimension)),
    )


def warm_up(connection: Connection, dimension: int) -> None:
    """Ask each index one question; the embedded engine builds its vector graph at the first one."""
    vector = _search_passages(connection, dimension)
    question = {"embedding": vector, "words": "warm", "keys": []}
    connection.read("read/bm25", words="warm", k=10, **_ALL_PASSAGES)
    connection.read("read/hop", questions=[question], pairs=10, entities=1, common=1, **_ALL_PASSAGES)


def warm_vectors(connection: Connection) -> None:
    """Have the embedded engine read the vector index of passages, which takes it a second in a large memory.
    What fails is left to the question."""
    with suppress(Exception):
        state = read_state(connection)
        if state is not None and state.indexed:
            _search_passages(connection, state.dimension)


def _search_passages(connection: Connection, dimension: int) -> list[float]:
    """Ask the vector index of passages one question; return its vector."""
    vector = [1.0] + [0.0] * (dimension - 1)
    connection.read("read/dense", embedding=vector, k=10, **_ALL_PASSAGES)
    return vector


def is_restoring(connection: Connection) -> bool:
    """Return whether a restore or a copy into a database goes on, or was cut off."""
    return bool(connection.read("move/begun")[0]["begun"])


def refuse_foreign(connection: Connection) -> None:
    """Raise SchemaError if a database without a memory has nodes of our labels."""
    if is_restoring(connection):
        raise SchemaError(
            "the database holds a part of a memory, of a restore or of a copy that was cut off",
            where=connection.url,
            hint="Restore or copy again, which begins anew, or remove the part: gswgraph doctor --mend",
        )
    records = connection.read("read/foreign")
    # A first load in another process may have begun after this one had looked.
    if records and read_state(connection) is None:
        raise SchemaError(
            "the database has no memory, but nodes with the label "
            f"{':'.join(records[0]['labels'])}: another application's",
            where=connection.url,
            hint="Give gswgraph a database or folder of its own (NEO4J_DATABASE), or empty this one",
        )


def _declared(connection: Connection, *kinds: str) -> list[Index]:
    """Return the constraints and indexes of a memory, of all kinds or of some."""
    # neomodel takes a third of a second to import, and asking needs none of it.
    from gsw_graph.store.nodes import indexes

    end = f"__{connection.memory}" if connection.memory else ""
    return [
        replace(index, name=f"{index.name}{end}", label=f"{index.label}{end}")
        for index in indexes()
        if not kinds or index.kind in kinds
    ]


def _make(connection: Connection, wanted: list[Index], dimension: int) -> None:
    if connection.dialect.name == "neo4j":
        _refuse_occupied(connection, wanted)
    for index in wanted:
        for text in definition(index, connection.dialect.name, dimension):
            connection.dialect.run_schema(text)


def _refuse_occupied(connection: Connection, wanted: list[Index]) -> None:
    """Raise SchemaError where another tool's index or constraint has the name of one of ours, or is on the
    same property: `IF NOT EXISTS` would take it for ours."""
    end = time.monotonic() + _MAKING_SECONDS
    while (found := _occupied(connection, wanted)) is not None:
        index, record = found
        has_our_name = (record["name"], index.kind) == (index.name, "unique")
        if has_our_name and not record["constraint"] and time.monotonic() < end:
            time.sleep(_PAUSE)  # another process is making it: its index is there first
            continue
        kind = "constraint" if record["constraint"] else "index"
        labels, properties = (",".join(record[name] or ()) for name in ("labels", "properties"))
        raise SchemaError(
            f"the {kind} {record['name']} of another tool, on {labels}({properties}), is in the way "
            f"of {index.name}",
            where=connection.url,
            hint="Give gswgraph a database of its own with NEO4J_DATABASE, or remove it: "
            f"DROP {kind.upper()} {record['name']}",
        )


def _occupied(connection: Connection, wanted: list[Index]) -> tuple[Index, Record] | None:
    """Return the first index of ours whose place is taken, and what is there."""
    records = connection.read("read/indexes")
    for index in wanted:
        ours = [_KINDS[index.kind], [index.label], list(index.properties), index.kind == "unique"]
        for record in records:
            existing = [record[name] for name in ("type", "labels", "properties", "constraint")]
            has_same_name = record["name"] == index.name
            is_on_same = existing[:3] == ours[:3]
            if has_same_name != is_on_same or (has_same_name and existing != ours):
                return index, record
    return None


def _drop(connection: Connection, unwanted: list[Index]) -> None:
    for index in unwanted:
        name = "drop_constraint" if index.kind == "unique" else "drop_index"
        for text in definitions(f"schema/{name}", connection.dialect.name, NAME=index.name):
            connection.dialect.run_schema(text)


def _vectors(connection: Connection) -> int:
    return int(connection.read("read/vector_total")[0]["vectors"])


def _mark(connection: Connection, *, indexed: bool) -> None:
    connection.write("write/indexed", indexed=indexed, vectors=_vectors(connection))
