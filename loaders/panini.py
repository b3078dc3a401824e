"""Panini's workspaces (GSW files): a bare one, a chunk with its text, the combined file, a list of chunks by
id, reconciled ones.

    GSW    {"entity_nodes": [{"id", "name", "roles"}], "verb_phrase_nodes": [{"id", "phrase", "questions":
    [{"id", "text", "answers"}]}]}
    CHUNK  {"text", "gsw": GSW | null, ...}          combined  {"documents": {"doc_<i>": {"<i>_<c>": CHUNK}}}
    list  [{"<i>_<c>": CHUNK}, ...]

The chunks of a document are its passages. Ids belong to their chunk, and answers are ids there: here they
become names. A bare GSW has no text, so its passage is what it says: each question with its answers, one a
line, or its names; a file that holds one such GSW is its title. The document of a chunk with text is that
of the corpus record, its title being the first line; one without text is named by its file and key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from gsw_graph.loaders import records
from gsw_graph.loaders.files import File, Items, Record, printable
from gsw_graph.loaders.records import Entity, PassageIndex, add_contents, finished
from gsw_graph.loaders.text import source_of, stem
from gsw_graph.model.assemble import Assembler, Node, Phrase, id_form
from gsw_graph.model.documents import Document, Failure, Passage

_DIGITS = re.compile("[0-9]+")
_Chunk: TypeAlias = tuple[str, list[Entity], list[Phrase]]  # its text, "" where it has none
_Keyed: TypeAlias = list[tuple[str, object]]
_Documents: TypeAlias = dict[str, _Keyed]


def is_chunk(value: object) -> bool:
    """Return whether a value is a GSW, or a chunk that has one."""
    keys = ("entity_nodes", "verb_phrase_nodes", "gsw")
    return isinstance(value, dict) and not value.keys().isdisjoint(keys)


def read_chunk(record: Record) -> Items:
    """Yield the workspace of one GSW or chunk."""
    name = record.number
    key = record.value.get("global_id") or record.value.get("chunk_id")
    if name and isinstance(key, str):
        name = key
    return _document([("", record.value)], record.place, record.file, name)


def read_combined(record: Record) -> Items:
    """Yield the workspaces of a combined file, one for each document."""
    documents = record.value["documents"]
    chunks: _Documents = {}
    for key, part in documents.items() if isinstance(documents, dict) else ():
        chunks[key] = list(part.items()) if isinstance(part, dict) else []
    return _documents(chunks, record.place, record.file)


def read_keyed(record: Record) -> Items:
    """Yield the workspaces of the chunks of one object; see `read_documents`."""
    return read_documents([record.value], record.place, record.file)


def read_documents(values: Iterable[Mapping[str, object]], place: str, file: File) -> Items:
    """Yield the workspaces of the chunks of several objects. Chunks whose ids differ only after the last _
    are one document."""
    documents: _Documents = {}
    for value in values:
        for key, chunk in value.items():
            documents.setdefault(key.rpartition("_")[0] or key, []).append((key, chunk))
    return _documents(documents, place, file)


def _documents(documents: _Documents, place: str, file: File) -> Items:
    if not documents:
        yield Failure(place, "empty")
    for key in sorted(documents, key=_order):
        chunks = sorted(documents[key], key=lambda item: _order(item[0]))
        yield from _document(chunks, f"{place}: {_shown(key)}", file, key)


def _order(key: str) -> tuple[list[tuple[int, str]], str]:
    """Order keys by the numbers in them, however long."""
    numbers = [digits.lstrip("0") for digits in _DIGITS.findall(key)]
    return [(len(digits), digits) for digits in numbers], key


def _shown(key: str) -> str:
    return printable(key).replace("\0", "\\0")


def _document(keyed: _Keyed, place: str, file: File, name: str) -> Items:
    """Yield the workspace of the chunks of one document, then what is wrong with parts of it."""
    faults: list[str] = []
    flaw = records.flaw(name)
    if flaw:
        yield Failure(place, flaw)
        return
    read = [_chunk(value, _shown(key), faults) for key, value in keyed]
    chunks = [chunk for chunk in read if chunk is not None]
    if not chunks:
        yield Failure(place, faults[0] if faults else "no chunks")
        return
    title, first = records.titled(chunks[0][0])
    texts = [first]
    for text, _, _ in chunks[1:]:
        texts.append(text.removeprefix(f"{title}\n") if title else text)
    if any(text.strip() for text in texts):
        source = records.named(title, "\n".join(texts))
    else:
        source = source_of(file, "\n".join(map(_findings, chunks)))
        if name and file.path:
            source = f"{source}#{name}"
        title = title if name else stem(file)
    passages: list[Passage] = []
    parts: list[list[Passage]] = []
    for text, chunk in zip(texts, chunks, strict=True):
        pieces = records.pieces(text if text.strip() else _findings(chunk))
        parts.append([Passage(piece, title, n) for n, piece in enumerate(pieces, len(passages))])
        passages += parts[-1]
    assembler = Assembler(Document(source, title, tuple(passages), "panini"))
    for part, (_, entities, phrases) in zip(parts, chunks, strict=True):
        add_contents(assembler, PassageIndex(part), entities, phrases)
    yield from finished(assembler, "panini", place, faults)


def _findings(chunk: _Chunk) -> str:
    """Return what a chunk says, as text: its questions with their answers, else its names."""
    _, entities, phrases = chunk
    lines = []
    for _, questions in phrases:
        for question, answers in questions:
            if question.strip():
                lines.append(f"{question} {', '.join(answers)}".strip())
    return "\n".join(lines or [name for name, _ in entities if name.strip()])


def _chunk(value: object, path: str, faults: list[str]) -> _Chunk | None:
    """Return what one chunk holds; None, and a fault, where that is nothing that can be loaded."""
    at = f"{path}: " if path else ""
    if not isinstance(value, dict):
        faults.append(f"{at}not a chunk but {type(value).__name__}")
        return None
    gsw = value.get("gsw", value)
    if not isinstance(gsw, dict):
        faults.append(at + ("extraction failed upstream" if gsw is None else "`gsw` is not an object"))
        return None
    flaw = records.flaw(value)
    if flaw:
        faults.append(at + flaw)
        return None
    text = value.get("text") or ""
    if not isinstance(text, str):
        faults.append(f"{at}`text` is not a string")
        text = ""
    node = Node(gsw, path, faults)
    entities: list[Entity] = []
    names: dict[str, str] = {}  # by id: the first where two have the same
    for name, entity in node.objects("entity_nodes", name=("name",)):
        entities.append((name, list(entity.roles())))
        key = entity.text("id") if "id" in entity.value else None
        if key and names.setdefault(key, name) != name:
            both = f"{names[key][:40]!r} and of {name[:40]!r}"
            faults.append(f"`{entity.path}`: the id {key!r} is that of {both}; answers mean the first")
    forms = {*map(id_form, names), "e0"}
    phrases = node.phrases("verb_phrase_nodes", answers=lambda question: [*question.answers(names, forms)])
    chunk = text if text.strip() else "", entities, list(phrases)
    if not text.strip() and not _findings(chunk):
        faults.append(f"{at}an empty workspace")
        return None
    return chunk
