"""Read the contents of a memory for people: documents, names, and the questions that were asked."""

from __future__ import annotations

import difflib
import json
import os
from collections import Counter
from dataclasses import fields
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

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

T = TypeVar("T")

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
        extractor: Only documents of this extractor.
        loader: Only documents of this loader.
        unfinished: Only documents whose load was cut off, or with a passage that could not be read.
        skip: The number of documents to skip.
        limit: The number of documents to return.
        folder: Base folder of relative paths; None if no name is a path.
    """
    rows, total = _page(
        reader,
        "read/documents",
        skip,
        limit,
        text=text.lower(),
        path=_path(text, folder),
        extractor=extractor,
        loader=loader,
        unfinished=unfinished,
    )
    return Documents(total["total"] if total else 0, list(map(_document, rows)))


def _page(
    reader: Reader, statement: str, skip: int, limit: int | None, **parameters: Any
) -> tuple[list[Row], Row | None]:
    """Return the rows of a part of a list, and a row with the totals, if the list has any rows."""
    rows = reader.rows(statement, **parameters, skip=_checked_skip(skip), limit=_checked_limit(limit))
    if rows or not skip:
        return rows, rows[0] if rows else None
    first = reader.rows(statement, **parameters, skip=0, limit=1)  # all rows are skipped
    return [], first[0] if first else None


def show(reader: Reader, name: str, passage: int | None = None, *, folder: str | Path | None = "") -> Shown:
    """Return a whole document with everything that was extracted from it.

    Args:
        reader: Reads the memory.
        name: Source, path, title or id, or end of a source (guide/testing.md), or the id of a passage, which
            is then returned alone.
        passage: Number of the only passage to return, from 1.
        folder: See `documents`.

    Raises:
        InputError: The name fits no document, or several.
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
    starters: set[str] = set()  # words that only begin sentences
    for row in found:
        starters.update(item["name"] for item in row["entities"] if item["opens"])
    common = set()  # of these no names, as a passage of the memory has them in small letters
    if starters:
        small = reader.rows("read/small_letters", names=sorted(starters))
        common = {row["name"] for row in small}
    return Shown(document, [_passage(row, common) for row in found])


def names(reader: Reader, text: str = "", *, skip: int = 0, limit: int = 50) -> list[StoredName]:
    """Return the names that contain a text, by descending number of passages: `limit` names after the first
    `skip`."""
    page = {"skip": _checked_skip(skip), "limit": _checked_limit(limit)}
    return [_take(StoredName, row) for row in reader.rows("read/names", text=normalise(text), **page)]


def name(reader: Reader, name: str, *, limit: int = 20) -> FollowedName:
    """Return a name over all documents: its roles, pairs, facts and passages, and the names in the same
    passages; at most `limit` of each. Raises InputError, with similar names, if there is no such name."""
    id_ = normalise(name)
    check_concepts(reader, [id_])
    found = reader.rows("read/name_found", id=id_, limit=_checked_limit(limit))
    if not found:
        raise InputError("the name was removed meanwhile", where=name)
    entity = found[0]
    roles: dict[str, list[str]] = {}
    for role in sorted(entity["roles"], key=lambda role: str(role["role"])):
        states = roles.setdefault(role["role"], [])
        states += [state for state in role["states"] or () if state not in states]
    rows = reader.rows("read/name_places", id=id_, limit=limit)
    beside: dict[str, StoredName] = {}
    counts: Counter[str] = Counter()
    for row in rows:
        for item in row["beside"]:
            if item["id"] != id_:
                beside[item["id"]] = _take(StoredName, item)
                counts[item["id"]] += 1
    nearest = sorted(beside.values(), key=lambda other: (-counts[other.id], other.passages, other.id))
    facts = sorted(entity["facts"], key=itemgetter("id"))
    return FollowedName(
        id_,
        entity["name"],
        entity["passages"],
        roles,
        _pairs(entity["pairs"]),
        facts=[_take(Fact, fact) for fact in facts],
        places=[_take(RankedPassage, row, score=0.0) for row in rows],
        beside=nearest[:limit],
    )


def history(reader: Reader, text: str = "", *, skip: int = 0, limit: int | None = None) -> History:
    """Return stored questions, the latest first: `limit` questions with `text` in question or answer, after
    the first `skip`."""
    rows, total = _page(reader, "read/questions", skip, limit, text=text.lower(), id="")
    if total is None:
        return History(0, {"in": 0, "out": 0}, None, [])
    tokens = {"in": total["all_prompt_tokens"], "out": total["all_completion_tokens"]}
    paid = total["all_dollars"] or None  # 0 where no cost is known
    return History(total["total"], tokens, paid, list(map(_asked_question, rows)))


def question(reader: Reader, which: int | str) -> AskedQuestion:
    """Return a stored question, with the passages and pairs of its answer.

    Args:
        reader: Reads the memory.
        which: 1, or "1", for the latest; or the beginning of an id, of which eight letters are shown.

    Raises:
        InputError: No question fits, or several.
    """
    if isinstance(which, str) and which.isdecimal() and len(which) < 8:
        which = int(which)
    rows: list[Row] = []
    if isinstance(which, int) and which > 0:
        rows = reader.rows("read/questions", text="", id="", skip=which - 1, limit=1)
    elif isinstance(which, str) and which:
        rows = reader.rows("read/questions", text="", id=which, skip=0, limit=2)
    if len(rows) > 1:
        raise InputError(f"several questions have an id that begins with {which!r}", hint="Give more of it")
    if not rows:
        raise InputError(
            f"no question {which!r} was kept",
            hint="See gswgraph history: 1 is the latest; an id is as its --json shows it",
        )
    used = reader.rows("read/question_used", id=rows[0]["id"])
    used.sort(key=itemgetter("rank", "hop", "id"))
    return _asked_question(rows[0], used)


def check_concepts(reader: Reader, names: list[str]) -> None:
    """Raise InputError, with similar concepts, if a name in normal form is no concept."""
    existing = reader.concept_names(names)
    for name in names:
        if name in existing:
            continue
        near = reader.rows("read/near_concepts", start=name[:2], wanted=name)
        similar = {row["id"]: row["name"] for row in near}
        ids = difflib.get_close_matches(name, similar, n=_NAMED, cutoff=0.7)
        ids += [id_ for id_ in similar if name in id_ and id_ not in ids]
        shown = ", ".join(similar[id_] for id_ in ids[:_NAMED])
        hint = f"Near it: {shown}" if shown else None
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
    rows = []
    if name.strip():
        path = _path(name, folder)
        ending = "/" + name.removeprefix("./").lstrip("/")
        rows = reader.rows("read/named", wanted=name, title=name.lower(), path=path, ending=ending)
    if not rows:
        raise InputError(
            "no document or passage is called so",
            where=name,
            hint="Give a source, a title or an id; gswgraph list shows what there is",
        )
    best = min(row["how"] for row in rows)
    meant = [row for row in rows if row["how"] == best]
    meant.sort(key=lambda row: str(row["source"]))
    if len(meant) > 1:
        sources = ", ".join(row["source"] for row in meant[:_NAMED])
        if len(meant) > _NAMED:
            sources += ", ..."
        raise InputError(
            f"{len(meant)} documents are called so", where=name, hint=f"Give the source of one: {sources}"
        )
    return _document(meant[0]), meant[0]["position"]


def _take(kind: type[T], row: Row, **others: Any) -> T:
    """Return a result whose fields are the columns of a row with their names, and others."""
    values = {field.name: row[field.name] for field in fields(kind) if field.name in row}  # type: ignore[arg-type]
    return kind(**values | others)


def _document(row: Row) -> StoredDocument:
    properties = row["properties"]
    meta = {}
    for key in sorted(properties):
        if key.startswith("meta_"):
            meta[key.removeprefix("meta_")] = properties[key]
    unread = sorted(number + 1 for number in row["unread"] or ())
    about = properties.get("about")
    file = properties.get("file")
    return _take(StoredDocument, row, unread=unread, meta=meta, about=about, file=file)


def _passage(row: Row, common: set[str]) -> WholePassage:
    entities = []
    for item in sorted(row["entities"], key=lambda item: (not item["title"], item["name"])):
        if item["name"] not in common:
            title = bool(item["title"])
            roles = _roles(item["roles"])
            entities.append(_take(FoundEntity, item, title=title, roles=roles, from_=item["from"]))
    found = sorted(row["phrases"], key=itemgetter("phrase", "id"))
    phrases = [_take(FoundPhrase, item, pairs=_pairs(item["pairs"])) for item in found]
    found = sorted(row["propositions"], key=itemgetter("text", "id"))
    facts = [_take(Fact, item, passage=row["id"]) for item in found]
    names = set(row["names"] or ())
    names -= set(map(normalise, common))
    return _take(
        WholePassage, row, names=sorted(names), entities=entities, phrases=phrases, propositions=facts
    )


def _roles(roles: list[Row]) -> dict[str, list[str]]:
    """Return the states of each role."""
    states = {role["role"]: list(role["states"] or ()) for role in roles if role["role"] is not None}
    return dict(sorted(states.items()))


def _pairs(pairs: list[Row]) -> list[QA]:
    known = [pair for pair in pairs if pair["id"] is not None]
    known.sort(key=itemgetter("question", "id"))
    return [QA(pair["id"], pair["question"], list(pair["answers"] or ())) for pair in known]


def _asked_question(row: Row, used: Iterable[Row] = ()) -> AskedQuestion:
    passages = []
    pairs = []
    for item in used:
        if item["kind"] == "passage":
            passages.append(_take(UsedPassage, item, cited=bool(item["cited"])))
        else:
            qa = QA(item["id"], item["text"], list(item["answers"] or ()))
            pairs.append(_take(UsedPair, item, qa=qa))
    plan = json.loads(row["plan"]) if row["plan"] else None
    tokens = {"in": row["prompt_tokens"] or 0, "out": row["completion_tokens"] or 0}
    return _take(AskedQuestion, row, plan=plan, tokens=tokens, passages=passages, pairs=pairs)
