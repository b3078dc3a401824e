"""Turn a workspace into rows of the writing statements. Ids are made here, and links use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from gsw_graph.model.documents import content_id
from gsw_graph.store import now
from gsw_graph.store.vectors import pack_vector
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import normalise
from gsw_graph.text.words import searchable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.model.documents import Document, Entity, Workspace

Vector: TypeAlias = "NDArray[np.float32]"
Vectors = Mapping[str, Vector]  # unit vectors by the texts that they are of
Row = dict[str, Any]
Rows = dict[str, list[Row]]  # by statement
TITLE_WEIGHT = 8.0  # of a name that is the title of its passage, where any other has 1 (docs/linked.md)
# How a workspace comes in: as a new document, in the place of an older text, as what was newly found in
# passages that stay as they are, or with its metadata alone.
Mode = Literal["new", "replace", "renew", "describe"]

# The statements of a batch in the order they must run.
ORDER = (
    "documents passages next renewed_documents metadata entities names roles spellings verb_phrases qa_pairs "
    "answered_by about propositions mentions"
).split()


def rows_of(workspace: Workspace, vectors: Vectors, mode: Mode = "new") -> Rows:
    """Return the rows of a workspace by statement. Vectors of passages that stay (`renew`) are not used."""
    rows: Rows = {name: [] for name in ORDER}
    document = workspace.document
    if mode == "describe":
        rows["metadata"].append({"id": document.id, "meta": document.properties})
        return rows
    if mode == "renew":
        rows["renewed_documents"].append(_document(workspace))
    else:
        rows["documents"].append(_document(workspace))
        _add_passages(document, vectors, rows)
    ids = _Ids(workspace)
    bare = _bare_names(workspace)
    _add_entities(workspace, ids, bare, rows)
    rows["names"] = _names(workspace, bare)
    spellings = {}
    for row in rows["entities"] + rows["names"]:
        spelling = {"id": row["key"], "name": row["name"], "joins": row["joins"]}
        spellings[tuple(spelling.values())] = spelling
    rows["spellings"] = list(spellings.values())
    _add_pairs(workspace, ids, vectors, rows)
    _add_propositions(workspace, ids, vectors, rows)
    return rows


class _Ids:
    """The ids of entities by name as written, else by normal form."""

    def __init__(self, workspace: Workspace) -> None:
        self.written: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        for entity in workspace.entities:
            id_ = workspace.document.entity_id(entity.name)
            self.written[entity.name] = id_
            self._keys.setdefault(entity.key, id_)

    def of(self, name: str) -> str | None:
        """The id of an entity, None for a text that is none."""
        return self.written.get(name) or self._keys.get(normalise(name))


def _document(workspace: Workspace) -> Row:
    document = workspace.document
    text_hash = document.content_hash
    return {
        "id": document.id,
        "source": document.source,
        "title": document.title,
        "content_hash": text_hash if workspace.names is None else workspace.content_hash,
        "text_hash": text_hash,
        "loader": document.loader,
        "extractor": workspace.extractor,
        "model": workspace.model,
        "unread": list(workspace.unread) or None,
        "loaded_at": now(),
        "status": "ready",
        "meta": document.properties,
    }


def _add_passages(document: Document, vectors: Vectors, rows: Rows) -> None:
    before = None
    for passage in document.passages:
        id_ = document.passage_id(passage.position)
        words = "\n".join([*passage.headings, passage.text])
        row = {
            "id": id_,
            "document": document.id,
            "text": passage.text,
            "words": searchable(words, document.language.code),
            "title": passage.title,
            "position": passage.position,
            "section": passage.section or None,
            "speaker": passage.speaker or None,
            "at": passage.at or None,
            **_stored(vectors[passage.full_text]),
        }
        rows["passages"].append(row)
        if before is not None:
            rows["next"].append({"from": before, "to": id_})
        before = id_


def _stored(vector: Vector) -> Row:
    """Return the two properties that hold a vector: packed, and as the vector index takes it."""
    return {"vector": pack_vector(vector), "embedding": vector.tolist()}


def _bare_names(workspace: Workspace) -> set[str]:
    """Return the keys of names that rules found and of which they found nothing else: no role, no date, no
    proposition. They have no Entity node; passages name their concepts."""
    if workspace.names is not None:
        return set()
    keys, more = set(), set()
    for entity in workspace.entities:
        keys.add(entity.key)
        if entity.roles:
            more.add(entity.key)
    for phrase in workspace.verb_phrases:
        for pair in phrase.pairs:
            more.update(map(normalise, pair.answers + pair.about))
    for fact in workspace.propositions:
        more.update(normalise(name) for name, _ in fact.mentions)
    return keys - more


def _names(workspace: Workspace, bare: set[str]) -> list[Row]:
    """Return a row for each name that passages have, dates apart: those that rules found in the text, which
    are the entities if nothing else was extracted."""
    document = workspace.document
    is_extracted = workspace.names is not None
    rows: dict[str, Row] = {}
    places: dict[tuple[str, int], Row] = {}
    for name in workspace.entities if workspace.names is None else workspace.names:
        if name.from_ is not None:
            continue
        key = name.key
        is_bare = key in bare
        opens = name.opens if is_bare else None
        new = {"key": key, "name": name.name, "joins": joins(name), "opens": opens, "places": []}
        row = rows.setdefault(key, new)
        row["name"] = max(row["name"], name.name)
        for position in sorted({*name.passages, *name.titles}):
            place = places.get((key, position))
            if place is None:
                passage = document.passage_id(position)
                place = {"passage": passage, "title": False, "weight": 1.0, "name": None, "counted": is_bare}
                places[key, position] = place
                row["places"].append(place)
            if position in name.titles:
                place["title"] = True
                place["weight"] = TITLE_WEIGHT
            if is_extracted or is_bare:
                place["name"] = max(place["name"] or "", name.name)
    for row in rows.values():
        row["passages"] = len(row["places"]) if row["key"] in bare else 0
    return [row for row in rows.values() if row["places"]]


def joins(name: Entity) -> bool:
    """Return whether a name may connect its passages: no date, no number and no common word, in any
    spelling."""
    return name.from_ is None and is_distinctive(name.key.title())


def _add_entities(workspace: Workspace, ids: _Ids, bare: set[str], rows: Rows) -> None:
    document = workspace.document
    counted: dict[str, set[int]] = {}  # passages in which another spelling of a name was counted, by its key
    for entity in workspace.entities:
        if entity.key in bare:
            continue
        id_ = ids.written[entity.name]
        places = []
        for position in entity.passages:
            passage = document.passage_id(position)
            places.append({"passage": passage, "title": position in entity.titles})
        others = counted.setdefault(entity.key, set())
        row = {
            "id": id_,
            "name": entity.name,
            "key": entity.key,
            "description": entity.description,
            "from": entity.from_,
            "to": entity.to,
            "joins": joins(entity),
            "opens": entity.opens,
            "places": places,
            "passages": len(set(entity.passages) - others),
        }
        rows["entities"].append(row)
        others.update(entity.passages)
        for role, states in entity.roles:
            rows["roles"].append({"entity": id_, "role": role, "states": list(states)})


def _add_pairs(workspace: Workspace, ids: _Ids, vectors: Vectors, rows: Rows) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for phrase in workspace.verb_phrases:
        text = phrase.phrase
        passage = workspace.document.passage_id(phrase.passage)
        seen[passage, text] += 1  # the same phrase may stand twice in a passage
        phrase_id = content_id("verb phrase", passage, text, str(seen[passage, text]))
        vector = pack_vector(vectors[text])
        rows["verb_phrases"].append({"id": phrase_id, "phrase": text, "vector": vector, "passage": passage})
        for pair in phrase.pairs:
            pair_id = content_id("pair", passage, pair.question, *pair.answers)
            row = {
                "id": pair_id,
                "question": pair.question,
                "answer": ", ".join(pair.answers),
                "answers": list(pair.answers),
                **_stored(vectors[pair.text]),
                "passage": passage,
                "verb_phrase": phrase_id,
            }
            rows["qa_pairs"].append(row)
            for position, answer in enumerate(pair.answers):
                entity = ids.of(answer)
                if entity:
                    rows["answered_by"].append({"pair": pair_id, "entity": entity, "position": position})
            for entity in dict.fromkeys(map(ids.of, pair.about)):
                if entity:
                    rows["about"].append({"pair": pair_id, "entity": entity})


def _add_propositions(workspace: Workspace, ids: _Ids, vectors: Vectors, rows: Rows) -> None:
    for fact in workspace.propositions:
        passage = workspace.document.passage_id(fact.passage)
        id_ = content_id("proposition", passage, fact.text, fact.relation or "")
        row = {"id": id_, "text": fact.text, "relation": fact.relation, "passage": passage}
        rows["propositions"].append(row | _stored(vectors[fact.text]))
        for name, role in fact.mentions:
            entity = ids.of(name)
            if entity:
                rows["mentions"].append({"proposition": id_, "entity": entity, "role": role})
