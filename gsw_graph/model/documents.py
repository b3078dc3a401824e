"""Hold documents and workspaces as data: loaders read documents, extractors fill workspaces, the writer
stores both. This file knows no database."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from gsw_graph.text.dates import find_dates
from gsw_graph.text.languages import Language, detect, language_of
from gsw_graph.values import single_spaced, unique

Value: TypeAlias = "str | int | float | bool | list[str]"
"""Of metadata."""
# Of metadata: keys of a document, characters of a text, items of a list, objects within objects.
_KEYS, _CHARACTERS, _ITEMS, _DEPTH = 100, 2000, 100, 4
_DATED = ("about", "date", "published", "created", "sent")  # keys of the date that a document is about
_READ = 8  # passages of a document that tell its language
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_]|$)")  # de, de-AT
_DAY_FIRST = re.compile(r"\A(0?[1-9]|[12]\d|3[01])\. ?(0?[1-9]|1[0-2])\. ?(\d{4})\b")  # 5.3.2024
_CLOCK = re.compile(r"\d\d:\d\d:\d\d")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?")


def content_id(*parts: str) -> str:
    """Return a stable id: 128 bits of BLAKE2b over the parts, in hexadecimal. The length before each part
    keeps different lists apart."""
    written: list[bytes] = []
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        written += (len(data).to_bytes(8, "big"), data)
    return hashlib.blake2b(b"".join(written), digest_size=16).hexdigest()


def source_paths(name: str, folder: str | Path) -> list[str]:
    """Return the forms of a path that a source may have: as given, without `..`, and with links resolved. The
    file need not exist."""
    path = Path(folder, name).absolute()
    plain = Path(os.path.normpath(path))
    return unique(spelling.as_posix() for spelling in (plain, path, path.resolve()))


@lru_cache(maxsize=256)  # every id within a document asks for it
def _document_id(source: str) -> str:
    return content_id("document", source)


@dataclass(frozen=True, slots=True)
class Passage:
    """Hold a text that fits an embedding model. `position` counts from 0 within the document."""

    text: str
    title: str
    position: int
    # Of a document with headings: title > heading > subheading.
    section: str = field(default="", compare=False)
    # Of a turn of a conversation: who said it, and when (ISO).
    speaker: str = field(default="", compare=False)
    at: str = field(default="", compare=False)

    @property
    def headings(self) -> list[str]:
        """Return the headings of the section that the text does not repeat. A time of subtitles is no
        heading."""
        shown = {"", self.title, *self.text.split("\n")}
        headings = [heading for heading in self.section.split(" > ") if heading not in shown]
        return [heading for heading in headings if not _CLOCK.fullmatch(heading)]

    @property
    def full_text(self) -> str:
        """Return the text to embed: the title with the headings, a newline, the text. If the text starts with
        the title, the title is there once."""
        steps = self.headings
        if self.title and not self.text.startswith(f"{self.title}\n"):
            steps.insert(0, self.title)
        if not steps:
            return self.text
        return f"{' > '.join(steps)}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Document:
    """Hold a document that a loader read. `source` is its permanent name: the same source loaded again is the
    same document, new content replaces the old. `titled`: the title is of the document itself, and so a name;
    else it is the name of its file. `meta`: what is known about it, as of `metadata`; None takes a key away
    from what the memory has. `given`: keys that people gave, which stay where the document is replaced.
    `file`: where it was read, if its source does not say so."""

    source: str
    title: str
    passages: tuple[Passage, ...]
    loader: str
    titled: bool = True
    meta: Mapping[str, Value | None] = field(default_factory=dict, compare=False)
    given: tuple[str, ...] = field(default=(), compare=False)
    file: str = field(default="", compare=False)

    @property
    def about(self) -> str | None:
        """Return the date that it is about, by its metadata: an ISO day, or day and time."""
        for key in _DATED:
            date = date_of(str(self.meta.get(key, "")))
            if date:
                return date
        return None

    @property
    def language(self) -> Language:
        """Return the language in the metadata, ISO 639-1, else the detected language."""
        code = str(self.meta.get("language", "")).lower()
        if _LANGUAGE.match(code):
            return language_of(code[:2])
        return detect("\n".join(passage.text for passage in self.passages[:_READ]))

    @property
    def properties(self) -> dict[str, Value | None]:
        """Return language, metadata and date in the form of the graph, None for a removed key; and the file
        of the document."""
        properties: dict[str, Value | None] = {"language": self.language.code, "about": self.about}
        properties["given"] = list(self.given) or None
        if self.file:
            properties["file"] = self.file
        for key, value in self.meta.items():
            properties[f"meta_{key}"] = value
        return properties

    @property
    def id(self) -> str:
        return _document_id(self.source)

    @property
    def content_hash(self) -> str:
        parts = ["content", self.title]
        for passage in self.passages:
            parts += (passage.title, passage.text)
        return content_id(*parts)

    def passage_id(self, position: int) -> str:
        return content_id("passage", self.source, str(position))

    def entity_id(self, name: str) -> str:
        # A turn that is added has entities of its own.
        parts = ["entity", self.id, name]
        if self.passages and self.passages[0].position:
            parts.append(str(self.passages[0].position))
        return content_id(*parts)


def date_of(text: str) -> str | None:
    """Return the first date of a text in ISO form: a day, or day and time if the text begins with both."""
    text = _DAY_FIRST.sub(_iso_day, text)
    if time := _TIME.match(text):
        return time[0].replace(" ", "T")
    return next((date.days[0] for date in find_dates(text) if date.days), None)


def _iso_day(found: re.Match[str]) -> str:
    day, month, year = found.groups()
    return f"{year}-{month:0>2}-{day:0>2}"


def storable(text: str) -> str:
    """Return a text without NUL and halves of surrogate pairs, which no database holds."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def metadata(pairs: Iterable[tuple[str, object]], depth: int = 0) -> dict[str, Value]:
    """Return metadata as it is stored: keys of small letters, digits and _; texts, numbers, truth values and
    lists of texts. A key that comes again makes a list; an object within leads to keys of its own, at most
    four levels deep."""
    values: dict[str, list[Any]] = {}
    for key, value in pairs:
        name = re.sub(r"\W+", "_", storable(key.lower())).strip("_")[:_CHARACTERS]
        if isinstance(value, Mapping) and depth < _DEPTH:
            inner = metadata([(f"{name}_{part}", item) for part, item in value.items()], depth + 1)
            for part, item in inner.items():
                values[part] = item if isinstance(item, list) else [item]
        for item in value if isinstance(value, list | tuple | set) else (value,):
            if isinstance(item, int | float) and abs(item) < 1 << 63:  # not so of NaN
                values.setdefault(name, []).append(item)
            elif not isinstance(item, Mapping | list | tuple | set):
                text = single_spaced(storable(str(item or "")))
                if text:
                    values.setdefault(name, []).append(text[:_CHARACTERS])
    stored: dict[str, Value] = {}
    for name, items in list(values.items())[:_KEYS]:
        if name and items:
            stored[name] = items[0] if len(items) == 1 else [str(item) for item in items[:_ITEMS]]
    return stored


def typed(text: str) -> object:
    """Return a text as a number or truth value if it is one, else unchanged. True and TRUE are true, too."""
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


@dataclass(frozen=True, slots=True)
class Failure:
    """Hold a part that could not be loaded: its place (file, line or id) and the reason. `part`: the rest of
    the document was loaded."""

    source: str
    reason: str
    part: bool = False


@dataclass(frozen=True, slots=True)
class Skipped(Failure):
    """Something that was left alone, which is no fault: a picture, an archive, an empty file, a link out
    of the folder. `part` as of a failure. `kinds`: if parts of a document were left out, how many by kind; of
    a file that has no text, its kind."""

    kinds: tuple[tuple[str, int], ...] = ()


def counted(kinds: Mapping[str, int]) -> str:
    """Write counts by kind: 2 comments, 1 picture."""
    return ", ".join(f"{number:,} {kind if number == 1 else _plural(kind)}" for kind, number in kinds.items())


def _plural(kind: str) -> str:
    if kind == "hidden text":
        return kind
    return f"{kind}es" if kind.endswith(("s", "x", "ch")) else f"{kind}s"


@dataclass(frozen=True, slots=True)
class Entity:
    """Hold a name of one document, as written there. `key` is its normal form, `passages` are the positions
    of the passages with it, `titles` the positions of passages with it as title.

    `roles` are pairs of a role and its states. A date has `from_` and `to`, ISO days of the interval it
    covers (inclusive). `opens`: the name occurs only as a word that begins a sentence.
    """

    name: str
    key: str
    passages: tuple[int, ...]
    titles: tuple[int, ...] = ()
    roles: tuple[tuple[str, tuple[str, ...]], ...] = ()
    from_: str | None = None
    to: str | None = None
    opens: bool = False

    @property
    def description(self) -> str:
        """Roles and states as text."""
        return "; ".join(f"{role}: {', '.join(states)}" if states else role for role, states in self.roles)


@dataclass(frozen=True, slots=True)
class QAPair:
    """Hold a question that a passage answers. `answers` are texts as written: the name of an entity of the
    document, or a span of text; without answers the passage leaves the question open. `about` are the names
    of the entities in the question."""

    question: str
    answers: tuple[str, ...]
    about: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the text to embed and search: the question and its answers."""
        return f"{self.question} {', '.join(self.answers)}" if self.answers else self.question


@dataclass(frozen=True, slots=True)
class VerbPhrase:
    """Hold what happens or holds in the passage at position `passage`, and the pairs that ask about it."""

    phrase: str
    passage: int
    pairs: tuple[QAPair, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposition:
    """Hold a fact of the passage at position `passage`. `mentions` are names of entities with their part in
    it:
    "subject" or "object" of a triple, else None.

    A triple has its `relation`; its text is subject, relation and object.
    """

    text: str
    passage: int
    mentions: tuple[tuple[str, str | None], ...] = ()
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Workspace:
    """Hold everything that one extractor found in one document, from a file of workspaces or from `extract`.

    `model` is the language model of the extractor, if it has one. `names` are found by rules if another
    extractor wrote the entities; `linked` walks over them. `unread` are the positions of passages that the
    extractor could not read; the next load tries them again.
    """

    document: Document
    extractor: str
    entities: tuple[Entity, ...] = ()
    verb_phrases: tuple[VerbPhrase, ...] = ()
    propositions: tuple[Proposition, ...] = ()
    names: tuple[Entity, ...] | None = None
    model: str | None = None
    unread: tuple[int, ...] = ()

    @property
    def source(self) -> str:
        """Return the source of the document."""
        return self.document.source

    @property
    def content_hash(self) -> str:
        """Return a hash of all content: the texts and everything extracted from them."""
        return content_id(
            "workspace",
            self.document.content_hash,
            self.extractor,
            repr((self.entities, self.verb_phrases, self.propositions)),
        )
