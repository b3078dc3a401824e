"""Turns of a conversation, one at a time: each is written behind those that its session has."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

from gsw_graph.cypher import statement
from gsw_graph.engine import Connection
from gsw_graph.errors import InputError
from gsw_graph.extract import rules
from gsw_graph.loaders.conversations import LOADER, turn
from gsw_graph.model.documents import Document
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import now, schema, writer

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
    text = text.strip()
    if not text or not session.strip():
        raise InputError(
            "a turn needs a text and a session", hint='memory.add("I moved to Lund.", speaker="Ana")'
        )
    schema.prepare(connection, embedder.name, embedder.dimension)
    loaded_at = now()
    at = _moment(loaded_at if at is None else at)
    text_of_turn = turn(0, text, speaker, at).full_text
    vectors = dict(zip([text_of_turn], embedder.encode([text_of_turn]), strict=True))

    def append(tx: ManagedTransaction) -> str:
        writer.execute(tx, "stamp")  # others wait from here on, so that the number is ours
        source = f"session:{session}"
        row = {
            "id": Document(source, session, (), LOADER).id,
            "source": source,
            "title": session,
            "loader": LOADER,
            "about": at[:10],
            "speaker": speaker,
            "now": loaded_at,
        }
        (count,) = tx.run(statement("write/session"), row=row).single(strict=True)
        document = Document(source, session, (turn(count, text, speaker, at),), LOADER, titled=False)
        writer.append(tx, rules.extract(document), vectors, connection.dialect.name)
        return document.passage_id(count)

    with connection.session() as open_session:
        return str(open_session.execute_write(append))


def _moment(at: str | date) -> str:
    """Return a date or a time as ISO writes it. Raises InputError where it is none."""
    text = at.isoformat() if isinstance(at, date) else at.strip()
    whole = f"{text[:-1]}+00:00" if text.endswith("Z") else text
    try:
        moment = datetime.fromisoformat(whole)
    except ValueError:
        hint = "Give a day or a time as ISO writes it: 2026-03-09, 2026-03-09T14:00"
        raise InputError(f"the turn's time {text!r} is no date", hint=hint) from None
    is_day = len(text) <= len("2026-03-09")
    return moment.date().isoformat() if is_day else moment.isoformat(timespec="seconds")
