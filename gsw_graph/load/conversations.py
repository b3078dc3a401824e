"""Turns of a conversation, one at a time: each is written behind those that its session has."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import TYPE_CHECKING

from gsw_graph.cypher import statement
from gsw_graph.engine import Connection
from gsw_graph.errors import InputError
from gsw_graph.extract import rules
from gsw_graph.loaders.conversations import LOADER, turn
from gsw_graph.model.documents import Document
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import schema, writer
from gsw_graph.store.rows import Vectors

if TYPE_CHECKING:
    from neo4j import ManagedTransaction


def add(
    connection: Connection,
    embedder: Embedder,
    text: str,
    *,
    speaker: str,
    session: str,
    at: str | date | None,
) -> str:
    """Write a turn; return the id of its passage. See `Memory.add`."""
    text, now = text.strip(), datetime.now(timezone.utc).isoformat(timespec="seconds")
    if not text or not session.strip():
        raise InputError(
            "a turn needs a text and a session", hint='memory.add("I moved to Lund.", speaker="Ana")'
        )
    schema.prepare(connection, embedder.name, embedder.dimension)
    at = _moment(now if at is None else at)
    vectors = Vectors(embedder.encode([turn(0, text, speaker, at).full_text]))

    def append(tx: ManagedTransaction) -> str:
        tx.run(statement("write/stamp")).consume()  # others wait from here on, so that the number is ours
        bare = Document(f"session:{session}", session, (), LOADER)
        row = {
            "id": bare.id,
            "source": bare.source,
            "title": session,
            "loader": LOADER,
            "about": at[:10],
            "speaker": speaker,
            "now": now,
        }
        (count,) = tx.run(statement("write/session"), row=row).single(strict=True)
        document = Document(bare.source, session, (turn(count, text, speaker, at),), LOADER, titled=False)
        writer.append(tx, rules.extract(document), vectors, connection.dialect.name)
        return document.passage_id(count)

    with connection.session() as open_session:
        return str(open_session.execute_write(append))


def _moment(at: str | date) -> str:
    """Return a date or a time as ISO writes it. Raises InputError where it is none."""
    text = at.isoformat() if isinstance(at, date) else at.strip()
    try:
        moment = datetime.fromisoformat(text.removesuffix("Z") + "+00:00" * text.endswith("Z"))
    except ValueError:
        hint = "Give a day or a time as ISO writes it: 2026-03-09, 2026-03-09T14:00"
        raise InputError(f"the turn's time {text!r} is no date", hint=hint) from None
    is_day = len(text) <= len("2026-03-09")
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="seconds")
