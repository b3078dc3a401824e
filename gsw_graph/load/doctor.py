"""What is right and wrong, check by check, each failing one with the line that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gsw_graph.errors import GswGraphError
from gsw_graph.model.results import Finding

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

    from gsw_graph.config import Settings
    from gsw_graph.engine import Connection

_RELOAD = "gswgraph load PATH..."
_ANEW = "Load the documents into a new memory: gswgraph --memory NEW load PATH..."
# Texts that may be empty, which an import takes for missing.
_EMPTY = (
    ("Document", "title"),
    ("Passage", "title"),
    ("Entity", "description"),
    ("VerbPhrase", "phrase"),
    ("QAPair", "answer"),
)
_SHOWN = 100  # broken documents, each a finding


def examine(connection: Connection, settings: Settings, *, deep: bool = False) -> list[Finding]:
    """Check engine, models and memory; a check that cannot be made is a finding of its own.

    `deep`: every text is read and compared with the hash of what was loaded.
    """
    findings = [
        Finding("engine", True, f"{connection.dialect.name} {connection.dialect.version} at {connection.url}")
    ]
    for check in (_embedder, _language_model, _memory, _storage, *((_texts,) if deep else ())):
        findings += _guarded(check, connection, settings)
    return findings


def repair(connection: Connection) -> None:
    """Make missing indexes, count again, and delete orphaned nodes of ours."""
    from gsw_graph.cypher import definitions, statement
    from gsw_graph.store import schema

    state = schema.read_state(connection)
    if state is None:
        return
    schema.check_schema(state)
    schema.repair(connection, state.dimension)
    with connection.session() as session:

        def work(tx: ManagedTransaction) -> None:
            for label, name in _EMPTY:
                (text,) = definitions("write/mend_texts", connection.dialect.name, LABEL=label, PROPERTY=name)
                tx.run(text).consume()
            names = ("mend_loose", "mend_concepts", "mend_roles", "mend_relations", "mend_merges")
            for name in ("stamp", *names):
                tx.run(statement(f"write/{name}")).consume()

        session.execute_write(work)


def _guarded(
    check: Callable[[Connection, Settings], Iterator[Finding]], connection: Connection, settings: Settings
) -> list[Finding]:
    from neo4j.exceptions import DriverError, Neo4jError

    found: list[Finding] = []
    try:
        found.extend(check(connection, settings))
    except GswGraphError as error:
        found.append(Finding(check.__name__.strip("_"), False, error.message, error.hint))
    except (DriverError, Neo4jError) as error:
        found.append(
            Finding(check.__name__.strip("_"), False, f"the engine failed ({error})", "See the server's log")
        )
    return found


def _embedder(_: Connection, settings: Settings) -> Iterator[Finding]:
    from gsw_graph.models.embed.embedder import Embedder

    embedder = Embedder.load(settings)
    if embedder.backend == "server":  # whatever the cache holds
        embedder.runner.request(["gswgraph"])  # type: ignore[attr-defined]
    yield Finding(
        "embedder",
        True,
        f"{embedder.name}, {embedder.dimension} dimensions, {embedder.backend} on {embedder.device}",
    )


def _language_model(_: Connection, settings: Settings) -> Iterator[Finding]:
    from gsw_graph.models.chat.chat import Chat

    for role in ("", *settings.llm_roles):
        own = settings.for_role(role)
        if own.llm:
            with Chat.open(own) as chat:
                seconds = chat.try_call()
            name = f"language model of {role}" if role else "language model"
            yield Finding(name, True, f"{own.llm} answered in {seconds:.1f} s")


def _memory(connection: Connection, settings: Settings) -> Iterator[Finding]:
    from gsw_graph.store import schema
    from gsw_graph.store.reader import Reader

    state, reader = schema.read_state(connection), Reader(connection)
    if state is None:
        yield Finding("memory", True, "empty: nothing was loaded yet")
        return
    schema.check(state, settings.embedder_label, state.dimension)
    yield Finding("memory", True, f"schema {state.schema}, made with {state.embedder} on {state.created}")
    missing = schema.missing_indexes(connection)
    if not state.indexed:
        yield Finding("indexes", False, "the search indexes are not built: a first load was cut off", _RELOAD)
    else:
        text = f"missing or not online: {', '.join(missing)}" if missing else "online"
        yield Finding("indexes", not missing, text, "gswgraph doctor --mend" if missing else None)
    unfinished = reader.unfinished()
    text = (
        f"cut off while written: {', '.join(unfinished[:5])}{' ...' if len(unfinished) > 5 else ''}"
        if unfinished
        else "all complete"
    )
    yield Finding("documents", not unfinished, text, f"gswgraph load {unfinished[0]}" if unfinished else None)
    wrong = {name: count for name, count in reader.rows("read/wrong_counts")[0].items() if count}
    text = (
        ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in wrong.items())
        or "counts agree, nothing hangs loose"
    )
    yield Finding("graph", not wrong, text, "gswgraph doctor --mend" if wrong else None)
    if foreign := reader.rows("read/foreign_nodes"):
        text = ", ".join(sorted(f"{row['count']:,} {row['label']}" for row in foreign))
        yield Finding(
            "other nodes",
            False,
            f"not gswgraph's, though their labels are (they have no key): {text}; they are left alone",
            "Keep them in a database of their own (NEO4J_DATABASE), or under other labels",
        )


def _storage(connection: Connection, _: Settings) -> Iterator[Finding]:
    from gsw_graph.store import schema

    if schema.read_state(connection) is None or (wrong := connection.dialect.check()) is None:
        return
    text = ", ".join(wrong) or "nothing wrong"
    yield Finding("storage", not wrong, f"the engine's own check reports {text}", _ANEW if wrong else None)


def _texts(connection: Connection, _: Settings) -> Iterator[Finding]:
    """Compare the text of each document with the hash of what was loaded."""
    from gsw_graph.model.documents import Document, Passage
    from gsw_graph.store.reader import Reader

    reader, broken = Reader(connection), 0
    for row in reader.rows("read/document_hashes"):
        if row["status"] != "ready":
            continue
        passages = tuple(
            Passage(text["text"], text["title"], text["position"])
            for text in reader.rows("read/document_texts", id=row["id"])
        )
        if Document(row["source"], row["title"], passages, "").content_hash == row["text_hash"]:
            continue
        broken += 1
        if broken <= _SHOWN:
            text = f"{row['source']}: its text is not what was loaded ({len(passages)} passages can be read)"
            yield Finding("document", False, text, f"gswgraph load --replace {row['source']}")
    more = f"; {broken - _SHOWN:,} more are not shown" if broken > _SHOWN else ""
    text = (
        f"{broken:,} documents are not as they were loaded{more}"
        if broken
        else "every text is as it was loaded"
    )
    yield Finding("texts", not broken, text, _RELOAD if broken else None)
