"""What is right and wrong, check by check, each failing one with the line that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gsw_graph.errors import GswGraphError
from gsw_graph.results import Finding

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

    from gsw_graph.config import Settings
    from gsw_graph.engine import Connection

_RELOAD = "gswgraph load PATH..."
_DEEP = "gswgraph doctor --deep --mend"
_SHOWN = 100  # broken documents, each a finding


def examine(connection: Connection, settings: Settings, *, deep: bool = False) -> list[Finding]:
    """Look at engine, model and memory; a check that cannot be made is a finding of its own. deep:
    everything in the memory is read."""
    findings = [
        Finding("engine", True, f"{connection.dialect.name} {connection.dialect.version} at {connection.url}")
    ]
    for check in (
        _embedder,
        _language_model,
        _memory,
        _storage,
        *((_counts, _lookups, _contents) if deep else ()),
    ):
        findings += _guarded(check, connection, settings)
    return findings


def mend(connection: Connection) -> None:
    """Make missing indexes, recount what is counted, and remove what hangs loose."""
    from gsw_graph.cypher import statement
    from gsw_graph.store import schema

    if (state := schema.read_state(connection)) is not None:
        schema.repair(connection, state.dimension)
    with connection.session() as session:

        def work(tx: ManagedTransaction) -> None:
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
    from gsw_graph.inference.embed.embedder import Embedder

    embedder = Embedder.load(settings)
    if embedder.backend == "server":  # whatever the cache holds
        embedder.runner.request(["gswgraph"])  # type: ignore[attr-defined]
    yield Finding(
        "embedder",
        True,
        f"{embedder.name}, {embedder.dimension} dimensions, {embedder.backend} on {embedder.device}",
    )


def _language_model(_: Connection, settings: Settings) -> Iterator[Finding]:
    if not settings.llm:
        return
    from gsw_graph.inference.chat.chat import Chat

    with Chat.open(settings) as chat:
        seconds = chat.try_call()
    yield Finding("language model", True, f"{settings.llm} answered in {seconds:.1f} s")


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
    wrong = {name: count for name, count in reader.wrong_counts().items() if count}
    text = (
        ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in wrong.items())
        or "counts agree, nothing hangs loose"
    )
    yield Finding("graph", not wrong, text, "gswgraph doctor --mend" if wrong else None)


def _storage(connection: Connection, _: Settings) -> Iterator[Finding]:
    if not _exists(connection) or (wrong := connection.dialect.check()) is None:
        return
    found = (
        f"the engine's own check finds {', '.join(wrong)}"
        if wrong
        else "the engine's own check finds nothing wrong"
    )
    yield Finding("storage", not wrong, found, _DEEP if wrong else None)


def _counts(connection: Connection, _: Settings) -> Iterator[Finding]:
    from gsw_graph.store import deep
    from gsw_graph.store.reader import Reader

    if _exists(connection):
        wrong = deep.wrong_counts(Reader(connection))
        yield Finding(
            "counts",
            not wrong,
            ", ".join(wrong) or "all that is counted can be read",
            _DEEP if wrong else None,
        )


def _lookups(connection: Connection, _: Settings) -> Iterator[Finding]:
    from gsw_graph.store import deep, schema
    from gsw_graph.store.reader import Reader

    if (state := schema.read_state(connection)) is not None:
        wrong = deep.wrong_indexes(Reader(connection), state.dimension)
        yield Finding(
            "lookups",
            not wrong,
            ", ".join(wrong) or "the indexes find what is there",
            _DEEP if wrong else None,
        )


def _contents(connection: Connection, _: Settings) -> Iterator[Finding]:
    from gsw_graph.store import deep, schema
    from gsw_graph.store.reader import Reader

    if (state := schema.read_state(connection)) is None:
        return
    broken = deep.broken_documents(Reader(connection), state.dimension)
    for one in broken[:_SHOWN]:
        yield Finding("document", False, f"{one.source}: {one.reason}", _DEEP)
    if (more := len(broken) - _SHOWN) > 0:
        yield Finding("document", False, f"and {more:,} more", _DEEP)
    if not broken:
        yield Finding("contents", True, "every document is as it was loaded")


def _exists(connection: Connection) -> bool:
    from gsw_graph.store import schema

    return schema.read_state(connection) is not None
