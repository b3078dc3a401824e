"""A memory as files that others read: in the shape of Panini's evaluation, or as GraphML.

    FOLDER/networks/doc_<i>/gsw_<i>_<c>.json        the bare GSW of passage c of document i
    FOLDER/networks_raw/doc_<i>/gsw_<i>_<c>.json    the same with its text, title first
    FOLDER/corpus.json                              [{"title", "text"}], document by document

Documents are numbered in the order of their sources; what an entity, a phrase or a pair is called, and not
when it was loaded, says where it stands.

GraphML is for networkx, Gephi, yEd and igraph. Lists are JSON texts there, as it has none; vectors are left
out, which no such program reads.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from gsw_graph.errors import InputError
from gsw_graph.loaders.panini import bare
from gsw_graph.model.documents import Document, Entity, Passage, QAPair, VerbPhrase, Workspace
from gsw_graph.model.results import Exported
from gsw_graph.store.nodes import Kind, Label, labels, relationships

if TYPE_CHECKING:
    from gsw_graph.engine import Connection
    from gsw_graph.store.reader import Reader

DOCUMENTS = 100  # read at once
Row = dict[str, Any]
_TYPES = {
    "string": "string",
    "long": "long",
    "double": "double",
    "boolean": "boolean",
}  # all others are texts
_LEFT_OUT = ("float[]", "bytes")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
        rows = reader.stream("read/export", ids=[id_ for id_, _ in ids[start : start + DOCUMENTS]])
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


def export_graphml(connection: Connection, target: str | Path) -> Exported:
    """Write all that a memory holds, without vectors, into a new GraphML file, whole or not at all.

    InputError: there is something in its place.
    """
    from gsw_graph.load.moving import new_file, read_all

    documents = 0

    def things() -> Iterator[tuple[Kind, Row]]:
        nonlocal documents
        for kind, row in read_all(connection):
            documents += kind.name == "Document"
            yield kind, row

    with new_file(Path(target)) as file:
        file.writelines(graphml(things()))
    return Exported(documents, 1, str(Path(target).resolve()))


def graphml(things: Iterable[tuple[Kind, dict[str, Any]]]) -> Iterator[str]:
    """The text of a file, piece by piece. things: kinds with rows of `transfer.read`, nodes before
    relationships. A node is known as `Label:key`; its `label` is what Gephi shows, its `kind` the label."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="label" for="node" attr.name="label" attr.type="string"/>\n'
    yield '<key id="kind" for="node" attr.name="kind" attr.type="string"/>\n'
    yield '<key id="type" for="edge" attr.name="type" attr.type="string"/>\n'
    for domain, kinds in (("node", labels().values()), ("edge", relationships())):
        for name, type_ in _attributes(kinds).items():
            yield f'<key id="{domain}.{name}" for="{domain}" attr.name="{name}" attr.type="{type_}"/>\n'
    yield '<graph id="gswgraph" edgedefault="directed">\n'
    number = 0
    for kind, row in things:
        if isinstance(kind, Label):
            seen = _data("label", _shown(row)) + _data("kind", kind.name)
            yield f"<node id={_name(kind, row['key'])}>{seen}{_properties('node', kind, row)}</node>\n"
        else:
            number += 1
            ends = f"source={_name(kind.begin, row['key'])} target={_name(kind.end, row['end'])}"
            data = _data("type", kind.type) + _properties("edge", kind, row)
            yield f'<edge id="{number}" {ends}>{data}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _attributes(kinds: Iterable[Kind]) -> dict[str, str]:
    """The type of each property; one that is not the same for all kinds is a text."""
    found: dict[str, str] = {}
    for kind in kinds:
        for name, type_ in kind.properties.items():
            if type_ not in _LEFT_OUT:
                written = _TYPES.get(type_, "string")
                found[name] = written if found.setdefault(name, written) == written else "string"
    return found


def _shown(row: dict[str, Any]) -> str:
    """As Neo4j Browser shows it."""
    properties = row["properties"]
    return str(properties.get("name") or properties.get("title") or row["key"])


def _name(label: Label, key: str) -> str:
    return quoteattr(_plain(f"{label.name}:{key}"), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _properties(domain: str, kind: Kind, row: dict[str, Any]) -> str:
    return "".join(
        _data(f"{domain}.{name}", _text(row["properties"][name]))
        for name, type_ in kind.properties.items()
        if type_ not in _LEFT_OUT and row["properties"].get(name) is not None
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def _data(key: str, text: str) -> str:
    return f'<data key="{key}">{escape(_plain(text), {chr(13): "&#13;"})}</data>'


def _plain(text: str) -> str:
    """XML has no place for some characters; U+FFFD stands for them."""
    return _NOT_XML.sub("\ufffd", text)


@contextmanager
def new_folder(folder: str | Path) -> Iterator[Path]:
    """A folder beside one that is new or empty, which takes its place when all went well, and goes after an
    error. InputError: there is something in the folder, or it is a file."""
    target = Path(folder).resolve()
    _check_free(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.parent / f".{target.name}-{secrets.token_hex(4)}"
    beside.mkdir()
    try:
        yield beside
        _check_free(target)
        if target.exists():  # Windows renames onto nothing
            target.rmdir()
        beside.rename(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _check_free(target: Path) -> None:
    if target.is_dir():
        if any(target.iterdir()):
            raise InputError("the folder is not empty", where=str(target), hint="Name a new one")
    elif target.exists():
        raise InputError("this is a file", where=str(target), hint="Name a new folder")
