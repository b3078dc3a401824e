"""JSON files: an array, one object, or one record a line; what each record is, is seen by its keys.

Read here are corpora, ready workspaces, OpenIE results and propositions; `panini` reads Panini's workspaces,
`markdown` notebooks.

A corpus record is `{"title", "text", "id"?, "source"?}`: a document of one passage. Other formats make the
documents of their passages here, so that a passage is the same document in whatever format it comes.

Ready workspaces:

    {"title", "text", "id"?, "source"?,
     "entities": [{"name", "roles": [{"role", "states": [...]}]}],
     "verb_phrases": [{"phrase", "questions": [{"text", "answers": [...]}]}],
     "propositions": [{"text", "entities": [...]}]}

One record a line (JSONL) or in a JSON array: a corpus record that also says what was found in its text. Every
list may be left out. An answer is the name of an entity or any text ("TEXT:" before it is taken off); null
and "None" are no answer. A proposition may be a string alone. Where the text is so long that it becomes
several passages, a part belongs to those that have its names.

OpenIE results as HippoRAG keeps them: `{"docs": [{"passage", "extracted_entities": [...],
"extracted_triples": [[s, p, o], ...]}]}`, and propositions as PropRAG does, with `"propositions": [{"text",
"entities"}]` beside, or instead of, triples. `passage` is title, newline, text; where the record has `title`
and `text` these are taken.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from gsw_graph.loaders.files import (
    MAX_LINE,
    File,
    Item,
    NothingError,
    Record,
    UnusableError,
    detect_encoding,
    line_too_long,
    lines,
    refusal,
    shortened,
    transcode,
)
from gsw_graph.loaders.split import SENTENCE_LIMIT, paragraphs, split, words
from gsw_graph.loaders.text import decode_bytes
from gsw_graph.model.assemble import Assembler, Node, Phrase, Role
from gsw_graph.model.documents import Document, Failure, Passage, Skipped, content_id, metadata

SHAPES = (
    'understood are {"title": ..., "text": ..., "id"?, "source"?}, one a line (JSONL) or in one JSON '
    'array; the same with "entities", "verb_phrases" or '
    '"propositions"; Panini\'s workspaces ("entity_nodes"); OpenIE results and propositions ({"docs": [...]})'
)
_UNSTORABLE = re.compile(r"(?<!\\)(?:\\\\)*\\u0000|[\ud800-\udfff]")  # in JSON
OWN = frozenset(
    "title text id source passage entities verb_phrases propositions extracted_entities "
    "extracted_triples".split()
)
"""Keys of records that are no metadata."""
_TITLE = 200  # characters; a longer first line is text
Reader: TypeAlias = Callable[[Record], Iterator[Item]]


# --- files ---


def read_lines(file: File) -> Iterator[Item]:
    """Yield one record a line, read one at a time; a bad line is a failure and the next is read."""
    codec = detect_encoding(file.head[: file.head.rfind(b"\n") + 1] or file.head)
    file = file if codec in (None, "utf-8") else transcode(file, codec)
    blank = True
    for number, (place, line) in enumerate(lines(file), 1):
        blank = blank and line is not None and not line.strip()
        if line is None:
            yield line_too_long(place).failure(place)
        elif line.strip():
            try:
                value = json.loads(line.decode("utf-8"))
            except UnicodeDecodeError as error:
                yield Failure(place, refusal(error))
            except json.JSONDecodeError as error:
                message = error.msg.removesuffix(" at")
                yield Failure(place, f"broken JSON: {message} at column {error.pos + 1}")
            except (ValueError, RecursionError) as error:
                yield Failure(place, f"broken JSON: {error}")
            else:
                yield from _object(value, place, file, str(number))
    if blank:
        raise NothingError("empty")


def read_whole(file: File) -> Iterator[Item]:
    """Yield what one JSON array or object holds. The format allows no less than the whole file in memory."""
    from gsw_graph.loaders import markdown

    data = file.stream.read().removeprefix(codecs.BOM_UTF8)
    text = decode_bytes(data, file.name)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and "\n" not in text[: error.pos].strip():
            # The first line was too long to see that it is one of many.
            yield from read_lines(replace(file, stream=io.BufferedReader(io.BytesIO(data))))
            return
        raise UnusableError(
            f"broken JSON: {error.msg} at line {error.lineno} column {error.colno}",
            f"{file.name}:{error.lineno}:{error.colno}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"broken JSON: {error}") from error
    if isinstance(value, dict) and "nbformat" in value and isinstance(value.get("cells"), list):
        if problem := flaw(value):
            raise UnusableError(problem)
        yield from markdown.read_notebook(value, file)
    elif isinstance(value, list) or _reader(value) is read_record:
        yield from _array(value if isinstance(value, list) else [value], file.name, file)
    else:
        yield from _object(value, file.name, file, "")


def _object(value: object, place: str, file: File, number: str) -> Iterator[Item]:
    reader = _reader(value)
    if not isinstance(value, dict):
        yield Failure(place, f"not a record: {SHAPES}")
    elif isinstance(docs := value.get("docs"), list) and "text" not in value:
        yield from _array(docs, place, file)  # OpenIE results, which keep their records under a key
    elif not number and not reader:
        yield Failure(place, f"JSON of an unknown shape: {SHAPES}")
    else:
        yield from (reader or read_record)(Record(value, place, file, number))


def _array(values: list[Any], place: str, file: File) -> Iterator[Item]:
    from gsw_graph.loaders import chat_exports, conversations, panini

    if chat_exports.is_slack(values):
        yield from conversations.read_slack(values, place, file)
        return
    readers = [_reader(value) for value in values]
    if not any(readers) and chat_exports.is_slack_list(file):
        yield Skipped(place, "a list of a Slack export; its names are read with the messages")
        return
    if not any(readers):
        yield Failure(place, f"JSON of an unknown shape: {SHAPES}") if values else Skipped(place, "empty")
        return
    # The chunks of one document may occur in several objects.
    keyed = [value for value, reader in zip(values, readers, strict=True) if reader is panini.read_keyed]
    if keyed:
        yield from panini.read_documents(keyed, place, file)
    for number, (value, reader) in enumerate(zip(values, readers, strict=True), 1):
        if reader is not panini.read_keyed:
            yield from _object(value, f"{place}: record {number}", file, str(number))


def _reader(value: object) -> Reader | None:
    """Return what reads an object, by the first sign that fits; a new shape of record is its line here."""
    from gsw_graph.loaders import conversations, panini

    if not isinstance(value, dict):
        return None
    keys, with_text = value.keys(), "text" in value
    shapes: tuple[tuple[bool, Reader], ...] = (
        (panini.is_chunk(value), panini.read_chunk),
        (conversations.is_conversation(value) and not with_text, conversations.read),
        (isinstance(value.get("documents"), dict) and not with_text, panini.read_combined),
        (not with_text and any(map(panini.is_chunk, value.values())), panini.read_keyed),
        (not keys.isdisjoint(("extracted_entities", "extracted_triples")), read_openie),
        ("passage" in value and (not with_text or "propositions" in value), read_openie),
        (not keys.isdisjoint(("entities", "verb_phrases", "propositions")), read_workspace),
        (with_text, read_record),
    )
    return next((reader for fits, reader in shapes if fits), None)


# --- documents ---


def read_record(record: Record) -> Iterator[Item]:
    """Yield the document of one record, or what is wrong with it."""
    document = record_document(record.value, record.place, "corpus")
    yield document if isinstance(document, Failure) else (record.place, document)


def record_document(value: Mapping[str, object], place: str, loader: str) -> Document | Failure:
    """Return the document of `title`, `text`, `id` and `source`, or what is wrong with it.

    Args:
        value: The record.
        place: Where it is, for the failure.
        loader: What reads it.
    """
    text, title, name, source = (value.get(key) for key in ("text", "title", "id", "source"))
    written, key = str(text), "" if name is None else str(name)
    problem = flaw(value)
    problems = (
        (problem is not None, problem),
        (text is None, f"no `text`: {SHAPES}"),
        (not isinstance(text, str), f"`text` is not a string: {SHAPES}"),
        (not written.strip(), "empty: `text` is only white space"),
        (not isinstance(title, str | None), "`title` is not a string"),
        (len(written) + len(str(title or "")) > MAX_LINE, f"a record of more than {MAX_LINE // 2**20} MiB"),
        (
            not isinstance(name, str | int | None) or isinstance(name, bool),
            "`id` is neither a string nor a whole number",
        ),
        (not isinstance(source, str | None), "`source` is not a string"),
    )
    if reason := next((reason for wrong, reason in problems if wrong), None):
        return Failure(place, reason)
    shown = str(title or "")
    source = "#".join(part for part in (str(source or ""), key) if part) or named(shown, written)
    passages = tuple(Passage(part, shown, n) for n, part in enumerate(pieces(written)))
    meta = metadata((key, part) for key, part in value.items() if key not in OWN)
    return Document(source, shown, passages, loader, meta=meta)


def named(title: str, text: str) -> str:
    """Return the source of a record without a name of its own, by what it says: the same in whatever file,
    order or half it comes."""
    return f"{title}#{content_id(title, text)[:12]}"


def pieces(text: str) -> list[str]:
    """Return the passages of a record's text: one, if it is not very long."""
    return [text] if words(text) <= SENTENCE_LIMIT else split(paragraphs(text))


def titled(passage: str) -> tuple[str, str]:
    """Return title and text of a passage that was written as title, newline, text."""
    title, _, text = passage.partition("\n")
    return (title, text) if len(title) < _TITLE and text.strip() else ("", passage)


def flaw(value: object) -> str | None:
    """Return why no database holds what a record says, if that is so."""
    try:
        written = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deeply"
    if _UNSTORABLE.search(written) is None:
        return None
    return r"a NUL (\u0000) or half a surrogate pair (\ud800 to \udfff), which no database holds"


# --- what is found in a text ---

_WORD = re.compile(r"\w+")
Entity: TypeAlias = tuple[str, Sequence[Role]]


class Places:
    """Where among some passages a name occurs; what occurs in none is put in the first."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._first = passages[0].position
        self._with: dict[str, set[int]] = defaultdict(set)
        for passage in passages if len(passages) > 1 else ():
            for word in _WORD.findall(passage.full_text.casefold()):
                self._with[word].add(passage.position)
        # Many questions of a long text have the same answer, which may occur everywhere.
        self._best = cache(self._count)

    def of(self, name: str) -> list[int]:
        """Return the passages that have all words of a name."""
        return sorted(self._having(name)) or [self._first]

    def best(self, names: Iterable[str]) -> int:
        """Return the passage that has the most of some names, the first of several."""
        return self._best(tuple(names)) if self._with else self._first

    def _count(self, names: tuple[str, ...]) -> int:
        counts = Counter(position for name in names for position in self._having(name))
        return min(counts, key=lambda position: (-counts[position], position), default=self._first)

    def _having(self, name: str) -> set[int]:
        words = set(_WORD.findall(name.casefold())) if self._with else set()
        having = sorted((self._with.get(word, set()) for word in words), key=len)
        return set.intersection(*having) if having else set()


def add_contents(
    assembler: Assembler, places: Places, entities: Iterable[Entity], phrases: Iterable[Phrase] = ()
) -> None:
    """Add entities, each in every passage it occurs in, and verb phrases where their answers occur."""
    for name, roles in entities:
        for position in places.of(name):
            if not assembler.entity(name, position, roles):
                break
    for phrase, questions in phrases:
        answers = (answer for _, answers in questions for answer in answers)
        assembler.verb_phrase(phrase, questions, places.best(answers))


def finished(assembler: Assembler, extractor: str, place: str, faults: Iterable[str]) -> Iterator[Item]:
    """Yield the workspace, and what is wrong with parts of it."""
    yield place, assembler.workspace(extractor)
    yield from (Failure(place, fault, part=True) for fault in shortened([*faults, *assembler.faults]))


def read_openie(record: Record) -> Iterator[Item]:
    """Yield the workspace of the entities, triples and propositions of a passage."""
    return read_workspace(
        record, "propositions" if {"passage", "propositions"} <= record.value.keys() else "openie"
    )


def read_workspace(record: Record, loader: str = "workspaces") -> Iterator[Item]:
    """Yield the workspace of one record, then what is wrong with parts of it."""
    value, passage = record.value, record.value.get("passage")
    own = loader == "workspaces"
    titled_text = isinstance(value.get("title"), str) and isinstance(value.get("text"), str)
    if not own and not titled_text and isinstance(passage, str):
        value = {**value, **dict(zip(("title", "text"), titled(passage), strict=True))}
    document = record_document(value, record.place, loader)
    if isinstance(document, Failure):
        yield document
        return
    assembler, places, node = Assembler(document), Places(document.passages), Node(value)
    if own:
        entities = [(name, list(entity.roles())) for name, entity in node.objects("entities", name=("name",))]
        phrases = node.phrases("verb_phrases", answers=lambda question: [*question.answers({})])
        add_contents(assembler, places, entities, phrases)
    else:
        add_contents(assembler, places, [(name, []) for name in node.texts("extracted_entities")])
        _add_triples(assembler, places, node)
    for text, names in node.facts("propositions"):
        assembler.proposition(text, names, places.best(names or [text]))
    yield from finished(assembler, loader, record.place, node.faults)


def _add_triples(assembler: Assembler, places: Places, node: Node) -> None:
    """Add the triples of a passage; those that are none are one fault, as they may be many."""
    triples = node.value.get("extracted_triples", [])
    if not isinstance(triples, list):
        node.faults.append("`extracted_triples` is not a list")
        return
    bad = []
    for triple in triples:
        texts = triple if isinstance(triple, list) and len(triple) == 3 else ()
        if texts and all(isinstance(text, str) and text.strip() for text in texts):
            assembler.triple(triple[0], triple[1], triple[2], places.best(triple[::2]))
        else:
            bad.append(triple)
    if bad:
        shown = f"{len(bad)} of {len(triples)} triples, the first {repr(bad[0])[:80]}"
        node.faults.append(f"left out, being no three texts: {shown}")
