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


def examine(connection: Connection, settings: Settings) -> list[Finding]:
    """Look at engine, model and memory; a check that cannot be made is a finding of its own."""
    findings = [Finding("engine", True, f"{connection.dialect.name} {connection.dialect.version} at {connection.url}")]
    for check in (_embedder, _memory):
        findings += _guarded(check, connection, settings)
    return findings


def mend(connection: Connection) -> None:
    """Make missing indexes, recount what is counted, and remove what hangs loose."""
    from gsw_graph.store import schema
    from gsw_graph.store.statements import statement

    if (state := schema.read_state(connection)) is not None:
        schema.repair(connection, state.dimension)
    with connection.session() as session:

        def work(tx: ManagedTransaction) -> None:
            for name in ("stamp", "mend_loose", "mend_concepts", "mend_roles"):
                tx.run(statement(f"write/{name}")).consume()

        session.execute_write(work)


def _guarded(check: Callable[[Connection, Settings], Iterator[Finding]], connection: Connection, settings: Settings) -> list[Finding]:
    from neo4j.exceptions import DriverError, Neo4jError

    found: list[Finding] = []
    try:
        found.extend(check(connection, settings))
    except GswGraphError as error:
        found.append(Finding(check.__name__.strip("_"), False, error.message, error.hint))
    except (DriverError, Neo4jError) as error:
        found.append(Finding(check.__name__.strip("_"), False, f"the engine failed ({error})", "See the server's log"))
    return found


def _embedder(_: Connection, settings: Settings) -> Iterator[Finding]:
    from gsw_graph.inference.embedder import Embedder

    embedder = Embedder.load(settings)
    yield Finding("embedder", True, f"{embedder.name}, {embedder.dimension} dimensions, {embedder.backend} on {embedder.device}")
    if embedder.device == "cpu" and embedder.backend == "torch":
        yield Finding("speed", False, "embedding runs on plain torch, two to three times slower than it could", "pip install 'gswgraph[cpu]'")


def _memory(connection: Connection, settings: Settings) -> Iterator[Finding]:
    from gsw_graph.store import schema
    from gsw_graph.store.reader import Reader

    state, reader = schema.read_state(connection), Reader(connection)
    if state is None:
        yield Finding("memory", True, "empty: nothing was loaded yet")
        return
    schema.check(state, settings.embedder, state.dimension)
    yield Finding("memory", True, f"schema {state.schema}, made with {state.embedder} on {state.created}")
    missing = schema.missing_indexes(connection)
    if not state.indexed:
        yield Finding("indexes", False, "the search indexes are not built: a first load was cut off", _RELOAD)
    else:
        text = f"missing or not online: {', '.join(missing)}" if missing else "online"
        yield Finding("indexes", not missing, text, "gswgraph doctor --mend" if missing else None)
    unfinished = reader.unfinished()
    text = f"cut off while written: {', '.join(unfinished[:5])}{' ...' if len(unfinished) > 5 else ''}" if unfinished else "all complete"
    yield Finding("documents", not unfinished, text, f"gswgraph load {unfinished[0]}" if unfinished else None)
    wrong = {name: count for name, count in reader.wrong_counts().items() if count}
    text = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in wrong.items()) or "counts agree, nothing hangs loose"
    yield Finding("graph", not wrong, text, "gswgraph doctor --mend" if wrong else None)
