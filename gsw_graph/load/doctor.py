"""What is right and wrong, check by check, each failing one with the line that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from neo4j.exceptions import DriverError, Neo4jError

from gsw_graph.config import Settings
from gsw_graph.engine import Connection, to_engine_error
from gsw_graph.errors import GswGraphError, SchemaError
from gsw_graph.load import backup, corrections
from gsw_graph.model.documents import Document, Passage
from gsw_graph.model.results import Finding
from gsw_graph.models.chat.chat import Chat
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import schema, writer
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

Check = Callable[[Connection, Settings], Iterator[Finding]]
_RELOAD = "gswgraph load PATH..."
_REPAIRS = ("stamp", "mend_loose", "mend_concepts", "mend_roles", "mend_relations", "mend_merges")
_SHOWN = 100  # broken documents, each a finding


def examine(connection: Connection, settings: Settings, *, deep: bool = False) -> list[Finding]:
    """Check engine, models and memory. A check that cannot be made is a finding too.

    deep: Whether to compare every text with the hash of the loaded text.
    """
    engine = f"{connection.dialect.name} {connection.dialect.version} at {connection.url}"
    checks: list[Check] = [_embedder, _language_model, _memory]
    if deep:
        checks.append(_texts)
    findings = [Finding("engine", True, engine)]
    for check in checks:
        findings += _guarded(check, connection, settings)
    return findings


def repair(connection: Connection) -> None:
    """Make missing indexes, count again, and delete orphaned nodes of ours, and what a cut restore left."""
    state = schema.read_state(connection)
    if state is None:
        if schema.is_restoring(connection):
            backup.clear(connection)
        return
    schema.check_schema(state)
    schema.make_constraints(connection)
    schema.build_search_indexes(connection, state.dimension)

    def work(tx: ManagedTransaction) -> None:
        for name in _REPAIRS:
            writer.execute(tx, name)

    with connection.session() as session:
        session.execute_write(work)
    corrections.apply(connection)


def _guarded(check: Check, connection: Connection, settings: Settings) -> Iterator[Finding]:
    try:
        yield from check(connection, settings)
    except (GswGraphError, DriverError, Neo4jError) as error:
        problem = error if isinstance(error, GswGraphError) else to_engine_error(error, connection.url)
        yield Finding(check.__name__.strip("_"), False, problem.message, problem.hint)


def _embedder(_: Connection, settings: Settings) -> Iterator[Finding]:
    embedder = Embedder.load(settings)
    if embedder.backend == "server":  # whatever the cache holds
        embedder.runner.request(["gswgraph"])  # type: ignore[attr-defined]
    device = f"{embedder.dimension} dimensions, {embedder.backend} on {embedder.device}"
    yield Finding("embedder", True, f"{embedder.name}, {device}")


def _language_model(_: Connection, settings: Settings) -> Iterator[Finding]:
    for role in ("", *settings.llm_roles):
        own = settings.for_role(role)
        if own.llm:
            with Chat.open(own) as chat:
                seconds = chat.try_call()
            name = f"language model of {role}" if role else "language model"
            yield Finding(name, True, f"{own.llm} answered in {seconds:.1f} s")


def _memory(connection: Connection, settings: Settings) -> Iterator[Finding]:
    state = schema.read_state(connection)
    if state is None:
        yield _no_memory(connection)
        return
    reader = Reader(connection)
    schema.check(state, settings.embedder_label, state.dimension)
    yield Finding("memory", True, f"schema {state.schema}, made with {state.embedder} on {state.created}")
    missing = ", ".join(schema.missing_indexes(connection))
    problem = f"missing or not online: {missing}" if missing else ""
    if not state.indexed:
        problem = "not built: a first load was cut off"
    yield _finding("indexes", problem, "online", "gswgraph doctor --mend")
    problem = reload = ""
    unfinished = reader.unfinished()
    if unfinished:
        problem = f"cut off while written: {', '.join(unfinished[:5])}"
        reload = f"gswgraph load {unfinished[0]}"
    yield _finding("documents", problem, "all complete", reload)
    wrong = reader.rows("read/wrong_counts")[0].items()
    problem = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in wrong if count)
    yield _finding("graph", problem, "counts agree, nothing is orphaned", "gswgraph doctor --mend")
    foreign = reader.rows("read/foreign_nodes")
    if foreign:
        text = ", ".join(sorted(f"{row['count']:,} {row['label']}" for row in foreign))
        yield Finding(
            "other nodes",
            False,
            f"not gswgraph's, though their labels are (they have no key): {text}; they are left alone",
            "Keep them in a database of their own (NEO4J_DATABASE), or under other labels",
        )


def _no_memory(connection: Connection) -> Finding:
    try:
        schema.refuse_foreign(connection)
    except SchemaError as error:
        repair = "gswgraph doctor --mend" if schema.is_restoring(connection) else error.hint
        return Finding("memory", False, error.message, repair)
    return Finding("memory", True, "empty: nothing was loaded yet")


def _texts(connection: Connection, _: Settings) -> Iterator[Finding]:
    """Compare the text of each document with the hash of what was loaded."""
    reader, broken = Reader(connection), []
    for row in reader.rows("read/document_hashes"):
        texts = reader.rows("read/document_texts", id=row["id"])
        passages = tuple(Passage(**text) for text in texts)
        document = Document(row["source"], row["title"], passages, "")
        if row["status"] == "ready" and row["text_hash"] not in ("", document.content_hash):
            broken.append(document.source)
    for source in broken[:_SHOWN]:
        text = f"{source}: its text is not what was loaded"
        yield Finding("document", False, text, f"gswgraph load --replace {source}")
    problem = f"{len(broken):,} documents are not as they were loaded" if broken else ""
    yield _finding("texts", problem, "every text is as it was loaded", _RELOAD)


def _finding(check: str, problem: str, well: str, repair: str) -> Finding:
    return Finding(check, not problem, problem or well, repair if problem else None)
