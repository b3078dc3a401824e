"""Read the contents of a memory for people: documents, names, and the questions that were asked."""

from __future__ import annotations

import difflib
import json
import os
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError
from gsw_graph.model.results import (
    QA,
    AskedQuestion,
    Documents,
    Fact,
    FollowedName,
    FoundEntity,
    FoundPhrase,
    History,
    RankedPassage,
    Shown,
    StoredDocument,
    StoredName,
    UsedPair,
    UsedPassage,
    WholePassage,
)
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gsw_graph.store.reader import Reader, Row

ALL = 10**9  # the longest list; Neo4j cuts lists by numbers of 32 bits, twice this
_NAMED = 5  # documents that an error lists


def documents(
    reader: Reader,
    text: str = "",
    *,
    extractor: str | None = None,
    loader: str | None = None,
    unfinished: bool = False,
    skip: int = 0,
    limit: int | None = None,
    folder: str | Path | None = "",
) -> Documents:
    """Return the documents by source.

    Args:
        reader: Reads the memory.
        text: A part of the source or title, or the folder of the documents.
        extractor: Their extractor.
        loader: Their loader.
        unfinished: Only documents whose load was cut off, or with a passage that could not be read.
        skip: The number of documents to skip.
        limit: The number of documents to return.
        folder: The folder of relative paths; None where no name is a path.
    """
    search = partial(
        reader.rows,
        "read/documents",
        text=text.lower(),
        path=_path(text, folder),
        extractor=extractor,
        loader=loader,
        unfinished=unfinished,
    )
    rows = search(skip=_checked_skip(skip), limit=_checked_limit(limit))
    counted_rows = rows or (search(skip=0, limit=1) if skip else [])  # the total, where all are skipped
    return Documents(counted_rows[0]["total"] if counted_rows else 0, [_document(row) for row in rows])


def show(reader: Reader, name: str, passage: int | None = None, *, folder: str | Path | None = "") -> Shown:
    """Return a whole document with what was extracted from it.

    Args:
        reader: Reads the memory.
        name: Its source, path, title or id, the end of one source (guide/testing.md), or the id of a passage,
            which is then returned alone.
        passage: Only this, counted from 1.
        folder: As of `documents`.

    Raises:
        InputError: The name means none, or several.
    """
    document, position = _find_document(reader, name, folder)
    if passage is not None:
        position = passage - 1
        if not 0 <= position < document.passages:
            raise InputError(
                f"there is no passage {passage}",
                where=document.source,
                hint=f"It has {document.passages}, counted from 1",
            )
    found = list(reader.stream("read/whole_document", id=document.id, position=position))
    starters = {item["name"] for row in found for item in row["entities"] if item["opens"]}
    common = _common_words(reader, starters) if starters else set()
    return Shown(document, [_passage(row, common) for row in found])


def _common_words(reader: Reader, starters: Iterable[str]) -> set[str]:
    """Return those of some words that only begin sentences which are no names, as a passage of the memory has
    them in small letters."""
    return {row["name"] for row in reader.rows("read/small_letters", names=sorted(starters))}


def names(reader: Reader, text: str = "", *, skip: int = 0, limit: int = 50) -> list[StoredName]:
    """Return the names that contain a text, those in most passages first: `limit` of them, after the first
    `skip`."""
    return [
        StoredName(row["id"], row["name"], row["passages"])
        for row in reader.rows(
            "read/names", text=normalise(text), skip=_checked_skip(skip), limit=_checked_limit(limit)
        )
    ]


def name(reader: Reader, name: str, *, limit: int = 20) -> FollowedName:
    """Return one name over all documents: its roles, pairs, facts and passages, and the names in the same
    passages; at most `limit` of each. Raises InputError where there is no such name, with similar ones."""
    id_ = normalise(name)
    check_concepts(reader, [id_])
    found = reader.rows("read/name_found", id=id_, limit=_checked_limit(limit))
    if not found:
        raise InputError("the name was removed meanwhile", where=name)
    entity = found[0]
    rows = reader.rows("read/name_places", id=id_, limit=limit)
    roles: dict[str, list[str]] = {}
    for role in sorted(entity["roles"], key=lambda role: str(role["role"])):
        states = roles.setdefault(role["role"], [])
        states += [state for state in role["states"] or () if state not in states]
    neighbours = {item["id"]: item for row in rows for item in row["beside"] if item["id"] != id_}
    counts = Counter(item["id"] for row in rows for item in row["beside"] if item["id"] != id_)
    ids = sorted(counts, key=lambda item: (-counts[item], neighbours[item]["passages"], item))[:limit]
    return FollowedName(
        id_,
        entity["name"],
        entity["passages"],
        roles,
        _pairs(entity["pairs"]),
        [
            Fact(item["id"], item["text"], item["passage"])
            for item in sorted(entity["facts"], key=lambda item: item["id"])
        ],
        [
            RankedPassage(row["id"], row["title"], row["text"], row["source"], row["document"], 0.0)
            for row in rows
        ],
        [StoredName(item, neighbours[item]["name"], neighbours[item]["passages"]) for item in ids],
    )


def history(reader: Reader, text: str = "", *, skip: int = 0, limit: int | None = None) -> History:
    """Return the questions that were asked, latest first: those with `text` in the question or answer,
    `limit` of them, after the first `skip`."""
    search = partial(reader.rows, "read/questions", text=text.lower(), id="")
    rows = search(skip=_checked_skip(skip), limit=_checked_limit(limit))
    counted_rows = rows or (search(skip=0, limit=1) if skip else [])
    if not counted_rows:
        return History(0, {"in": 0, "out": 0}, None, [])
    first = counted_rows[0]
    tokens = {"in": first["all_prompt_tokens"], "out": first["all_completion_tokens"]}
    paid = first["all_dollars"] or None  # 0 where no cost is known
    return History(first["total"], tokens, paid, [_asked_question(row) for row in rows])


def question(reader: Reader, which: int | str) -> AskedQuestion:
    """Return one question that was asked, with the passages and pairs of its answer.

    Args:
        reader: Reads the memory.
        which: 1, or "1", for the latest; or the beginning of its id, of which eight letters are shown.

    Raises:
        InputError: There is none, or several.
    """
    if isinstance(which, str) and which.isdecimal() and len(which) < 8:
        which = int(which)
    id_prefix, first, most = ("", which - 1, 1) if isinstance(which, int) else (which, 0, 2)
    is_one = first >= 0 and which != ""
    rows = reader.rows("read/questions", text="", id=id_prefix, skip=first, limit=most) if is_one else []
    if len(rows) > 1:
        raise InputError(f"several questions have an id that begins with {which!r}", hint="Give more of it")
    if not rows:
        raise InputError(
            f"no question {which!r} was kept",
            hint="See gswgraph history: 1 is the latest; an id is as its --json shows it",
        )
    used = sorted(
        reader.rows("read/question_used", id=rows[0]["id"]),
        key=lambda row: (row["rank"], row["hop"], row["id"]),
    )
    return _asked_question(rows[0], used)


def check_concepts(reader: Reader, names: list[str]) -> None:
    """Raise InputError where one of the names, in normal form, is no concept, with similar concepts."""
    existing = reader.concept_names(names)
    for name in names:
        if name not in existing:
            near = reader.rows("read/near_concepts", start=name[:2], wanted=name)
            similar = {row["id"]: row["name"] for row in near}
            ids = difflib.get_close_matches(name, similar, n=_NAMED, cutoff=0.7)
            ids += [id_ for id_ in similar if name in id_ and id_ not in ids]
            hint = "Near it: " + ", ".join(similar[id_] for id_ in ids[:_NAMED]) if ids else None
            raise InputError("no name in the memory is so", where=name, hint=hint)


def _checked_limit(limit: int | None) -> int:
    if limit is not None and not 1 <= limit <= ALL:
        raise InputError(f"the limit is {limit}", hint=f"Give at least 1, and at most {ALL:,}")
    return ALL if limit is None else limit


def _checked_skip(skip: int) -> int:
    if not 0 <= skip <= ALL:
        raise InputError(f"{skip} are left out", hint=f"Give at least 0, and at most {ALL:,}")
    return skip


def _path(name: str, folder: str | Path | None) -> str:
    """Return a name as an absolute path, like the sources of files; for an empty name, or without a folder, a
    path that no file has."""
    if folder is None or not name or "\0" in name:
        return "\0"
    return Path(os.path.abspath(os.path.join(folder, name))).as_posix()  # noqa: PTH100, PTH118 - takes `..` away


def _find_document(reader: Reader, name: str, folder: str | Path | None) -> tuple[StoredDocument, int | None]:
    """Return the document of a name, and the position of the passage if it is the name of one."""
    ending = "/" + name.removeprefix("./").lstrip("/")
    keys = {"wanted": name, "title": name.lower(), "path": _path(name, folder), "ending": ending}
    rows = reader.rows("read/named", **keys) if name.strip() else []
    if not rows:
        raise InputError(
            "no document or passage is called so",
            where=name,
            hint="Give a source, a title or an id; gswgraph list shows what there is",
        )
    best = min(row["how"] for row in rows)
    meant = sorted((row for row in rows if row["how"] == best), key=lambda row: str(row["source"]))
    if len(meant) > 1:
        sources = ", ".join(row["source"] for row in meant[:_NAMED]) + (
            ", ..." if len(meant) > _NAMED else ""
        )
        raise InputError(
            f"{len(meant)} documents are called so", where=name, hint=f"Give the source of one: {sources}"
        )
    return _document(meant[0]), meant[0]["position"]


def _document(row: Row) -> StoredDocument:
    names = (
        *("id", "source", "title", "loader", "extractor", "model", "status", "loaded_at"),
        *("passages", "superseded"),
    )
    properties = row["properties"]
    return StoredDocument(
        **{name: row[name] for name in names},
        unread=sorted(n + 1 for n in row["unread"] or ()),
        meta={key[5:]: properties[key] for key in sorted(properties) if key.startswith("meta_")},
        about=properties.get("about"),
        file=properties.get("file"),
    )


def _passage(row: Row, common: set[str]) -> WholePassage:
    keys = set(map(normalise, common))
    entities = [
        FoundEntity(
            item["id"],
            item["name"],
            bool(item["title"]),
            _roles(item["roles"]),
            item["from"],
            item["to"],
        )
        for item in sorted(row["entities"], key=lambda item: (not item["title"], item["name"]))
        if item["name"] not in common
    ]
    phrases = [
        FoundPhrase(item["id"], item["phrase"], _pairs(item["pairs"]))
        for item in sorted(row["phrases"], key=lambda item: (item["phrase"], item["id"]))
    ]
    facts = sorted(row["propositions"], key=lambda item: (item["text"], item["id"]))
    return WholePassage(
        row["id"],
        row["position"],
        row["title"],
        row["text"],
        sorted(set(row["names"] or ()) - keys),
        entities,
        phrases,
        [Fact(fact["id"], fact["text"], row["id"]) for fact in facts],
        row["section"],
    )


def _roles(roles: Iterable[Row]) -> dict[str, list[str]]:
    """Return the states of each role."""
    return {
        role["role"]: list(role["states"] or ())
        for role in sorted(roles, key=lambda role: role["role"] or "")
        if role["role"] is not None
    }


def _pairs(pairs: Iterable[Row]) -> list[QA]:
    ordered = sorted(
        (pair["question"], pair["id"], pair["answers"]) for pair in pairs if pair["id"] is not None
    )
    return [QA(id_, question, list(answers or ())) for question, id_, answers in ordered]


def _asked_question(row: Row, used: Iterable[Row] = ()) -> AskedQuestion:
    plain = (
        "id",
        "question",
        "answer",
        "answer_source",
        "abstained",
        "confidence",
        "strategy",
        "model",
        "asked_at",
    )
    values: dict[str, Any] = {name: row[name] for name in plain}
    return AskedQuestion(
        **values,
        seconds=row["seconds"],
        plan=json.loads(row["plan"]) if row["plan"] else None,
        tokens={"in": row["prompt_tokens"] or 0, "out": row["completion_tokens"] or 0},
        dollars=row["dollars"],
        verdict=row["verdict"],
        judged_at=row["judged_at"],
        cached_from=row["cached_from"],
        passages=[
            UsedPassage(
                item["id"], item["title"], item["text"], item["source"], item["rank"], bool(item["cited"])
            )
            for item in used
            if item["kind"] == "passage"
        ],
        pairs=[
            UsedPair(QA(item["id"], item["text"], list(item["answers"] or ())), item["hop"], item["rank"])
            for item in used
            if item["kind"] == "pair"
        ],
    )
