"""Constraints and indexes, in numbered migrations that the Memory node records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from gsw_graph.cypher import definitions
from gsw_graph.errors import SchemaError
from gsw_graph.store.statements import statement

if TYPE_CHECKING:
    from gsw_graph.engine import Connection

# Before the rows: what MERGE and MATCH look up. Statements of a migration can run again after a crash, so
# each says IF NOT EXISTS.
MIGRATIONS: dict[int, tuple[str, ...]] = {
    1: (
        "memory_id",
        "document_id",
        "passage_id",
        "entity_id",
        "role_name",
        "concept_id",
        "verb_phrase_id",
        "qa_pair_id",
        "proposition_id",
        "question_id",
        "entity_from",
    ),
    2: (),
    3: (),  # questions have vectors; their index is one of SEARCH_INDEXES
    4: ("run_id", "relation_name"),
}
# What a migration does to the rows of an older memory, by dialect: titles are shown by Neo4j Browser alone.
BACKFILLS: dict[int, dict[str, str]] = {2: {"neo4j": "write/titles"}}
# After the first rows: an index built over them answers two to four times faster than one that grew with them
# (docs/architecture.md).
SEARCH_INDEXES = (
    "passage_embedding",
    "qa_pair_embedding",
    "proposition_embedding",
    "question_embedding",
    "passage_text",
    "entity_text",
)
SCHEMA = max(MIGRATIONS)
_QUESTIONS_HAVE_VECTORS = 3
_INDEX_SECONDS = 3600.0
_GROWTH = 2  # times more vectors than when the indexes were built
_SMALL = 10_000  # vectors that any index answers fast


@dataclass(frozen=True, slots=True)
class MemoryState:
    """The Memory node: which schema and embedder the memory was made with, and its version stamp, which
    every write raises."""

    schema: int
    embedder: str
    dimension: int
    created: str
    version: int
    indexed: bool
    vectors: int  # when the indexes were built
    moving: str | None = (
        None  # how far a copy or an import into this memory is, until it is whole: `transfer.Mark`
    )


def read_state(connection: Connection) -> MemoryState | None:
    """The state of the memory, None where nothing was ever loaded."""
    records, _, _ = connection.driver.execute_query(
        statement("read/memory"), database_=connection.database, routing_="r"
    )
    return MemoryState(**records[0].data()) if records else None


def prepare(
    connection: Connection,
    embedder: str,
    dimension: int,
) -> MemoryState:
    """Make or migrate the schema for vectors of `dimension`; SchemaError as of `examine`."""
    state = examine(connection, embedder, dimension)
    if state is None or state.schema < SCHEMA:
        _migrate(connection, state.schema if state else 0, dimension)
    if state is None:
        connection.driver.execute_query(
            statement("write/memory"),
            schema=SCHEMA,
            embedder=embedder,
            dimension=dimension,
            now=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            database_=connection.database,
        )
        state = read_state(connection)
        assert state is not None  # noqa: S101 - written a line above
        check(state, embedder, dimension)  # another process may have made it meanwhile
    return replace(state, schema=SCHEMA)


def examine(connection: Connection, embedder: str, dimension: int) -> MemoryState | None:
    """The state of the memory, None where there is none yet; nothing is written. SchemaError where it was
    made with another embedder or by a newer gswgraph, or the database is another application's."""
    state = read_state(connection)
    if state is None:
        _refuse_foreign(connection)
    else:
        check(state, embedder, dimension)
    return state


def check_whole(state: MemoryState) -> None:
    """SchemaError where a copy or an import into the memory is not complete."""
    if (found := incomplete(state)) is not None:
        raise found


def incomplete(state: MemoryState) -> SchemaError | None:
    """The error of a memory into which a copy or an import is not complete."""
    if state.moving is None:
        return None
    from gsw_graph.store.transfer import Mark

    mark = Mark.read(state.moving)
    if mark.imported:
        return SchemaError(
            f"the import of {mark.place} is not complete",
            hint="Complete it: gswgraph doctor --mend, of the same --memory",
        )
    return SchemaError(
        f"this is a copy of {mark.place} that is not complete",
        hint="Run the same gswgraph copy again, which goes on; or remove the folder, or empty the database",
    )


def check(state: MemoryState, embedder: str, dimension: int) -> None:
    """SchemaError where the memory does not fit this program or this embedder, or is half of a copy."""
    check_whole(state)
    check_known(state)
    if (state.embedder, state.dimension) != (embedder, dimension):
        made, now = (
            (state.embedder, embedder)
            if state.embedder != embedder
            else (f"{embedder} of {state.dimension} dimensions", f"one of {dimension}")
        )
        raise SchemaError(
            f"the memory was made with the embedder {made}, now {now} is set",
            hint=f"Set GSWGRAPH_EMBEDDER={state.embedder.partition(' with ')[0]} and its prompts "
            "(GSWGRAPH_EMBEDDER_QUERY_PROMPT, _DOCUMENT_PROMPT) as they were, or load into a new memory",
        )


def check_known(state: MemoryState) -> None:
    """SchemaError where a newer gswgraph made the memory."""
    if state.schema > SCHEMA:
        raise SchemaError(
            f"the memory has schema {state.schema}, this gswgraph knows {SCHEMA}",
            hint="Upgrade: pip install -U gswgraph",
        )


def prepare_copy(connection: Connection) -> None:
    """Make the constraints of a database that holds no memory yet; SchemaError where it is another
    application's."""
    _refuse_foreign(connection)
    make_constraints(connection)


def build_search_indexes(connection: Connection, dimension: int) -> None:
    """Make the vector and full-text indexes, wait until they answer, and ask each once so that the first
    user does not pay for cold caches."""
    for name in SEARCH_INDEXES:
        _build(connection, name, dimension)
    connection.dialect.wait_online(_INDEX_SECONDS)
    warm_up(connection, dimension)
    _mark(connection, indexed=True)


def _build(connection: Connection, name: str, dimension: int) -> None:
    for definition in definitions(f"schema/{name}", connection.dialect.name, dimensions=str(int(dimension))):
        connection.dialect.run_schema(definition)


def outgrown(connection: Connection, state: MemoryState) -> bool:
    """Whether vector indexes should be built anew: on the embedded engine one that grew tenfold answers
    seven times slower (docs/lab/)."""
    return connection.dialect.name == "arcadedb" and _vectors(connection) > max(
        _GROWTH * state.vectors, _SMALL
    )


def renew_vector_indexes(connection: Connection, dimension: int) -> None:
    """Build the vector indexes anew. The memory is marked as not indexed meanwhile, so that a crash is
    made good by whoever opens it next."""
    _mark(connection, indexed=False)
    for name in SEARCH_INDEXES:
        if name.endswith("_embedding"):
            _drop(connection, name)
    build_search_indexes(connection, dimension)


def _vectors(connection: Connection) -> int:
    records, _, _ = connection.driver.execute_query(
        statement("read/vector_total"), database_=connection.database, routing_="r"
    )
    return int(records[0]["vectors"])


def _mark(connection: Connection, *, indexed: bool) -> None:
    connection.driver.execute_query(
        statement("write/indexed"),
        indexed=indexed,
        vectors=_vectors(connection),
        database_=connection.database,
    )


def missing_indexes(connection: Connection) -> list[str]:
    """Constraints and indexes that do not stand, or do not answer."""
    records, _, _ = connection.driver.execute_query(
        statement("read/indexes"), database_=connection.database, routing_="r"
    )
    standing = {record["name"]: record["state"] for record in records}
    wanted = [*(name for names in MIGRATIONS.values() for name in names), *SEARCH_INDEXES]
    return [name for name in wanted if standing.get(name) != "ONLINE"]


def repair(connection: Connection, dimension: int) -> None:
    """Make every constraint and index that is missing."""
    make_constraints(connection)
    build_search_indexes(connection, dimension)


def make_constraints(connection: Connection) -> None:
    """Make what MERGE and MATCH look up, where it is missing."""
    for names in MIGRATIONS.values():
        for name in names:
            connection.dialect.run_schema(statement(f"schema/{name}", connection.dialect.name))


def rebuild(connection: Connection, dimension: int) -> None:
    """Build every constraint and index anew: after damage they may lead to nodes that are gone."""
    _mark(connection, indexed=False)
    for name in [*(name for names in MIGRATIONS.values() for name in names), *SEARCH_INDEXES]:
        _drop(connection, name)
    repair(connection, dimension)


def _drop(connection: Connection, name: str) -> None:
    made = statement(f"schema/{name}", connection.dialect.name)
    kind = "drop_constraint" if "CREATE CONSTRAINT" in made else "drop_index"
    for definition in definitions(f"schema/{kind}", connection.dialect.name, name=name):
        connection.dialect.run_schema(definition)


def warm_up(connection: Connection, dimension: int) -> None:
    """One question to each index that answers questions; the embedded engine builds its vector graph at
    the first one."""
    vector = [1.0] + [0.0] * (dimension - 1)
    for name, parameters in (
        ("read/dense", {"embedding": vector, "k": 10}),
        ("read/bm25", {"words": "warm", "k": 10}),
        (
            "read/hop",
            {
                "questions": [{"embedding": vector, "words": "warm", "keys": []}],
                "pairs": 10,
                "entities": 1,
                "common": 1,
            },
        ),
    ):
        connection.driver.execute_query(
            statement(name), parameters, database_=connection.database, routing_="r"
        )


def _refuse_foreign(connection: Connection) -> None:
    records, _, _ = connection.driver.execute_query(
        statement("read/foreign"), database_=connection.database, routing_="r"
    )
    if records:
        raise SchemaError(
            "the database already has nodes of another application with the label "
            f"{':'.join(records[0]['labels'])}",
            where=connection.url,
            hint="Give gswgraph a database of its own with NEO4J_DATABASE",
        )


def _migrate(
    connection: Connection,
    done: int,
    dimension: int,
) -> None:
    for number in range(done + 1, SCHEMA + 1):
        for name in MIGRATIONS[number]:
            connection.dialect.run_schema(statement(f"schema/{name}", connection.dialect.name))
        if done:
            if filled := BACKFILLS.get(number, {}).get(connection.dialect.name):
                connection.dialect.run_schema(statement(filled, connection.dialect.name))
            if number == _QUESTIONS_HAVE_VECTORS:
                _build(connection, "question_embedding", dimension)
                connection.dialect.wait_online(_INDEX_SECONDS)
            connection.driver.execute_query(
                statement("write/migrated"), schema=number, database_=connection.database
            )
