"""Write whole documents in bounded transactions. No other module writes documents."""

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
    from neo4j import ManagedTransaction, Session

    from gsw_graph.engine import Connection
    from gsw_graph.model.documents import Workspace

T = TypeVar("T")
Rows = list[Row]

# Rows of one statement: a driver packs a whole message in memory, and both ends hold it.
MESSAGE_BYTES = 4_000_000
# A larger document is written in several transactions, and hidden until the last is done.
TRANSACTION_BYTES = 16_000_000
BATCH_BYTES = 1_000_000  # a batch of this size is written
_FORGET_PASSAGES = 200  # a document with more is deleted in several transactions
_FORGET_DOCUMENTS = 50
_MERGES = 1000  # merges in a transaction
_ALL = 1_000_000_000


@dataclass(slots=True)
class Batch:
    """Hold the rows for some documents, by statement.

    Attributes:
        replaced: Ids of documents that are deleted first.
        renewed: Ids of documents that keep their passages and lose what was extracted from them.
        bytes: Estimated size of the rows.
    """

    rows: dict[str, Rows] = field(default_factory=lambda: {name: [] for name in ORDER})
    replaced: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    passages: int = 0
    bytes: int = 0

    def add(self, workspace: Workspace, vectors: Vectors, mode: Mode = "new") -> None:
        """Add the rows of a workspace."""
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

    def statements(self) -> Iterator[tuple[str, Rows]]:
        """Yield statements in the order they must run, each with at most MESSAGE_BYTES of rows."""
        is_small = self.bytes <= MESSAGE_BYTES  # the usual case, which measures no rows
        for name in ORDER:
            rows = self.rows[name]
            if rows and is_small:
                yield name, rows
            else:
                for part in parts(rows):
                    yield name, part


def execute(tx: ManagedTransaction, /, name: str, **parameters: Any) -> None:
    """Run a statement of `cypher/write/` and wait for its end."""
    tx.run(statement(f"write/{name}"), parameters).consume()


def write_batch(
    connection: Connection, batch: Batch, on_written: Callable[[int], None] = lambda _: None
) -> None:
    """Write a batch in one transaction. If its single document is too large, use several transactions, and
    hide the document meanwhile. on_written: Called with the number of passages written since the last
    call."""
    dialect = connection.dialect.name
    with connection.session() as session:
        again = batch.replaced + batch.renewed
        merges = session.execute_read(_merges_of, again) if again else []
        corrections = session.execute_read(corrections_of, batch.documents)
        if batch.bytes > TRANSACTION_BYTES:
            _write_large(session, batch, dialect, merges, corrections, on_written)
            return
        large = forget_large(session, batch.replaced)
        for document in _large(session, batch.renewed):
            _forget_in_parts(session, document, "renewing")
        replaced = [document for document in batch.replaced if document not in large]
        session.execute_write(_write_whole, batch, replaced, dialect, merges, corrections)
        on_written(batch.passages)


def _write_large(
    session: Session,
    batch: Batch,
    dialect: str,
    merges: Rows,
    corrections: Rows,
    on_written: Callable[[int], None],
) -> None:
    if batch.replaced:
        forget(session, batch.replaced)
    for document in batch.renewed:
        _forget_in_parts(session, document, "renewing")
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
        session.execute_write(_mark, "document_ready", id=document)
    if merges:
        session.execute_write(_merge, merges)
    on_written(left)


def append(tx: ManagedTransaction, workspace: Workspace, vectors: Vectors, dialect: str) -> None:
    """Write the next passage of a stored document, with what was extracted from the passage."""
    rows, (passage,) = rows_of(workspace, vectors), workspace.document.passages
    position = passage.position
    if position:
        before, own = map(workspace.document.passage_id, (position - 1, position))
        rows["next"] = [{"from": before, "to": own}]
    del rows["documents"]
    _run(tx, [(name, part) for name, part in rows.items() if part], dialect)


def forget(session: Session, ids: Sequence[str]) -> None:
    """Delete documents and everything that only they support. A large document takes several transactions and
    is hidden from the first on."""
    large = forget_large(session, ids)
    for chunk in _chunks([document for document in ids if document not in large], _FORGET_DOCUMENTS):
        session.execute_write(_forget_whole, chunk)


def forget_cited(session: Session, ids: Sequence[str]) -> int:
    """Delete the questions whose answers cite these documents, and return their number."""
    chunks = _chunks(ids, _FORGET_DOCUMENTS)
    return sum(session.execute_write(_deleted, "forget_cited", ids=chunk) for chunk in chunks)


def forget_questions(session: Session) -> None:
    """Delete all stored questions, a limited number in each transaction."""
    limit = deleted = _FORGET_PASSAGES
    while deleted == limit:
        deleted = session.execute_write(_deleted, "forget_questions", limit=limit)


def _deleted(tx: ManagedTransaction, /, name: str, **parameters: Any) -> int:
    return int(tx.run(statement(f"write/{name}"), parameters).single(strict=True)["deleted"])


def forget_large(session: Session, ids: Sequence[str]) -> set[str]:
    """Delete the documents that are too large for one transaction, and return their ids."""
    large = _large(session, ids)
    for document in large:
        _forget_in_parts(session, document, "loading")
        session.execute_write(_forget_whole, [document])
    return large


def _large(session: Session, ids: Sequence[str]) -> set[str]:
    if not ids:
        return set()
    text, parameters = statement("read/large_documents"), {"ids": list(ids), "limit": _FORGET_PASSAGES}
    return set(session.execute_read(lambda tx: tx.run(text, parameters).value("id")))


def _forget_in_parts(session: Session, document: str, status: str) -> None:
    """Delete the passages of a document; with the status `renewing` only what was extracted from them. The
    document is hidden from the first transaction on."""
    session.execute_write(_mark, "document_hidden", id=document, status=status)
    limit = passages = _FORGET_PASSAGES
    while passages == limit:
        passages = session.execute_write(_forget, [document], limit, extracted=status == "renewing")


def merge(session: Session, rows: Rows) -> list[str]:
    """Join aliases to their canonical concepts, a limited number in each transaction, and return the aliases
    that were joined. rows: As `write/merges.cypher` takes them."""
    joined = []
    for chunk in _chunks(rows, _MERGES):
        joined += session.execute_write(_merge, chunk)
    return joined


def unmerge(session: Session, aliases: Sequence[str]) -> None:
    """Separate aliases from their canonical concepts, a limited number in each transaction."""
    for chunk in _chunks(aliases, _MERGES):
        session.execute_write(_mark, "unmerge", aliases=chunk)


def _merge(tx: ManagedTransaction, rows: Rows) -> list[str]:
    execute(tx, "stamp")
    return tx.run(statement("write/merges"), rows=rows).value("alias")


def _mark(tx: ManagedTransaction, /, name: str, **parameters: Any) -> None:
    execute(tx, "stamp")
    execute(tx, name, **parameters)


def _merges_of(tx: ManagedTransaction, documents: list[str]) -> Rows:
    """Return the merges that are lost if these documents are deleted and written again."""
    rows = tx.run(statement("read/merges_of"), documents=documents).data()
    return [{**row.pop("properties"), **row} for row in rows]


def _write_whole(
    tx: ManagedTransaction,
    batch: Batch,
    replaced: list[str],
    dialect: str,
    merges: Rows,
    corrections: Rows,
) -> None:
    if replaced:
        _forget_whole(tx, replaced)
    if batch.renewed:
        _forget(tx, batch.renewed, extracted=True)
    _run(tx, batch.statements(), dialect)
    if merges:
        execute(tx, "merges", rows=merges)
    correct(tx, corrections)


def corrections_of(tx: ManagedTransaction, documents: Sequence[str] | None = None) -> Rows:
    """Return the corrections of some documents, by default of all, in the order they were made."""
    return tx.run(statement("read/corrections"), documents=documents).data()


def correct(tx: ManagedTransaction, corrections: Rows, verb: str = "correct") -> None:
    """Apply corrections to the graph; a second time changes nothing. The verb `undo` takes back a removal or
    a replacement. A split is undone by target and value exchanged, a rename by `unmerge`."""
    for action in ("split", "rename", "remove", "supersede"):
        rows = [row for row in corrections if row["action"] == action]
        if not rows:
            continue
        if action in ("split", "rename"):
            rows = [{**row, "from": normalise(row["target"]), "key": normalise(row["value"])} for row in rows]
        execute(tx, f"{verb}_{action}", rows=rows)
        if action == "rename":
            execute(tx, "merges", rows=[_alias_by_hand(row) for row in rows])
        if action == "split":
            execute(tx, "count_concepts", ids=[row[name] for row in rows for name in ("from", "key")])
        execute(tx, "forget_runs", documents=[place for row in rows for place in row["places"]])


def _alias_by_hand(row: Row) -> Row:
    return {
        "alias": row["from"],
        "canonical": row["key"],
        "score": 1.0,
        "method": "hand",
        "reason": f"renamed by {row['by']}",
        "run": row["id"],
        "at": row["at"],
    }


def _run(tx: ManagedTransaction, statements: Iterable[tuple[str, Rows]], dialect: str) -> None:
    execute(tx, "stamp")
    for name, rows in statements:
        record = tx.run(statement(f"write/{name}", dialect), rows=Unlogged(rows)).single()
        if record is None:
            continue
        wanted = len(rows)
        if name in ("entities", "names"):
            wanted = sum(len(row["places"]) for row in rows)
        missing = wanted - record["written"]
        if missing:
            raise EngineError(
                f"{missing} of {wanted} {name} found no place: another process removed what they belong to",
                hint="Run the load again",
            )


def _forget_whole(tx: ManagedTransaction, ids: Sequence[str]) -> None:
    _forget(tx, ids)
    execute(tx, "forget_documents", ids=ids)


def _forget(tx: ManagedTransaction, ids: Sequence[str], limit: int = _ALL, *, extracted: bool = False) -> int:
    """Delete at most `limit` passages of some documents with what only they support, and return their number.
    extracted: Keep the passages, and delete only what was extracted from them."""
    execute(tx, "stamp")
    listing, deletion = "read/passage_ids", "forget_content"
    if extracted:
        listing, deletion = "read/passage_ids_found", "forget_found"
    passages = tx.run(statement(listing), ids=ids, limit=limit).value("id")
    if passages:
        places, roles, relations = (
            tx.run(statement(f"read/{name}"), passages=passages).data()
            for name in ("concept_places", "roles_in", "relations_in")
        )
        for place in places:
            place |= {"name": None, "joins": is_distinctive(place["id"].title())}
        execute(tx, deletion, passages=passages)
        execute(tx, "forget_concepts", rows=places)
        execute(tx, "spellings", rows=places)
        execute(tx, "forget_roles", names=[role["name"] for role in roles])
        execute(tx, "forget_relations", names=[relation["name"] for relation in relations])
    return len(passages)


def parts(rows: Iterable[Row]) -> Iterator[Rows]:
    """Yield rows in runs of at most MESSAGE_BYTES. A larger row is a run of its own."""
    return grouped(rows, row_size, MESSAGE_BYTES)


def row_size(value: object) -> int:
    """Estimate the bytes that a row, or a value in a row, takes on the wire."""
    if isinstance(value, str):
        return 3 * len(value)
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, dict):
        return 100 + sum(map(row_size, value.values()))
    if not isinstance(value, list):
        return 0
    if value and isinstance(value[0], float):
        return 9 * len(value)
    return sum(map(row_size, value))


def _chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    return (list(items[i : i + size]) for i in range(0, len(items), size))
