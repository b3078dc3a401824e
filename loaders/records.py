"""Records of JSON: corpora, ready workspaces, OpenIE results and propositions.

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

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from gsw_graph.loaders.files import (
    MAX_LINE,
    Items,
    Record,
    shortened,
)
from gsw_graph.loaders.split import SENTENCE_LIMIT, paragraphs, split, words
from gsw_graph.model.assemble import Assembler, Node, Phrase, Role
from gsw_graph.model.documents import Document, Failure, Passage, content_id, metadata
from gsw_graph.values import word_set

SHAPES = (
    'understood are {"title": ..., "text": ..., "id"?, "source"?}, one a line (JSONL) or in one JSON '
    'array; the same with "entities", "verb_phrases" or '
    '"propositions"; Panini\'s workspaces ("entity_nodes"); OpenIE results and propositions ({"docs": [...]})'
)
_UNSTORABLE = re.compile(r"(?<!\\)(?:\\\\)*\\u0000|[\ud800-\udfff]")  # in JSON
OWN = word_set(
    "title text id source passage entities verb_phrases propositions extracted_entities extracted_triples"
)
"""Keys of records that are no metadata."""
_TITLE = 200  # characters; a longer first line is text


def read_record(record: Record) -> Items:
    """Yield the document of a record, or its failure."""
    document = record_document(record.value, record.place, "corpus")
    yield document if isinstance(document, Failure) else (record.place, document)


def record_document(value: Mapping[str, object], place: str, loader: str) -> Document | Failure:
    """Return the document of `title`, `text`, `id` and `source`, or a failure.

    Args:
        value: The record.
        place: Place of the record, for a failure.
        loader: Name of the loader.
    """
    text, title, name, source = (value.get(key) for key in ("text", "title", "id", "source"))
    reason = flaw(value)
    if reason:
        return Failure(place, reason)
    if text is None:
        reason = f"no `text`: {SHAPES}"
    elif not isinstance(text, str):
        reason = f"`text` is not a string: {SHAPES}"
    elif not text.strip():
        reason = "empty: `text` is only white space"
    elif not isinstance(title, str | None):
        reason = "`title` is not a string"
    elif len(text) + len(title or "") > MAX_LINE:
        reason = f"a record of more than {MAX_LINE // 2**20} MiB"
    elif not isinstance(name, str | int | None) or isinstance(name, bool):
        reason = "`id` is neither a string nor a whole number"
    elif not isinstance(source, str | None):
        reason = "`source` is not a string"
    if reason:
        return Failure(place, reason)
    written = str(text)
    key = "" if name is None else str(name)
    shown = str(title or "")
    source = "#".join(filter(None, (str(source or ""), key))) or named(shown, written)
    passages = tuple(Passage(part, shown, n) for n, part in enumerate(pieces(written)))
    meta = metadata((key, part) for key, part in value.items() if key not in OWN)
    return Document(source, shown, passages, loader, meta=meta)


def named(title: str, text: str) -> str:
    """Return the source of a record without a name, from its content: the same in any file and order."""
    return f"{title}#{content_id(title, text)[:12]}"


def pieces(text: str) -> list[str]:
    """Return the passages of a record's text: one, if it is not very long."""
    return [text] if words(text) <= SENTENCE_LIMIT else split(paragraphs(text))


def titled(passage: str) -> tuple[str, str]:
    """Return title and text of a passage that was written as title, newline, text."""
    title, _, text = passage.partition("\n")
    if len(title) < _TITLE and text.strip():
        return title, text
    return "", passage


def flaw(value: object) -> str | None:
    """Return why no database can hold the content of a record, or None."""
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


class PassageIndex:
    """Find the passages in which a name occurs; a name without a passage is put in the first."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._first = passages[0].position
        self._with: dict[str, set[int]] = defaultdict(set)  # the passages that have a word
        if len(passages) > 1:
            for passage in passages:
                for word in _words(passage.full_text):
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
        counts: Counter[int] = Counter()
        for name in names:
            counts.update(self._having(name))
        most = max(counts.values(), default=0)
        return min((position for position in counts if counts[position] == most), default=self._first)

    def _having(self, name: str) -> set[int]:
        if not self._with:
            return set()
        having = [self._with.get(word, set()) for word in _words(name)]
        having.sort(key=len)  # the rarest word first: the others are only looked up
        return set.intersection(*having) if having else set()


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def add_contents(
    assembler: Assembler, places: PassageIndex, entities: Iterable[Entity], phrases: Iterable[Phrase] = ()
) -> None:
    """Add entities, each in every passage with its name, and verb phrases in the passages of their
    answers."""
    for name, roles in entities:
        for position in places.of(name):
            if not assembler.entity(name, position, roles):
                break
    for phrase, questions in phrases:
        answers = [answer for _, of_question in questions for answer in of_question]
        assembler.verb_phrase(phrase, questions, places.best(answers))


def finished(assembler: Assembler, extractor: str, place: str, faults: Iterable[str]) -> Items:
    """Yield the workspace, and failures of parts."""
    yield place, assembler.workspace(extractor)
    for fault in shortened([*faults, *assembler.faults]):
        yield Failure(place, fault, part=True)


def read_openie(record: Record) -> Items:
    """Yield the workspace of the entities, triples and propositions of a passage."""
    is_propositions = "passage" in record.value and "propositions" in record.value
    return read_workspace(record, "propositions" if is_propositions else "openie")


def read_workspace(record: Record, loader: str = "workspaces") -> Items:
    """Yield the workspace of a record, then failures of parts."""
    value, passage = record.value, record.value.get("passage")
    is_own = loader == "workspaces"
    has_text = isinstance(value.get("title"), str) and isinstance(value.get("text"), str)
    if not is_own and not has_text and isinstance(passage, str):
        title, text = titled(passage)
        value = {**value, "title": title, "text": text}
    document = record_document(value, record.place, loader)
    if isinstance(document, Failure):
        yield document
        return
    assembler, places, node = Assembler(document), PassageIndex(document.passages), Node(value)
    if is_own:
        entities = [(name, list(entity.roles())) for name, entity in node.objects("entities", name=("name",))]
        phrases = node.phrases("verb_phrases", answers=lambda question: [*question.answers({})])
        add_contents(assembler, places, entities, phrases)
    else:
        add_contents(assembler, places, [(name, []) for name in node.texts("extracted_entities")])
        _add_triples(assembler, places, node)
    for text, names in node.propositions():
        assembler.proposition(text, names, places.best(names or [text]))
    yield from finished(assembler, loader, record.place, node.faults)


def _add_triples(assembler: Assembler, places: PassageIndex, node: Node) -> None:
    """Add the triples of a passage; those that are none are one fault, as they may be many."""
    triples = node.value.get("extracted_triples", [])
    if not isinstance(triples, list):
        node.faults.append("`extracted_triples` is not a list")
        return
    bad = []
    for triple in triples:
        texts = triple if isinstance(triple, list) else []
        texts = [text for text in texts if isinstance(text, str) and text.strip()]
        if len(texts) == 3 == len(triple):
            subject, predicate, value = texts
            assembler.triple(subject, predicate, value, places.best([subject, value]))
        else:
            bad.append(triple)
    if bad:
        shown = f"{len(bad)} of {len(triples)} triples, the first {repr(bad[0])[:80]}"
        node.faults.append(f"left out, being no three texts: {shown}")
