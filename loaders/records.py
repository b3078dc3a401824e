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
several passages, a part stands where its names stand.

OpenIE results as HippoRAG keeps them: `{"docs": [{"passage", "extracted_entities": [...],
"extracted_triples": [[s, p, o], ...]}]}`, and propositions as PropRAG does, with `"propositions": [{"text",
"entities"}]` beside, or instead of, triples. `passage` is title, newline, text; where the record has `title`
and `text` these are taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, TypeAlias

from gsw_graph.load.assemble import Assembler, QuestionAndAnswers, Role
from gsw_graph.loaders.files import MAX_LINE, Item, Record, shortened, storable
from gsw_graph.loaders.split import SENTENCE_LIMIT, paragraphs, split, words
from gsw_graph.model.documents import Document, Failure, Passage, content_id

SHAPES = (
    'understood are {"title": ..., "text": ..., "id"?, "source"?}, one a line (JSONL) or in one JSON '
    'array; the same with "entities", "verb_phrases" or '
    '"propositions"; Panini\'s workspaces ("entity_nodes"); OpenIE results and propositions ({"docs": [...]})'
)
_TITLE = 200  # characters; a longer first line is text


def read_record(record: Record) -> Iterator[Item]:
    """The document of one record, or what is wrong with it."""
    found = record_document(record.value, record.place, "corpus")
    yield found if isinstance(found, Failure) else (record.place, found)


def record_document(value: Mapping[str, object], place: str, loader: str) -> Document | Failure:
    """The document of `title`, `text`, `id` and `source`, or what is wrong with it."""
    if reason := flaw(value):
        return Failure(place, reason)
    text, title = value.get("text"), value.get("title")
    title = "" if title is None else title
    if not isinstance(text, str):
        return Failure(place, f"{'no `text`' if text is None else '`text` is not a string'}: {SHAPES}")
    if not text.strip():
        return Failure(place, "empty: `text` is only white space")
    if not isinstance(title, str):
        return Failure(place, "`title` is not a string")
    if len(text) + len(title) > MAX_LINE:
        return Failure(place, f"a record of more than {MAX_LINE // 2**20} MiB")
    name, source = value.get("id"), value.get("source")
    if not isinstance(name, str | int | None) or isinstance(name, bool):
        return Failure(place, "`id` is neither a string nor a whole number")
    if not isinstance(source, str | None):
        return Failure(place, "`source` is not a string")
    key = "" if name is None else str(name)
    source = "#".join(part for part in (source, key) if part) or named(title, text)
    return Document(
        source, title, tuple(Passage(part, title, n) for n, part in enumerate(pieces(text))), loader
    )


def named(title: str, text: str) -> str:
    """The source of a record without a name of its own, by what it says: the same in whatever file, order
    or half it comes."""
    return f"{title}#{content_id(title, text)[:12]}"


def pieces(text: str) -> list[str]:
    """The passages of a record's text: one, if it is not very long."""
    return [text] if words(text) <= SENTENCE_LIMIT else split(paragraphs(text))


def titled(passage: str) -> tuple[str, str]:
    """Title and text of a passage that was written as title, newline, text."""
    title, _, text = passage.partition("\n")
    return (title, text) if len(title) < _TITLE and text.strip() else ("", passage)


def flaw(value: object) -> str | None:
    """Why no database holds what a record says, if that is so."""
    try:
        sound = _sound(value)
    except RecursionError:
        return "nested too deeply"
    return (
        None
        if sound
        else r"a NUL (\u0000) or half a surrogate pair (\ud800 to \udfff), which no database holds"
    )


def _sound(value: object) -> bool:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return all(_sound(part) for pair in value.items() for part in pair)
    return not isinstance(value, list) or all(map(_sound, value))


# --- what is found in a text ---

_WORD = re.compile(r"\w+")
Entity: TypeAlias = tuple[str, list[Role]]
Phrase: TypeAlias = tuple[str, list[QuestionAndAnswers]]


@dataclass(frozen=True, slots=True)
class Node:
    """An object of a file and the path that leads to it. What is not of the type asked for is left out,
    and a fault with its path."""

    value: dict[str, object]
    path: str = ""
    faults: list[str] = field(default_factory=list)

    def string(self, key: str) -> str | None:
        """The text under a key; None, and a fault, where there is none."""
        value = self.value.get(key)
        if isinstance(value, str):
            return value
        self.faults.append(
            f"`{self._at(key)}` is missing" if value is None else f"`{self._at(key)}` is not a string"
        )
        return None

    def strings(self, key: str) -> list[str]:
        """Return the texts of a list."""
        return [text for _, text in self._members(key, str, "is not a string")]

    def objects(self, key: str) -> Iterator[Node]:
        """Yield the objects of a list."""
        objects = self._members(key, dict, "is not an object")
        return (Node(value, path, self.faults) for path, value in objects)

    def facts(self, key: str) -> Iterator[tuple[str, list[str]]]:
        """Yield propositions: a text with the entities in it, or a text alone."""
        for path, value in self._members(key, str | dict, "is neither a string nor an object"):
            if isinstance(value, str):
                yield value, []
            elif (text := (node := Node(value, path, self.faults)).string("text")) is not None:
                yield text, node.strings("entities")

    def roles(self) -> list[Role]:
        """Return the roles of an entity with their states."""
        return [
            (role, node.strings("states"))
            for node in self.objects("roles")
            if (role := node.string("role")) is not None
        ]

    def phrases(self, key: str, answers: Callable[[Node], list[str]]) -> list[Phrase]:
        """Return verb phrases with their questions.

        Args:
            key: Under which they are.
            answers: Gives the answers of a question.
        """
        return [
            (
                phrase,
                [
                    (text, answers(q))
                    for q in node.objects("questions")
                    if (text := q.string("text")) is not None
                ],
            )
            for node in self.objects(key)
            if (phrase := node.string("phrase")) is not None
        ]

    def answers(self) -> list[str]:
        """Return the answers of a question; null, "None" and a blank one are none."""
        if self.value.get("answers") is None:
            return []
        texts = (text.strip() for _, text in self._members("answers", str | None, "is not a string") if text)
        return [text for text in texts if text not in ("", "None")]

    def _members(self, key: str, kinds: type | UnionType, fault: str) -> Iterator[tuple[str, Any]]:
        """Yield the paths and the members of a list that are of some kinds, and note a fault for others."""
        values = self.value.get(key, [])
        if not isinstance(values, list):
            self.faults.append(f"`{self._at(key)}` is not a list")
            return
        for n, value in enumerate(values):
            path = f"{self._at(key)}[{n}]"
            if isinstance(value, kinds):
                yield path, value
            else:
                self.faults.append(f"`{path}` {fault}")

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


class Places:
    """Where among some passages a name stands; what stands in none is put in the first."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._first = passages[0].position
        self._with: dict[str, set[int]] = {}
        self._best: dict[
            tuple[str, ...], int
        ] = {}  # many questions of a long text have the same answer, which may stand everywhere
        for passage in passages if len(passages) > 1 else ():
            for word in _WORD.findall(passage.full_text.casefold()):
                self._with.setdefault(word, set()).add(passage.position)

    def of(self, name: str) -> list[int]:
        """The passages that have all words of a name."""
        return sorted(self._having(name)) or [self._first]

    def best(self, names: Iterable[str]) -> int:
        """The passage that has the most of some names, the first of several."""
        if not self._with:
            return self._first
        if (key := tuple(names)) not in self._best:
            counts = Counter(position for name in key for position in self._having(name))
            self._best[key] = min(
                counts, key=lambda position: (-counts[position], position), default=self._first
            )
        return self._best[key]

    def _having(self, name: str) -> set[int]:
        words = set(_WORD.findall(name.casefold())) if self._with else set()
        return (
            set.intersection(*sorted((self._with.get(word, set()) for word in words), key=len))
            if words
            else set()
        )


def add_contents(
    assembler: Assembler, places: Places, entities: Iterable[Entity], phrases: Iterable[Phrase] = ()
) -> None:
    """Add entities, each in every passage it stands in, and verb phrases where their answers stand."""
    for name, roles in entities:
        for position in places.of(name):
            if not assembler.entity(name, position, roles):
                break
    for phrase, questions in phrases:
        answers = (answer for _, answers in questions for answer in answers)
        assembler.verb_phrase(phrase, questions, places.best(answers))


def finished(assembler: Assembler, extractor: str, place: str, faults: Iterable[str]) -> Iterator[Item]:
    """Yield the workspace, and what is wrong with parts of it."""
    workspace = assembler.workspace(extractor)
    yield place, workspace
    told = shortened([*faults, *assembler.faults])
    yield from (Failure(place, fault, part=True) for fault in told)


def read_workspace(record: Record) -> Iterator[Item]:
    """Yield the workspace of a record of our shape."""
    return _read(record, "workspaces")


def read_openie(record: Record) -> Iterator[Item]:
    """Yield the workspace of the entities, triples and propositions of a passage."""
    return _read(record, "propositions" if {"passage", "propositions"} <= record.value.keys() else "openie")


def _read(record: Record, loader: str) -> Iterator[Item]:
    """Yield the workspace of one record, then what is wrong with parts of it."""
    value, passage = record.value, record.value.get("passage")
    own = loader == "workspaces"
    named = isinstance(value.get("title"), str) and isinstance(value.get("text"), str)
    if not own and not named and isinstance(passage, str):
        value = {**value, **dict(zip(("title", "text"), titled(passage), strict=True))}
    document = record_document(value, record.place, loader)
    if isinstance(document, Failure):
        yield document
        return
    assembler, places, node = Assembler(document), Places(document.passages), Node(value)
    if own:
        entities = [
            (name, entity.roles())
            for entity in node.objects("entities")
            if (name := entity.string("name")) is not None
        ]
        phrases = node.phrases(
            "verb_phrases", lambda question: [text.removeprefix("TEXT:") for text in question.answers()]
        )
        add_contents(assembler, places, entities, phrases)
    else:
        add_contents(assembler, places, [(name, []) for name in node.strings("extracted_entities")])
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
    for subject, relation, object_ in filter(_is_triple, triples):
        assembler.triple(subject, relation, object_, places.best([subject, object_]))
    if bad := [triple for triple in triples if not _is_triple(triple)]:
        node.faults.append(
            f"left out, being no three texts: {len(bad)} of {len(triples)} triples, the first "
            f"{repr(bad[0])[:80]}"
        )


def _is_triple(triple: object) -> bool:
    return (
        isinstance(triple, list)
        and len(triple) == 3
        and all(isinstance(part, str) and part.strip() for part in triple)
    )
