"""The one writer: whole documents in bounded transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.concurrency import grouped
from gsw_graph.cypher import Unlogged, statement
from gsw_graph.errors import EngineError
from gsw_graph.store.rows import ORDER, Mode, Row, Vectors, rows_of
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

    from gsw_graph.engine import Connection
    from gsw_graph.model.documents import Workspace

T = TypeVar("T")

MESSAGE_BYTES = (
    4_000_000  # rows of one statement: a driver packs a whole message in memory, and both ends hold it
)
TRANSACTION_BYTES = (
    16_000_000  # a document above this is written in several transactions and seen when the last is done
)
BATCH_BYTES = 1_000_000  # documents are gathered up to this before they are sent
_FORGET_PASSAGES = 200  # a document with more is deleted in several transactions
_FORGET_DOCUMENTS = 50
_MERGES = 1000  # of a transaction
_ALL = 1_000_000_000


@dataclass(slots=True)
class Batch:
    """Rows for some documents, by statement, with an estimate of their size.

    `replaced` are ids of documents that go first, `renewed` of those that stay with their passages while
    what was found in them goes.
    """

    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in ORDER})
    replaced: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    passages: int = 0
    bytes: int = 0

    def add(self, workspace: Workspace, vectors: Vectors, mode: Mode = "new") -> None:
        """Put the rows of one workspace in."""
        document = workspace.document
        self.documents.append(document.id)
        self.passages += len(document.passages)
        if mode == "replace":
            self.replaced.append(document.id)
        elif mode == "renew":
            self.renewed.append(document.id)
        for name, rows in rows_of(workspace, vectors, mode).items():
            self.rows[name] += rows
            self.bytes += sum(map(row_size, rows))

    def statements(self) -> Iterator[tuple[str, list[Row]]]:
        """The statements in the order they must run, each with at most MESSAGE_BYTES of rows."""
        for name in ORDER:
            small = self.bytes <= MESSAGE_BYTES  # as a rule, and then nobody need measure the rows
            yield from (
                (name, part)
                for part in ([self.rows[name]] if small and self.rows[name] else parts(self.rows[name]))
            )


def write_batch(
    connection: Connection, batch: Batch, on_written: Callable[[int], None] = lambda _: None
) -> None:
    """Write one batch in a session of its own; see `write`."""
    with connection.session() as session:
        write(session, batch, connection.dialect.name, on_written)


def write(
    session: Any, batch: Batch, dialect: str, on_written: Callable[[int], None] = lambda _: None
) -> None:
    """Write one batch: in one transaction, or, where its single document is too large for that, in several
    with the document out of sight. on_written: called with how many more passages are written."""
    again = [*batch.replaced, *batch.renewed]
    merges = session.execute_read(_merges_of, again) if again else []
    corrections = session.execute_read(corrections_of, batch.documents)
    if batch.bytes <= TRANSACTION_BYTES:
        large = forget_large(session, batch.replaced)
        for document in _large(session, batch.renewed):
            _forget_found_of_large(session, document)
        replaced = [document for document in batch.replaced if document not in large]
        session.execute_write(_write_whole, batch, replaced, dialect, merges, corrections)
        on_written(batch.passages)
        return
    if batch.replaced:
        forget(session, batch.replaced)
    for document in batch.renewed:
        _forget_found_of_large(session, document)
    for name, status in (("documents", "loading"), ("renewed_documents", "renewing")):
        for row in batch.rows[name]:
            row["status"] = status
    left = batch.passages
    for name, rows in batch.statements():
        session.execute_write(_run, [(name, rows)], dialect)
        if name == "passages":
            on_written(len(rows))
            left -= len(rows)
    session.execute_write(correct, corrections)
    for document in batch.documents:
        session.execute_write(_mark, "document_ready", document)
    if merges:
        session.execute_write(_merge, merges)
    on_written(left)


def append(tx: ManagedTransaction, workspace: Workspace, vectors: Vectors, dialect: str) -> None:
    """Write a passage behind those that its document has, with what was found in it."""
    rows, (passage,) = rows_of(workspace, vectors), workspace.document.passages
    if passage.position:
        ids = [workspace.document.passage_id(passage.position - n) for n in (1, 0)]
        rows["next"] = [{"from": ids[0], "to": ids[1]}]
    _run(tx, [(name, rows[name]) for name in ORDER if rows[name] and name != "documents"], dialect)


def forget(session: Any, ids: Sequence[str]) -> None:
    """Delete documents and all that only they supported; a large one in several transactions, out of sight
    from the first on."""
    large = forget_large(session, ids)
    ids = [document for document in ids if document not in large]
    for chunk in _chunks(ids, _FORGET_DOCUMENTS):
        session.execute_write(_forget_whole, chunk)


def forget_cited(session: Any, ids: Sequence[str]) -> int:
    """Delete the questions whose answers cite these documents; how many."""
    return sum(
        session.execute_write(
            lambda tx, chunk=chunk: tx.run(statement("write/forget_cited"), ids=list(chunk)).single()[
                "deleted"
            ]
        )
        for chunk in _chunks(ids, _FORGET_DOCUMENTS)
    )


def forget_questions(session: Any) -> None:
    """Delete all questions that were asked, some in a transaction."""
    while (
        session.execute_write(
            lambda tx: tx.run(statement("write/forget_questions"), limit=_FORGET_PASSAGES).single()["deleted"]
        )
        == _FORGET_PASSAGES
    ):
        pass


def forget_large(session: Any, ids: Sequence[str]) -> set[str]:
    """Delete those of some documents that are too large for one transaction; which they were."""
    large = _large(session, ids)
    for document in large:
        session.execute_write(_mark, "document_hidden", document, status="loading")
        while session.execute_write(_forget, [document], _FORGET_PASSAGES) == _FORGET_PASSAGES:
            pass
        session.execute_write(_forget_whole, [document])
    return large


def _large(session: Any, ids: Sequence[str]) -> set[str]:
    text, parameters = statement("read/large_documents"), {"ids": list(ids), "limit": _FORGET_PASSAGES}
    return set(session.execute_read(lambda tx: tx.run(text, parameters).value("id")) if ids else ())


def _forget_found_of_large(session: Any, document: str) -> None:
    session.execute_write(_mark, "document_hidden", document, status="renewing")
    while session.execute_write(_forget, [document], _FORGET_PASSAGES, extracted=True) == _FORGET_PASSAGES:
        pass


def merge(session: Any, rows: Sequence[Row]) -> list[str]:
    """Join concepts to their canonical ones, some groups in a transaction; which aliases were joined. Rows
    as of `write/merges.cypher`."""
    return [alias for chunk in _chunks(rows, _MERGES) for alias in session.execute_write(_merge, chunk)]


def unmerge(session: Any, aliases: Sequence[str]) -> None:
    """Take aliases from their canonical concepts, some in a transaction."""
    for chunk in _chunks(aliases, _MERGES):
        session.execute_write(_unmerge, chunk)


def _merge(tx: ManagedTransaction, rows: Sequence[Row]) -> list[str]:
    tx.run(statement("write/stamp")).consume()
    return tx.run(statement("write/merges"), rows=list(rows)).value("alias")


def _unmerge(tx: ManagedTransaction, aliases: Sequence[str]) -> None:
    tx.run(statement("write/stamp")).consume()
    tx.run(statement("write/unmerge"), aliases=list(aliases)).consume()


def _merges_of(tx: ManagedTransaction, documents: list[str]) -> list[Row]:
    """Merges that would go with the concepts of some documents, were these to be written again."""
    rows = [record.data() for record in tx.run(statement("read/merges_of"), documents=documents)]
    return [{"alias": row["alias"], "canonical": row["canonical"], **row["properties"]} for row in rows]


def _write_whole(
    tx: ManagedTransaction,
    batch: Batch,
    replaced: list[str],
    dialect: str,
    merges: list[Row],
    corrections: list[Row],
) -> None:
    if replaced:
        _forget_whole(tx, replaced)
    if batch.renewed:
        _forget(tx, batch.renewed, extracted=True)
    _run(tx, list(batch.statements()), dialect)
    if merges:
        tx.run(statement("write/merges"), rows=merges).consume()
    correct(tx, corrections)


def corrections_of(tx: ManagedTransaction, documents: Sequence[str] | None = None) -> list[Row]:
    """Return the corrections that concern some documents, by default all, in the order they were made."""
    return [record.data() for record in tx.run(statement("read/corrections"), documents=documents)]


def correct(tx: ManagedTransaction, corrections: Sequence[Row], verb: str = "correct") -> None:
    """Apply corrections to what is stored, which does nothing where it was done; with the verb `undo` take
    them back, but for renamed and split names, whose rows are turned round."""
    for action in ("split", "rename", "remove", "supersede"):
        rows = [row for row in corrections if row["action"] == action]
        if not rows:
            continue
        if action in ("split", "rename"):
            keys = ((row, normalise(row["target"]), normalise(row["value"])) for row in rows)
            rows = [{**row, "from": old, "key": new} for row, old, new in keys]
        tx.run(statement(f"write/{verb}_{action}"), rows=rows).consume()
        if action == "rename":
            aliases = [
                {
                    **{"alias": row["from"], "canonical": row["key"], "score": 1.0, "method": "hand"},
                    **{"reason": f"renamed by {row['by']}", "run": row["id"], "at": row["at"]},
                }
                for row in rows
            ]
            tx.run(statement("write/merges"), rows=aliases).consume()
        if action == "split":
            ids = [row[name] for row in rows for name in ("from", "key")]
            tx.run(statement("write/count_concepts"), ids=ids).consume()
        documents = [place for row in rows for place in row["places"]]
        tx.run(statement("write/forget_runs"), documents=documents).consume()


def _run(tx: ManagedTransaction, statements: Iterable[tuple[str, list[Row]]], dialect: str) -> None:
    tx.run(statement("write/stamp")).consume()
    for name, rows in statements:
        record = tx.run(statement(f"write/{name}", dialect), rows=Unlogged(rows)).single()
        wanted = sum(len(row["places"]) for row in rows) if name in ("entities", "names") else len(rows)
        if record is not None and record["written"] != wanted:
            raise EngineError(
                f"{wanted - record['written']} of {wanted} {name} found no place: another process removed "
                "what they belong to",
                hint="Run the load again",
            )


def _mark(tx: ManagedTransaction, name: str, document: str, **parameters: Any) -> None:
    tx.run(statement("write/stamp")).consume()
    tx.run(statement(f"write/{name}"), id=document, **parameters).consume()


def _forget_whole(tx: ManagedTransaction, ids: Sequence[str]) -> None:
    _forget(tx, ids)
    tx.run(statement("write/forget_documents"), ids=ids).consume()


def _forget(tx: ManagedTransaction, ids: Sequence[str], limit: int = _ALL, *, extracted: bool = False) -> int:
    """Delete up to `limit` passages of some documents with what only they support, and return their number.
    extracted: delete only what was extracted from those that have anything."""
    tx.run(statement("write/stamp")).consume()
    listing = statement("read/passage_ids_found" if extracted else "read/passage_ids")
    passages = [record["id"] for record in tx.run(listing, ids=ids, limit=limit)]
    if passages:
        places = [
            {**record.data(), "name": None, "joins": is_distinctive(record["id"].title())}
            for record in tx.run(statement("read/concept_places"), passages=passages)
        ]
        roles = [record["name"] for record in tx.run(statement("read/roles_in"), passages=passages)]
        relations = [record["name"] for record in tx.run(statement("read/relations_in"), passages=passages)]
        content = statement("write/forget_found" if extracted else "write/forget_content")
        tx.run(content, passages=passages).consume()
        tx.run(statement("write/forget_concepts"), rows=places).consume()
        tx.run(statement("write/spellings"), rows=places).consume()
        tx.run(statement("write/forget_roles"), names=roles).consume()
        tx.run(statement("write/forget_relations"), names=relations).consume()
    return len(passages)


def parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Return rows in runs of at most MESSAGE_BYTES, a row at the least."""
    return grouped(rows, row_size, MESSAGE_BYTES)


def row_size(value: object) -> int:
    """Return about how many bytes a row, or a value of it, takes on the wire."""
    if isinstance(value, str):
        return 3 * len(value)
    if isinstance(value, dict):
        return 100 + sum(map(row_size, value.values()))
    if isinstance(value, list) and value and not isinstance(value[0], float):
        return sum(map(row_size, value))
    return 9 * len(value) if isinstance(value, list) else len(value) if isinstance(value, bytes) else 0


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[i : i + size] for i in range(0, len(items), size))
