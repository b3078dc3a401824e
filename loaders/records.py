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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gsw_graph.assemble import Assembler, Role
from gsw_graph.loaders.files import LISTED, MAX_LINE, Item, Record, storable
from gsw_graph.loaders.split import SENTENCE_LIMIT, paragraphs, split, words
from gsw_graph.model import Document, Failure, Passage, content_id

SHAPES = (
    'understood are {"title": ..., "text": ..., "id"?, "source"?}, one a line (JSONL) or in one JSON '
    'array; the same with "entities", "verb_phrases" or '
    '"propositions"; Panini\'s workspaces ("entity_nodes"); OpenIE results and propositions ({"docs": [...]})'
)
_TITLE = 200  # characters; a longer first line is text


def is_record(value: Mapping[str, object]) -> bool:
    """Whether an object means to be a corpus record."""
    return "text" in value


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
        """The texts of a list."""
        found = []
        for path, value in self._list(key):
            if isinstance(value, str):
                found.append(value)
            else:
                self.faults.append(f"`{path}` is not a string")
        return found

    def objects(self, key: str) -> Iterator[Node]:
        """The objects of a list."""
        for path, value in self._list(key):
            if isinstance(value, dict):
                yield Node(value, path, self.faults)
            else:
                self.faults.append(f"`{path}` is not an object")

    def facts(self, key: str) -> Iterator[tuple[str, list[str]]]:
        """Propositions: a text with the entities in it, or a text alone."""
        for path, value in self._list(key):
            if isinstance(value, str):
                yield value, []
            elif not isinstance(value, dict):
                self.faults.append(f"`{path}` is neither a string nor an object")
            elif (text := (node := Node(value, path, self.faults)).string("text")) is not None:
                yield text, node.strings("entities")

    def roles(self) -> list[Role]:
        """The roles of an entity with their states."""
        return [
            (role, node.strings("states"))
            for node in self.objects("roles")
            if (role := node.string("role")) is not None
        ]

    def answers(self) -> list[str]:
        """The answers of a question; null, "None" and a blank one are none."""
        if self.value.get("answers") is None:
            return []
        found = []
        for path, value in self._list("answers"):
            if isinstance(value, str):
                if value.strip() not in ("", "None"):
                    found.append(value.strip())
            elif value is not None:
                self.faults.append(f"`{path}` is not a string")
        return found

    def _list(self, key: str) -> Iterator[tuple[str, object]]:
        value = self.value.get(key, [])
        if isinstance(value, list):
            yield from ((f"{self._at(key)}[{n}]", part) for n, part in enumerate(value))
        else:
            self.faults.append(f"`{self._at(key)}` is not a list")

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


def place_entity(assembler: Assembler, places: Places, name: str, roles: Sequence[Role] = ()) -> None:
    """An entity, in every passage it stands in."""
    for position in places.of(name):
        if not assembler.entity(name, position, roles):
            return


def finished(assembler: Assembler, extractor: str, place: str, faults: Iterable[str]) -> Iterator[Item]:
    """The workspace, and what is wrong with parts of it."""
    workspace = assembler.workspace(extractor)
    yield place, workspace
    told = [*faults, *assembler.faults]
    for fault in told[:LISTED]:
        yield Failure(place, fault, part=True)
    if len(told) > LISTED:
        yield Failure(place, f"and {len(told) - LISTED} more faults", part=True)


def is_workspace(value: Mapping[str, object]) -> bool:
    """Whether an object says what was found in a text."""
    return not value.keys().isdisjoint(("entities", "verb_phrases", "propositions"))


def read_workspace(record: Record) -> Iterator[Item]:
    """The workspace of one record, then what is wrong with parts of it."""
    made = record_document(record.value, record.place, "workspaces")
    if isinstance(made, Failure):
        yield made
        return
    assembler, places, node = Assembler(made), Places(made.passages), Node(record.value)
    for entity in node.objects("entities"):
        if (name := entity.string("name")) is not None:
            place_entity(assembler, places, name, entity.roles())
    for verb in node.objects("verb_phrases"):
        if (phrase := verb.string("phrase")) is not None:
            asked = [
                (text, [a.removeprefix("TEXT:") for a in q.answers()])
                for q in verb.objects("questions")
                if (text := q.string("text")) is not None
            ]
            assembler.verb_phrase(
                phrase, asked, places.best(answer for _, answers in asked for answer in answers)
            )
    for fact, names in node.facts("propositions"):
        assembler.proposition(fact, names, places.best(names or [fact]))
    yield from finished(assembler, "workspaces", record.place, node.faults)


_SHOWN = 80  # characters of a faulty triple


def is_openie(value: Mapping[str, object]) -> bool:
    """Whether an object holds the entities or triples of a passage."""
    return not value.keys().isdisjoint(("extracted_entities", "extracted_triples")) or (
        "passage" in value and "text" not in value
    )


def read_openie(record: Record) -> Iterator[Item]:
    """The workspace of one passage, then what is wrong with parts of it."""
    made = _document(record, "openie")
    if isinstance(made, Failure):
        yield made
        return
    assembler, places, node = Assembler(made), Places(made.passages), Node(record.value)
    _names_and_triples(assembler, places, node)
    yield from finished(assembler, "openie", record.place, node.faults)


def _document(record: Record, loader: str) -> Document | Failure:
    """The document of one passage."""
    value, passage = record.value, record.value.get("passage")
    if not (isinstance(value.get("title"), str) and isinstance(value.get("text"), str)) and isinstance(
        passage, str
    ):
        title, text = titled(passage)
        value = {**value, "title": title, "text": text}
    return record_document(value, record.place, loader)


def _names_and_triples(assembler: Assembler, places: Places, node: Node) -> None:
    """The entities and triples of one passage; triples that are none are one fault, as they may be many."""
    for name in node.strings("extracted_entities"):
        place_entity(assembler, places, name)
    triples = node.value.get("extracted_triples", [])
    if not isinstance(triples, list):
        node.faults.append("`extracted_triples` is not a list")
        return
    bad = [triple for triple in triples if not _is_triple(triple)]
    for subject, relation, object_ in (triple for triple in triples if _is_triple(triple)):
        assembler.triple(subject, relation, object_, places.best([subject, object_]))
    if bad:
        node.faults.append(
            f"left out, being no three texts: {len(bad)} of {len(triples)} triples, the first "
            f"{repr(bad[0])[:_SHOWN]}"
        )


def _is_triple(triple: object) -> bool:
    return (
        isinstance(triple, list)
        and len(triple) == 3
        and all(isinstance(part, str) and part.strip() for part in triple)
    )


def is_proposition(value: Mapping[str, object]) -> bool:
    """Whether an object holds the propositions of a passage."""
    return "passage" in value and "propositions" in value


def read_proposition(record: Record) -> Iterator[Item]:
    """The workspace of one passage, then what is wrong with parts of it."""
    made = _document(record, "propositions")
    if isinstance(made, Failure):
        yield made
        return
    assembler, places, node = Assembler(made), Places(made.passages), Node(record.value)
    _names_and_triples(assembler, places, node)
    for text, names in node.facts("propositions"):
        assembler.proposition(text, names, places.best(names or [text]))
    yield from finished(assembler, "propositions", record.place, node.faults)
