"""Corrections by hand: a name is renamed or split, a fact removed or added, a passage superseded by another.

Each is a node with its author and time, can be undone, and is kept by later loads of the same documents.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gsw_graph.engine import Connection
from gsw_graph.errors import InputError
from gsw_graph.load.forgetting import resolve
from gsw_graph.model.documents import Document, content_id
from gsw_graph.model.results import Correction, LoadReport
from gsw_graph.store import now, writer
from gsw_graph.store.reader import Reader
from gsw_graph.store.rows import Row
from gsw_graph.text.names import normalise
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

_NEEDS = {
    "rename": (2, 2, "NAME NEW-NAME"),
    "split": (3, 99, "NAME NEW-NAME SOURCE..."),
    "remove": (1, 1, "a fact: its id, its question or its text"),
    "supersede": (2, 2, "two ids of passages: the one that no longer holds, and the one that does"),
    "add": (1, 99, "a statement, or a question and its answers"),
}

Load = Callable[..., LoadReport]


def correct(
    connection: Connection,
    action: str,
    values: Sequence[str],
    by: str,
    *,
    load: Load,
    folder: str | None = "",
) -> Correction:
    """Correct the content of the memory; see `Memory.correct`. load: `Memory.load`, for added texts."""
    if action not in _NEEDS:
        raise InputError(f"there is no correction {action!r}", hint=f"Use one of {', '.join(_NEEDS)}")
    least, most, wanted = _NEEDS[action]
    values = [single_spaced(value) for value in values]
    if not least <= len(values) <= most or not all(values):
        raise InputError(f"{action} needs {wanted}")
    at = now("microseconds")
    row: Row = {
        "id": content_id("correction", at, *values)[:8],
        "action": action,
        "target": values[0],
        "value": values[-1],
        "places": [],
        "texts": [],
        "by": by,
        "at": at,
    }
    reader = Reader(connection)
    if action == "rename":
        _check_rename(reader, *values)
    elif action == "split":
        row["value"] = values[1]
        row["places"] = _places(reader, values[0], values[2:], folder)
    elif action == "remove":
        row |= _fact(reader, values[0])
    elif action == "supersede":
        row |= _passages(reader, values)
    else:
        row |= _add(load, row, values)
    with connection.session() as session:
        session.execute_write(_write, row)
    return _result(row)


def corrections(connection: Connection) -> list[Correction]:
    """Return all corrections, in the order they were made."""
    with connection.session() as session:
        return list(map(_result, session.execute_read(writer.corrections_of)))


def undo(connection: Connection, which: str) -> Correction:
    """Take a correction back. Raises InputError for an unknown id."""
    with connection.session() as session:
        rows = session.execute_read(writer.corrections_of)
        row = next((row for row in rows if row["id"] == which), None)
        if row is None:
            raise InputError(f"there is no correction {which!r}", hint="See them: gswgraph correct --list")
        if row["action"] == "add":
            writer.forget(session, row["places"])
        elif row["action"] == "rename":
            writer.unmerge(session, [normalise(row["target"])])
        session.execute_write(_undo, row)
    return _result(row)


def apply(connection: Connection) -> None:
    """Apply all corrections again, after names were counted anew."""
    with connection.session() as session:
        rows = session.execute_read(writer.corrections_of)
        session.execute_write(writer.correct, rows)


def _write(tx: ManagedTransaction, row: Row) -> None:
    writer.execute(tx, "stamp")
    writer.execute(tx, "correction", row=row)
    writer.correct(tx, [row])


def _undo(tx: ManagedTransaction, row: Row) -> None:
    writer.execute(tx, "stamp")
    if row["action"] == "split":
        writer.correct(tx, [{**row, "target": row["value"], "value": row["target"]}])
    elif row["action"] == "rename":
        writer.execute(tx, "count_concepts", ids=[normalise(row["value"])])
    else:
        writer.correct(tx, [row], "undo")
    writer.execute(tx, "forget_correction", id=row["id"])


def _check_rename(reader: Reader, name: str, new: str) -> None:
    """Raise InputError where a name is merged into another already, or the new one does."""
    aliases, old, key = reader.aliases(), normalise(name), normalise(new)
    is_merged = old in aliases or key in aliases or old in aliases.values()
    if is_merged or not key or old == key:
        raise InputError(
            "this name cannot be renamed so: a name is merged already, or both are the same",
            where=name,
            hint="See gswgraph merge --show, and take it apart: gswgraph unmerge NAME",
        )


def _places(reader: Reader, name: str, sources: Sequence[str], folder: str | None) -> list[str]:
    """Return the ids of documents; InputError where one is not stored, or none has the name."""
    chosen, unknown = resolve(reader, sources, folder)
    if unknown:
        raise InputError("no document is called so", where=unknown[0], hint="See them: gswgraph list")
    places = reader.rows("read/name_places", id=normalise(name), limit=500)
    if not any(place["document"] in chosen for place in places):
        raise InputError("the name does not occur in these documents", where=name)
    return list(chosen)


def _fact(reader: Reader, wanted: str) -> Row:
    """Return what is stored of the pair or proposition that is removed."""
    facts = reader.rows("read/facts_called", wanted=wanted)
    if not facts:
        raise InputError(
            "no facts are called so",
            where=wanted,
            hint="Give its id, of gswgraph show --json. What rules read has no facts: supersede its passage, "
            "or forget the document",
        )
    if len(facts) > 1:
        listed = "; ".join(f"{fact['id']} in {fact['source']}" for fact in facts[:5])
        raise InputError(f"{len(facts)} facts are called so", where=wanted, hint=f"Give an id: {listed}")
    (fact,) = facts
    return {"target": fact["id"], "value": fact["text"], "places": [fact["document"]]}


def _passages(reader: Reader, ids: Sequence[str]) -> Row:
    """Return the document of the passage that is superseded, and the texts of both."""
    passages = {row["id"]: row for row in reader.rows("read/passages", ids=ids)}
    hint = "See gswgraph show SOURCE --json"
    for id_ in ids:
        if id_ not in passages:
            raise InputError("no passage has this id", where=id_, hint=hint)
    if ids[0] == ids[1]:
        raise InputError("a passage cannot supersede itself: give two ids", where=ids[0], hint=hint)
    old, new = (passages[id_] for id_ in ids)
    return {"places": [old["document"]], "texts": [old["text"], new["text"]]}


def _add(load: Load, row: Row, values: Sequence[str]) -> Row:
    """Load a document of its own that says what is added, and return its source, id and text."""
    first, *answers = values
    text = f"{first} {', '.join(answers)}".strip()
    source = f"correction:{row['id']}"
    record: Row = {
        "source": source,
        "title": "",
        "text": text,
        "entities": [{"name": answer} for answer in answers if answer[0].isupper() or answer[0].isdigit()],
        "author": row["by"],
        "date": row["at"][:10],
    }
    if answers:
        question = {"text": first, "answers": answers}
        record["verb_phrases"] = [{"phrase": "is", "questions": [question]}]
    else:
        record["propositions"] = [first]
    report = load(uploads={"correction.jsonl": io.BytesIO(json.dumps(record).encode())})
    if report.failures:
        raise InputError(report.failures[0].reason, where=text)
    return {"target": source, "value": text, "places": [Document(source, "", (), "").id]}


def _result(row: Row) -> Correction:
    return Correction(**{key: value for key, value in row.items() if key != "places"})
