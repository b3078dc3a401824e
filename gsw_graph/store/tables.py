"""What the statements of a load make of the rows of a workspace, as tables: a table for each kind of node and
relationship, for files that an engine imports. tests/test_bulk.py holds it against a load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gsw_graph.store.nodes import labels, relationships

Row = dict[str, Any]
Tables = dict[str, list[Row]]
_TITLE = 80  # letters of a proposition that Neo4j Browser shows


def tables(rows: dict[str, list[Row]]) -> Tables:
    """The tables of new workspaces: by label rows of properties, by the name of a relationship's kind rows of
    `begin` and `end`, the keys of its ends, and properties. Concepts and roles stand in them once for each
    entity: `joined` makes one of them.

    rows: of `rows.rows_of`, by statement. KeyError: a statement that is not known here.
    """
    made: Tables = {name: [] for name in (*labels(), *(kind.name for kind in relationships()))}
    for name, some in rows.items():
        if some:
            _STATEMENTS[name](some, made)
    return made


def joined(label: str, rows: Iterable[Row]) -> list[Row]:
    """The rows of a label without those that are the same node, in the order in which each came first. Of
    concepts the passages are added up, and the greatest name stays."""
    key = labels()[label].key
    found: dict[str, Row] = {}
    for row in rows:
        known = found.setdefault(row[key], row)
        if known is not row and label == "Concept":
            known = {
                **known,
                "passages": known["passages"] + row["passages"],
                "name": max(known["name"], row["name"]),
                "joins": known["joins"] and row["joins"],
            }
            found[row[key]] = known
    return list(found.values())


JOINED = ("Concept", "Role")  # labels whose nodes many documents share


def _nodes(label: str, rows: list[Row], made: Tables, **more: Callable[[Row], Any]) -> None:
    names = labels()[label].properties
    made[label] += (
        {**{name: row[name] for name in names if name in row}, **{name: of(row) for name, of in more.items()}}
        for row in rows
    )


def _links(kind: str, rows: list[Row], made: Tables, begin: str, end: str, *names: str) -> None:
    made[kind] += (
        {"begin": row[begin], "end": row[end], **{name: row[name] for name in names}} for row in rows
    )


def _documents(rows: list[Row], made: Tables) -> None:
    _nodes("Document", rows, made)


def _passages(rows: list[Row], made: Tables) -> None:
    _nodes("Passage", rows, made)
    _links("Passage PART_OF Document", rows, made, "id", "document")


def _next(rows: list[Row], made: Tables) -> None:
    _links("Passage NEXT Passage", rows, made, "from", "to")


def _entities(rows: list[Row], made: Tables) -> None:
    _nodes("Entity", rows, made)
    made["Concept"] += (_concept(row, row["passages"]) for row in rows)
    _links("Entity REFERS_TO Concept", rows, made, "id", "key")
    made["Entity IN Passage"] += (
        {"begin": row["id"], "end": place["passage"], "title": place["title"]}
        for row in rows
        for place in row["places"]
    )


def _names(rows: list[Row], made: Tables) -> None:
    made["Concept"] += (_concept(row, 0) for row in rows)
    made["Passage NAMES Concept"] += (
        {"begin": place["passage"], "end": row["key"], **{n: place[n] for n in ("title", "weight", "name")}}
        for row in rows
        for place in row["places"]
    )


def _concept(row: Row, passages: int) -> Row:
    joins = row["joins"] and not row["name"].islower()
    return {"id": row["key"], "name": row["name"], "passages": passages, "joins": joins}


def _roles(rows: list[Row], made: Tables) -> None:
    made["Role"] += ({"name": row["role"]} for row in rows)
    _links("Entity PLAYS Role", rows, made, "entity", "role", "states")


def _verb_phrases(rows: list[Row], made: Tables) -> None:
    _nodes("VerbPhrase", rows, made)
    _links("VerbPhrase IN Passage", rows, made, "id", "passage")


def _qa_pairs(rows: list[Row], made: Tables) -> None:
    _nodes("QAPair", rows, made, title=lambda row: row["question"])
    _links("QAPair IN Passage", rows, made, "id", "passage")
    _links("VerbPhrase ASKS QAPair", rows, made, "verb_phrase", "id")


def _answered_by(rows: list[Row], made: Tables) -> None:
    _links("QAPair ANSWERED_BY Entity", rows, made, "pair", "entity", "position")


def _about(rows: list[Row], made: Tables) -> None:
    _links("QAPair ABOUT Entity", rows, made, "pair", "entity")


def _propositions(rows: list[Row], made: Tables) -> None:
    _nodes("Proposition", rows, made, title=lambda row: row["text"][:_TITLE])
    _links("Proposition IN Passage", rows, made, "id", "passage")


def _mentions(rows: list[Row], made: Tables) -> None:
    _links("Proposition MENTIONS Entity", rows, made, "proposition", "entity", "role")


_STATEMENTS: dict[str, Callable[[list[Row], Tables], None]] = {
    "documents": _documents,
    "passages": _passages,
    "next": _next,
    "entities": _entities,
    "names": _names,
    "roles": _roles,
    "verb_phrases": _verb_phrases,
    "qa_pairs": _qa_pairs,
    "answered_by": _answered_by,
    "about": _about,
    "propositions": _propositions,
    "mentions": _mentions,
}
