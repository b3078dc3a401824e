"""Everything in a memory read and compared with what it must be: ids are hashes of contents, so that most
changes of a byte show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from gsw_graph.model import Document, Passage, content_id
from gsw_graph.names import normalise

if TYPE_CHECKING:
    from gsw_graph.store.reader import Reader, Row

_DOCUMENTS = 20  # read at once
_OFF = 0.01  # how far a packed vector may be from its embedding
_MOST = 100_000  # vectors of an index that is asked for all it has
_SAMPLE = 50  # texts of which a word is looked up
_FOUND = 10_000  # places of a word
_WORD = re.compile(r"\b[A-Za-z]{6,}\b")
_VECTORS = {
    "passage_embedding": "Passage",
    "qa_pair_embedding": "QAPair",
    "proposition_embedding": "Proposition",
}


@dataclass(frozen=True, slots=True)
class Broken:
    """A document that is not as it was loaded, and what is wrong with it first."""

    id: str
    source: str
    extractor: str
    reason: str


@dataclass(slots=True)
class _Seen:
    """What was read of one document."""

    passages: list[Passage] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def broken_documents(reader: Reader, dimension: int) -> list[Broken]:
    """The documents that are not as they were loaded, by source; those whose load was cut off are left
    out."""
    stored = [row for row in reader.document_hashes() if row["status"] == "ready"]
    found: list[Broken] = []
    for start in range(0, len(stored), _DOCUMENTS):
        found += _broken(reader, stored[start : start + _DOCUMENTS], dimension)
    return sorted(found, key=lambda one: one.source)


def _broken(reader: Reader, documents: Sequence[Row], dimension: int) -> Iterator[Broken]:
    """The broken ones of some documents; those that cannot be read together are read in halves, so that
    the one is found that cannot."""
    from neo4j.exceptions import Neo4jError

    seen = {row["id"]: _Seen() for row in documents}
    sources = {row["id"]: str(row["source"]) for row in documents}
    try:
        for row in reader.whole_documents(list(seen)):
            one = seen[row["document"]]
            one.passages.append(Passage(str(row["text"]), str(row["title"]), row["position"]))
            one.wrong += _wrong(row, sources[row["document"]], row["document"], dimension)
    except (Neo4jError, UnicodeError, TypeError, ValueError) as error:
        if len(documents) == 1:
            yield _said(
                documents[0],
                f"cannot be read ({' '.join(str(getattr(error, 'message', error)).split())[:200]})",
            )
        else:
            middle = len(documents) // 2
            yield from _broken(reader, documents[:middle], dimension)
            yield from _broken(reader, documents[middle:], dimension)
        return
    for row in documents:
        one = seen[row["id"]]
        passages = tuple(sorted(one.passages, key=lambda passage: passage.position))
        if content_id("document", str(row["source"])) != row["id"]:
            yield _said(row, "its source is not the one that was loaded")
        elif Document(row["source"], str(row["title"]), passages, "").content_hash != row["text_hash"]:
            yield _said(row, f"its text is not what was loaded ({len(passages)} passages can be read)")
        elif one.wrong:
            more = f", and {len(one.wrong) - 1} more" if one.wrong[1:] else ""
            yield _said(row, f"{one.wrong[0]}{more}")


def _said(row: Row, reason: str) -> Broken:
    return Broken(row["id"], str(row["source"]), str(row["extractor"]), reason)


def _wrong(row: Row, source: str, document: str, dimension: int) -> Iterator[str]:
    """What is wrong in a passage."""
    passage = row["id"]
    place = f"passage {row['position'] + 1}"
    if passage != content_id("passage", source, str(row["position"])):
        yield f"{place} has another id"
    if _off(row["vector"], row["embedding"], dimension):
        yield f"the vector of {place} is not what it was"
    lists = [row[name] for name in ("entities", "phrases", "pairs", "facts", "runs")]
    read = sum(len({one["id"] for one in things}) for things in lists)
    if read != row["things"]:
        yield f"{row['things'] - read} of {row['things']} things found in {place} are lost"
    if row["whole_links"] != row["links"] or row["read_links"] != row["links"]:
        yield f"links of what was found in {place} are lost"
    for kind, wrong in _THINGS.items():
        if bad := sum(wrong(one, passage, document, dimension) for one in row[kind]):
            yield f"{bad} {kind} of {place} are not what they were"


def _wrong_entity(one: Row, passage: str, document: str, dimension: int) -> bool:  # noqa: ARG001
    return bool(
        one["id"] != content_id("entity", document, one["name"]) or one["concept"] != normalise(one["name"])
    )


def _wrong_phrase(one: Row, passage: str, document: str, dimension: int) -> bool:  # noqa: ARG001
    times = range(1, 1000)  # the same phrase may stand often in a passage
    known = any(one["id"] == content_id("verb phrase", passage, one["phrase"], str(n)) for n in times)
    return not known or _off(one["vector"], None, dimension)


def _wrong_pair(one: Row, passage: str, document: str, dimension: int) -> bool:  # noqa: ARG001
    known = content_id("pair", passage, one["question"], *(one["answers"] or ()))
    return one["id"] != known or _off(one["vector"], one["embedding"], dimension)


def _wrong_fact(one: Row, passage: str, document: str, dimension: int) -> bool:  # noqa: ARG001
    known = content_id("proposition", passage, one["text"], one["relation"] or "")
    return one["id"] != known or _not_unit(np.asarray(one["embedding"] or (), np.float64), dimension)


def _wrong_run(one: Row, passage: str, document: str, dimension: int) -> bool:  # noqa: ARG001
    if not one["edges"]:
        return bool(one["id"] != content_id("run", passage))
    held = sorted(edge for edge in one["held"] if None not in edge)
    parts: list[str] = []
    for position, edge in groupby(held, key=lambda edge: edge[0]):
        some = list(edge)
        if position >= one["edges"] or len({number for *_, number in some}) != 1:
            return True
        parts += [str(some[0][2]), *(statement for _, statement, _ in some)]
    return bool(one["id"] != content_id("run", *parts))


_THINGS: dict[str, Callable[[Row, str, str, int], bool]] = {
    "entities": _wrong_entity,
    "phrases": _wrong_phrase,
    "pairs": _wrong_pair,
    "facts": _wrong_fact,
    "runs": _wrong_run,
}


def _off(vector: Any, embedding: Any, dimension: int) -> bool:
    """Whether a packed vector is none, or is not that of its embedding, where there is one."""
    if not isinstance(vector, bytes | bytearray) or len(vector) != dimension:
        return True
    small = np.frombuffer(vector, np.int8) / 127
    if embedding is None:
        return _not_unit(small, dimension)
    full = np.asarray(embedding, np.float64)
    return _not_unit(full, dimension) or bool(np.abs(small - full).max() > _OFF)


def _not_unit(vector: Any, dimension: int) -> bool:
    return vector.shape != (dimension,) or not abs(float(np.linalg.norm(vector)) - 1) < 0.1


def wrong_counts(reader: Reader) -> list[str]:
    """Labels of which not as many nodes can be read as the engine counts."""
    stored, read = reader.counts()[0], reader.nodes_read()
    return [
        f"{read.get(name, 0):,} of {count:,} {name} can be read"
        for name, count in stored.items()
        if read.get(name, 0) != count
    ]


def wrong_indexes(reader: Reader, dimension: int) -> list[str]:
    """What indexes do not find though it is there. Vector indexes of more than 100,000 nodes are not asked
    for all; of texts a sample is looked up."""
    wrong = [
        f"{count:,} {name} are not found by their id"
        for name, count in reader.lost_lookups().items()
        if count
    ]
    read = reader.nodes_read()
    vector = [1.0] + [0.0] * (dimension - 1)
    for index, label in _VECTORS.items():
        total = read.get(label, 0)
        if 0 < total <= _MOST:
            found = reader.vectors_found(index, vector, total + 100)
            if found < 0.99 * total or found > total:
                wrong.append(f"{index} finds {found:,} of {total:,}")
    words: dict[str, dict[str, set[str]]] = {}
    for row in reader.some_texts(_SAMPLE):
        if word := max(_WORD.findall(row["text"] or ""), key=len, default=None):
            words.setdefault(word.lower(), {}).setdefault(row["kind"], set()).add(row["id"])
    lost: dict[str, int] = {}
    for row in reader.words_found(list(words), _FOUND):
        for kind, ids in words[row["word"]].items():
            if len(row[kind]) < _FOUND:
                lost[kind] = lost.get(kind, 0) + len(ids - set(row[kind]))
    return wrong + [
        f"{count:,} of some {kind} are not found by a word of theirs" for kind, count in lost.items() if count
    ]
