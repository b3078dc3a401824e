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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from gsw_graph.load.assemble import Assembler
from gsw_graph.loaders import records
from gsw_graph.loaders.files import File, Item, Record
from gsw_graph.loaders.records import Entity, Node, Phrase, Places, add_contents, finished
from gsw_graph.loaders.text import UNNAMED, source_of, stem
from gsw_graph.model.documents import Document, Failure, Passage, Workspace

_DIGITS = re.compile("[0-9]+")


@dataclass(frozen=True, slots=True)
class _Chunk:
    text: str  # "" where it has none
    entities: list[Entity]
    phrases: list[Phrase]

    @property
    def said(self) -> str:
        """What it says, as text."""
        asked = [
            f"{question} {', '.join(answers)}".strip()
            for _, questions in self.phrases
            for question, answers in questions
            if question.strip()
        ]
        return "\n".join(asked or [name for name, _ in self.entities if name.strip()])


def is_chunk(value: object) -> bool:
    """Return whether a value is a GSW, or a chunk that has one."""
    return isinstance(value, dict) and not value.keys().isdisjoint(
        ("entity_nodes", "verb_phrase_nodes", "gsw")
    )


def read_chunk(record: Record) -> Iterator[Item]:
    """The workspace of one GSW or chunk."""
    key = record.value.get("global_id") or record.value.get("chunk_id")
    name = (key if isinstance(key, str) else record.number) if record.number else ""
    yield from _document([("", record.value)], record.place, record.file, name)


def read_combined(record: Record) -> Iterator[Item]:
    """Yield the workspaces of a combined file, one for each document."""
    documents = record.value["documents"]
    if not isinstance(documents, dict) or not documents:
        yield Failure(record.place, "empty")
        return
    keyed = {key: list(part.items()) if isinstance(part, dict) else [] for key, part in documents.items()}
    yield from _documents(keyed, record.place, record.file)


def read_keyed(values: Iterable[Mapping[str, object]], place: str, file: File) -> Iterator[Item]:
    """Yield the workspaces of the chunks of several objects: those whose ids differ after the last _ alone
    are of one document."""
    documents: dict[str, list[tuple[str, object]]] = {}
    for key, chunk in (pair for value in values for pair in value.items()):
        documents.setdefault(key.rpartition("_")[0] or key, []).append((key, chunk))
    yield from _documents(documents, place, file)


def _documents(documents: Mapping[str, list[tuple[str, object]]], place: str, file: File) -> Iterator[Item]:
    for key in sorted(documents, key=_order):
        at, chunks = f"{place}: {_shown(key)}", sorted(documents[key], key=lambda item: _order(item[0]))
        if chunks:
            yield from _document(chunks, at, file, key)
        else:
            yield Failure(at, "no chunks")


def _order(key: str) -> tuple[list[tuple[int, str]], str]:
    """Numbers in a key by their size, however long."""
    return [(len(digits), digits) for digits in (run.lstrip("0") for run in _DIGITS.findall(key))], key


def _shown(key: str) -> str:
    return key.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def _document(keyed: list[tuple[str, object]], place: str, file: File, name: str) -> Iterator[Item]:
    """The workspace of the chunks of one document, then what is wrong with parts of it."""
    faults: list[str] = []
    if records.flaw(name):
        yield Failure(place, str(records.flaw(name)))
        return
    chunks = [chunk for key, value in keyed if (chunk := _chunk(value, _shown(key), faults))]
    if not chunks:
        yield Failure(place, faults[0])
        return
    title, first = records.titled(chunks[0].text)
    texts = [first, *(chunk.text.removeprefix(f"{title}\n") if title else chunk.text for chunk in chunks[1:])]
    if any(text.strip() for text in texts):
        source: str | None = records.named(title, "\n".join(texts))
    else:
        path = source_of(file, "\n".join(chunk.said for chunk in chunks))
        source, title = (
            f"{path}#{name}" if path and name and file.path else path,
            title if name else stem(file),
        )
    if source is None:
        yield Failure(place, UNNAMED)
        return
    passages: list[Passage] = []
    ranges: list[tuple[int, int]] = []
    for chunk, text in zip(chunks, texts, strict=True):
        start = len(passages)
        passages += [
            Passage(piece, title, start + n)
            for n, piece in enumerate(records.pieces(text if text.strip() else chunk.said))
        ]
        ranges.append((start, len(passages)))
    assembler = Assembler(Document(source, title, tuple(passages), "panini"))
    for chunk, (start, end) in zip(chunks, ranges, strict=True):
        add_contents(assembler, Places(passages[start:end]), chunk.entities, chunk.phrases)
    yield from finished(assembler, "panini", place, faults)


def _chunk(value: object, path: str, faults: list[str]) -> _Chunk | None:
    """What one chunk holds; None, and a fault, where that is nothing that can be loaded."""
    at = f"{path}: " if path else ""
    if not isinstance(value, dict):
        faults.append(f"{at}not a chunk but {type(value).__name__}")
        return None
    if reason := records.flaw(value):
        faults.append(at + reason)
        return None
    text, gsw = value.get("text") or "", value.get("gsw", value)
    if not isinstance(gsw, dict):
        faults.append(at + ("extraction failed upstream" if gsw is None else "`gsw` is not an object"))
        return None
    if not isinstance(text, str):
        faults.append(f"{at}`text` is not a string")
        text = ""
    node = Node(gsw, path, faults)
    entities, names = _entities(node)
    forms = {_form(key) for key in names} | {"e0"}
    phrases = node.phrases("verb_phrase_nodes", lambda question: _resolved(question, names, forms))
    chunk = _Chunk(text if text.strip() else "", entities, phrases)
    if not chunk.text and not chunk.said:
        faults.append(f"{at}an empty workspace")
        return None
    return chunk


def _entities(gsw: Node) -> tuple[list[Entity], dict[str, str]]:
    """The entities with their roles, and the names by id: the first where two have one id."""
    entities: list[Entity] = []
    names: dict[str, str] = {}
    for node in gsw.objects("entity_nodes"):
        if (name := node.string("name")) is None:
            continue
        entities.append((name, node.roles()))
        if (key := node.string("id") if "id" in node.value else None) and names.setdefault(key, name) != name:
            gsw.faults.append(
                f"`{node.path}`: the id {key!r} is that of {names[key][:40]!r} and of {name[:40]!r}; "
                "answers mean the first"
            )
    return entities, names


def _resolved(question: Node, names: dict[str, str], forms: set[str]) -> list[str]:
    """The answers of a question as names and texts; an id that no entity has is a fault."""
    found = []
    for answer in question.answers():
        if answer in names:
            found.append(names[answer])
        elif answer.startswith("TEXT:"):
            found.append(answer.removeprefix("TEXT:"))
        elif _form(answer) in forms:
            question.faults.append(f"`{question.path}`: the answer {answer[:40]!r} is the id of no entity")
        else:
            found.append(answer)
    return found


def _form(key: str) -> str:
    """How an id is written, whatever its number and the chunk it names: e17 and 3_0::e2 are e0."""
    return _DIGITS.sub("0", key.rpartition("::")[2])


def bare(workspace: Workspace, position: int, chunk_id: str | None = None) -> dict[str, object]:
    """Return the GSW of one passage, which Panini's searcher reads from `networks/doc_<i>/gsw_<i>_<c>.json`:
    entities that stand in it or answer one of its questions, and its verb phrases.

    An answer that is no entity is a "TEXT:", and no answer is "None". Propositions have no place in this
    format.
    """
    verbs = [verb for verb in workspace.verb_phrases if verb.passage == position]
    answers = {answer for verb in verbs for pair in verb.pairs for answer in pair.answers}
    entities = [
        entity for entity in workspace.entities if position in entity.passages or entity.name in answers
    ]
    ids = {entity.name: f"e{n}" for n, entity in enumerate(entities, 1)}
    number = count(1)
    return {
        "entity_nodes": [
            {
                "id": ids[entity.name],
                "name": entity.name,
                "roles": [
                    {"role": role, "states": list(states), "chunk_id": chunk_id}
                    for role, states in entity.roles
                ],
                "chunk_id": chunk_id,
                "summary": None,
            }
            for entity in entities
        ],
        "verb_phrase_nodes": [
            {
                "id": f"v{n}",
                "phrase": verb.phrase,
                "chunk_id": chunk_id,
                "questions": [
                    {
                        "id": f"q{next(number)}",
                        "text": pair.question,
                        "answers": [ids.get(answer, f"TEXT:{answer}") for answer in pair.answers] or ["None"],
                        "chunk_id": chunk_id,
                    }
                    for pair in verb.pairs
                ],
            }
            for n, verb in enumerate(verbs, 1)
        ],
    }
