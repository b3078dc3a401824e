"""A workspace as rows of the statements that write it: ids are made here, and every link between things by
them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gsw_graph.model.documents import content_id
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import normalise
from gsw_graph.text.words import pack_vector, searchable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.model.documents import Entity, Workspace

Row = dict[str, Any]
TITLE_WEIGHT = 8.0  # of a name that is the title of its passage, where any other has 1 (docs/linked.md)
# How a workspace comes in: as a new document, in the place of an older text, as what was newly found in
# passages that stay as they are, or with its metadata alone.
Mode = Literal["new", "replace", "renew", "describe"]

# The statements of a batch in the order they must run.
ORDER = (
    *("documents", "passages", "next", "renewed_documents", "metadata", "entities", "names", "roles"),
    *("spellings", "verb_phrases", "qa_pairs", "answered_by", "about", "propositions", "mentions"),
)


@dataclass(frozen=True)
class Vectors:
    """Unit vectors of one workspace, float32 (n, dimension): of its passages, of its pairs verb phrase by
    verb phrase, of its propositions, and of its phrases by their text."""

    passages: NDArray[np.float32]
    pairs: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    propositions: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    phrases: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)


def rows_of(workspace: Workspace, vectors: Vectors, mode: Mode = "new") -> dict[str, list[Row]]:
    """The rows of one workspace, by statement. Vectors of passages that stay (`renew`) are not looked at."""
    rows: dict[str, list[Row]] = {name: [] for name in ORDER}
    if mode == "describe":
        rows["metadata"] = [{"id": workspace.document.id, "meta": workspace.document.properties}]
        return rows
    _document(workspace, rows["renewed_documents" if mode == "renew" else "documents"])
    if mode != "renew":
        _passages(workspace, vectors, rows)
    rows["names"] = _names(workspace)
    ids = _Ids(workspace)
    counted: dict[str, set[int]] = {}
    for entity in workspace.entities:
        _entity(workspace, entity, ids.written[entity.name], counted.setdefault(entity.key, set()), rows)
    spelled = [(row["key"], row["name"], row["joins"]) for row in (*rows["entities"], *rows["names"])]
    rows["spellings"] = [
        {"id": key, "name": name, "joins": joining} for key, name, joining in dict.fromkeys(spelled)
    ]
    place = 0
    seen: Counter[tuple[str, ...]] = Counter()
    for phrase in workspace.verb_phrases:
        passage = workspace.document.passage_id(phrase.passage)
        seen[(passage, phrase.phrase)] += 1  # the same phrase may stand twice in a passage
        phrase_id = content_id("verb phrase", passage, phrase.phrase, str(seen[(passage, phrase.phrase)]))
        rows["verb_phrases"].append(
            {
                "id": phrase_id,
                "phrase": phrase.phrase,
                "vector": pack_vector(vectors.phrases[phrase.phrase]),
                "passage": passage,
            }
        )
        for pair in phrase.pairs:
            pair_id = content_id("pair", passage, pair.question, *pair.answers)
            rows["qa_pairs"].append(
                {
                    "id": pair_id,
                    "question": pair.question,
                    "answer": ", ".join(pair.answers),
                    "answers": list(pair.answers),
                    "embedding": vectors.pairs[place].tolist(),
                    "vector": pack_vector(vectors.pairs[place]),
                    "passage": passage,
                    "verb_phrase": phrase_id,
                }
            )
            place += 1
            answers = ((ids.of(answer), position) for position, answer in enumerate(pair.answers))
            rows["answered_by"] += (
                {"pair": pair_id, "entity": entity, "position": position}
                for entity, position in answers
                if entity
            )
            rows["about"] += (
                {"pair": pair_id, "entity": document_entity} for document_entity in ids.all(pair.about)
            )
    for fact, vector in zip(workspace.propositions, vectors.propositions, strict=True):
        passage = workspace.document.passage_id(fact.passage)
        fact_id = content_id("proposition", passage, fact.text, fact.relation or "")
        rows["propositions"].append(
            {
                "id": fact_id,
                "text": fact.text,
                "relation": fact.relation,
                "vector": pack_vector(vector),
                "embedding": vector.tolist(),
                "passage": passage,
            }
        )
        rows["mentions"] += (
            {"proposition": fact_id, "entity": mentioned, "role": role}
            for name, role in fact.mentions
            if (mentioned := ids.of(name))
        )
    return rows


class _Ids:
    """The ids of entities by name as written, else by normal form."""

    def __init__(self, workspace: Workspace) -> None:
        self.written = {
            entity.name: workspace.document.entity_id(entity.name) for entity in workspace.entities
        }
        self._keys: dict[str, str] = {}
        for entity in workspace.entities:
            self._keys.setdefault(entity.key, self.written[entity.name])

    def of(self, name: str) -> str | None:
        """The id of an entity, None for a text that is none."""
        return self.written.get(name) or self._keys.get(normalise(name))

    def all(self, names: tuple[str, ...]) -> Iterator[str]:
        """The ids of those names that are entities, each once."""
        return (found for found in dict.fromkeys(map(self.of, names)) if found)


def _document(workspace: Workspace, rows: list[Row]) -> None:
    document = workspace.document
    rows.append(
        {
            "id": document.id,
            "source": document.source,
            "title": document.title,
            "content_hash": document.content_hash if workspace.names is None else workspace.content_hash,
            "text_hash": document.content_hash,
            "loader": document.loader,
            "extractor": workspace.extractor,
            "model": workspace.model,
            "unread": list(workspace.unread) or None,
            "loaded_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "status": "ready",
            "meta": document.properties,
        }
    )


def _passages(workspace: Workspace, vectors: Vectors, rows: dict[str, list[Row]]) -> None:
    document = workspace.document
    language = document.language.code
    ids = [document.passage_id(p.position) for p in document.passages]
    for id_, passage, vector in zip(ids, document.passages, vectors.passages, strict=True):
        rows["passages"].append(
            {
                "id": id_,
                "document": document.id,
                "text": passage.text,
                "words": searchable("\n".join([*passage.headings, passage.text]), language),
                "title": passage.title,
                "position": passage.position,
                "section": passage.section or None,
                "speaker": passage.speaker or None,
                "at": passage.at or None,
                "vector": pack_vector(vector),
                "embedding": vector.tolist(),
            }
        )
    rows["next"] += ({"from": a, "to": b} for a, b in pairwise(ids))


def _names(workspace: Workspace) -> list[Row]:
    """Return a row for each name that passages have, dates apart: those that rules found in the text, which
    are the entities where nothing else was extracted."""
    document = workspace.document
    rows: dict[str, Row] = {}
    places: dict[tuple[str, int], Row] = {}
    for name in workspace.entities if workspace.names is None else workspace.names:
        if name.from_ is not None:
            continue
        row = rows.setdefault(
            name.key,
            {"key": name.key, "name": name.name, "joins": joins(name), "places": []},
        )
        row["name"] = max(row["name"], name.name)
        for position in sorted({*name.passages, *name.titles}):
            place = places.get((name.key, position))
            if place is None:
                place = places[name.key, position] = {
                    "passage": document.passage_id(position),
                    "title": False,
                    "weight": 1.0,
                    "name": None,
                }
                row["places"].append(place)
            if position in name.titles:
                place["title"], place["weight"] = True, TITLE_WEIGHT
            if workspace.names is not None:
                place["name"] = max(place["name"] or "", name.name)
    return [row for row in rows.values() if row["places"]]


def joins(name: Entity) -> bool:
    """Return whether a name may bring together what it stands in: no date, no number and no common word,
    however it is written."""
    return name.from_ is None and is_distinctive(name.key.title())


def _entity(
    workspace: Workspace, entity: Entity, id_: str, counted: set[int], rows: dict[str, list[Row]]
) -> None:
    """`counted` are the passages in which another spelling of the name was counted, and grows."""
    document, titles = workspace.document, set(entity.titles)
    rows["entities"].append(
        {
            "id": id_,
            "name": entity.name,
            "key": entity.key,
            "description": entity.description,
            "from": entity.from_,
            "to": entity.to,
            "joins": joins(entity),
            "opens": entity.opens,
            "places": [
                {"passage": document.passage_id(position), "title": position in titles}
                for position in entity.passages
            ],
            "passages": len(set(entity.passages) - counted),
        }
    )
    counted.update(entity.passages)
    rows["roles"] += ({"entity": id_, "role": role, "states": list(states)} for role, states in entity.roles)
