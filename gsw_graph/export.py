"""A memory as files in Panini's shape, which its own evaluation reads.

    FOLDER/networks/doc_<i>/gsw_<i>_<c>.json        the bare GSW of passage c of document i
    FOLDER/networks_raw/doc_<i>/gsw_<i>_<c>.json    the same with its text, title first
    FOLDER/corpus.json                              [{"title", "text"}], document by document

Documents are numbered in the order of their sources; what an entity, a phrase or a pair is called, and not
when it was loaded, says where it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.folders import new_folder
from gsw_graph.loaders.panini import bare
from gsw_graph.model import Document, Entity, Passage, QAPair, VerbPhrase, Workspace
from gsw_graph.results import Exported

if TYPE_CHECKING:
    from gsw_graph.store.reader import Reader

DOCUMENTS = 100  # read at once
Row = dict[str, Any]


def export(reader: Reader, folder: str | Path) -> Exported:
    """Write all documents that are ready into a folder that is new or empty: all of it or, after an error,
    nothing.

    What another process changes meanwhile may be in it or not. InputError: there is something in the
    folder, or it is a file.
    """
    with new_folder(folder) as beside:
        documents, files = _write(reader, beside)
    return Exported(documents, files, str(Path(folder).resolve()))


def workspaces(reader: Reader) -> Iterator[Workspace]:
    """The ready documents with their entities, verb phrases and pairs, by source. Propositions, and what
    questions are about, are left out."""
    ids = sorted(reader.sources().items(), key=lambda item: item[1])
    for start in range(0, len(ids), DOCUMENTS):
        rows = reader.whole_passages([id_ for id_, _ in ids[start : start + DOCUMENTS]])
        for _, group in groupby(rows, key=lambda row: row["n"]):
            yield _workspace(list(group))


def _write(reader: Reader, folder: Path) -> tuple[int, int]:
    """How many documents and files were written."""
    documents, files = 0, 1
    with (folder / "corpus.json").open("w", encoding="utf-8", newline="\n") as corpus:
        for number, workspace in enumerate(workspaces(reader)):
            document = workspace.document
            text = "\n\n".join(passage.text for passage in document.passages)
            corpus.write(("[\n" if number == 0 else ",\n") + _json({"title": document.title, "text": text}))
            for passage in document.passages:
                files += _chunk(folder, workspace, passage, number)
            documents += 1
        corpus.write("\n]\n" if documents else "[]\n")
    return documents, files


def _chunk(folder: Path, workspace: Workspace, passage: Passage, number: int) -> int:
    """Write one passage; how many files that made."""
    gsw = bare(workspace, passage.position)
    # The title stands first even where the text begins with it too or there is none: so the text comes back
    # as it was.
    raw = {
        "text": f"{passage.title}\n{passage.text}",
        "doc_idx": number,
        "chunk_idx": passage.position,
        "global_id": f"{number}_{passage.position}",
        "gsw": gsw,
        "context": "",
        "spacetime": {},
    }
    for kind, content in (("networks", gsw), ("networks_raw", raw)):
        place = folder / kind / f"doc_{number}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"gsw_{number}_{passage.position}.json").write_text(
            _json(content) + "\n", encoding="utf-8", newline="\n"
        )
    return 2


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _workspace(rows: Sequence[Row]) -> Workspace:
    """The workspace of one document from the rows of its passages."""
    first = rows[0]
    passages = tuple(Passage(row["text"], row["title"], row["position"]) for row in rows)
    document = Document(first["source"], first["document_title"], passages, first["loader"])
    entities: dict[str, Entity] = {}
    for row in rows:
        for found in row["entities"]:
            entity = entities.get(found["name"]) or _entity(found)
            titles = (*entity.titles, row["position"]) if found["title"] else entity.titles
            entities[entity.name] = replace(
                entity, passages=(*entity.passages, row["position"]), titles=titles
            )
    phrases = tuple(
        _phrase(found, row["position"])
        for row in rows
        for found in sorted(row["phrases"], key=lambda v: (v["phrase"], v["id"]))
    )
    return Workspace(
        document, first["extractor"], tuple(entities[name] for name in sorted(entities)), phrases
    )


def _entity(found: Row) -> Entity:
    roles = [
        (role["role"], tuple(role["states"] or ())) for role in found["roles"] if role["role"] is not None
    ]
    entity = Entity(found["name"], found["key"], (), (), tuple(sorted(roles)), found["from"], found["to"])
    written = f"; {found['description']};"

    def place(role: tuple[str, tuple[str, ...]]) -> int:
        return written.find(f"; {replace(entity, roles=(role,)).description};")

    return replace(
        entity, roles=tuple(sorted(entity.roles, key=place))
    )  # as the description has them: relationships have no order


def _phrase(found: Row, position: int) -> VerbPhrase:
    asked = sorted(
        (pair["question"], tuple(pair["answers"] or ()))
        for pair in found["pairs"]
        if pair["question"] is not None
    )
    return VerbPhrase(
        found["phrase"], position, tuple(QAPair(question, answers) for question, answers in asked)
    )
