"""Assemble a workspace from the lists that files and models write: names as text, in any order, with
faults."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from gsw_graph.model.documents import Document, Entity, Proposition, QAPair, VerbPhrase, Workspace, storable
from gsw_graph.text.dates import find_dates
from gsw_graph.text.names import normalise
from gsw_graph.text.words import CONNECTORS, FUNCTION_WORDS, WORD
from gsw_graph.values import Fields, single_spaced, unique

_LONGEST = 10  # words of a name that a question is searched for
_KINDS = {type(None): "null", bool: "true or false", str: "a string", list: "a list", dict: "an object"}
_SMALL_WORDS = FUNCTION_WORDS | CONNECTORS

Role = tuple[str, Sequence[str]]
QuestionAndAnswers = tuple[str, Sequence[str]]  # a question and its answers
Phrase = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]  # with its questions
Mention = tuple[str, str | None]  # a name and its part in a triple


@dataclass(frozen=True, slots=True)
class Node:
    """Read an object of JSON by its path. A value of another type is left out, and noted as a fault with its
    path. A null list counts as empty, a single text as a list, a number as a text.

    Attributes:
        value: The object.
        path: Path to the object.
        faults: Faults of the object and of objects within.
        most: Largest number of items in a list.
        longest: Largest number of characters in a text.
    """

    value: Fields
    path: str = ""
    faults: list[str] = field(default_factory=list)
    most: int = sys.maxsize
    longest: int = sys.maxsize

    def text(self, *keys: str) -> str | None:
        """Return the text under the first of some keys that exists; None, and a fault, without one."""
        key = self._first(keys)
        if key not in self.value:
            self.faults.append(f"`{self._at(key)}` is missing")
            return None
        return self._text(self.value[key], self._at(key))

    def texts(self, *keys: str) -> list[str]:
        """Return the texts of a list."""
        texts = [self._text(value, path) for path, value in self._listed(keys)]
        return [text for text in texts if text is not None]

    def objects(self, *keys: str, name: Sequence[str]) -> Iterator[tuple[str, Node]]:
        """Yield the objects of a list, each with its text under `name`."""
        for path, value in self._listed(keys):
            if not isinstance(value, dict):
                self.faults.append(f"`{path}` is not an object but {kind_of(value)}")
                continue
            node = replace(self, value=value, path=path)
            text = node.text(*name)
            if text is not None:
                yield text, node

    def propositions(self) -> Iterator[tuple[str, list[str]]]:
        """Yield propositions: a text with the entities in it, or a text alone."""
        for path, value in self._listed(("propositions",)):
            if not isinstance(value, dict):
                value = {"text": value}
            node = replace(self, value=value, path=path)
            text = node.text("text")
            if text is not None:
                yield text, node.texts("entities")

    def roles(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the roles of an entity with their states; "role: state; state" is one too."""
        for path, value in self._listed(("roles",)):
            if isinstance(value, dict):
                node = replace(self, value=value, path=path)
                role = node.text("role")
                states = node.texts("states")
            else:
                text = self._text(value, path) or ""
                role, _, written = text.partition(":")
                states = written.split(";")
            if role and role.strip():
                yield role.strip(), tuple(filter(None, map(str.strip, states)))

    def phrases(self, *keys: str, answers: Callable[[Node], Iterable[str]]) -> Iterator[Phrase]:
        """Yield verb phrases with their questions; `answers` gives the answers of a question."""
        for phrase, node in self.objects(*keys, name=("phrase",)):
            questions = []
            for text, question in node.objects("questions", name=("question", "text")):
                questions.append((text, tuple(answers(question))))
            yield phrase, tuple(questions)

    def answers(self, names: Mapping[str, str], id_forms: Collection[str] = ()) -> Iterator[str]:
        """Yield the answers of a question as names and texts; null, "None" and a blank one are none.

        Args:
            names: Of entities, by their ids.
            id_forms: The `id_form` of the ids there may be: an answer that has one, and is the id of no
                entity, is a fault.
        """
        for path, value in self._listed(("answers",)):
            text = "" if value is None else self._text(value, path)
            answer = (text or "").strip()
            if answer in names:
                yield names[answer]
            elif id_form(answer) in id_forms:
                self.faults.append(f"`{path}` is {answer[:40]!r}, the id of no entity")
            elif answer and answer != "None":
                yield answer.removeprefix("TEXT:").strip()

    def _text(self, value: object, path: str) -> str | None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            self.faults.append(f"`{path}` is not a string but {kind_of(value)}")
        elif len(value) > self.longest:
            self.faults.append(f"`{path}` has more than {self.longest} characters")
        else:
            return storable(value)
        return None

    def _listed(self, keys: Sequence[str]) -> list[tuple[str, Any]]:
        key = self._first(keys)
        path = self._at(key)
        value = self.value.get(key)
        if value is None or value == "":
            return []
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            self.faults.append(f"`{path}` is not a list but {kind_of(value)}")
            return []
        if len(value) > self.most:
            self.faults.append(f"`{path}` has more than {self.most} items")
            return []
        return [(f"{path}[{number}]", item) for number, item in enumerate(value)]

    def _first(self, keys: Sequence[str]) -> str:
        return next((key for key in keys if key in self.value), keys[0])

    def _at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


def kind_of(value: object) -> str:
    """Name the type of a value of JSON."""
    return _KINDS.get(type(value), "a number")


def id_form(key: str) -> str:
    """Return how an id is written, whatever its number and the chunk it names: e17 and 3_0::e2 are e0."""
    if key.startswith("TEXT:"):
        return ""
    number = key.rpartition("::")[2]
    return re.sub("[0-9]+", "0", number)


@dataclass(slots=True)
class _EntityDraft:
    passages: dict[int, None] = field(default_factory=dict)
    roles: dict[str, dict[str, None]] = field(default_factory=dict)


class Assembler:
    """Gather the entities and facts of a document and make its workspace.

    A name as written identifies an entity: the same name twice is one entity with the roles of both. Two
    spellings stay two entities that share a concept. Unusable parts are left out and named in `faults`.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[str] = []
        self._things: dict[str, _EntityDraft] = {}
        self._phrases: list[tuple[str, int, list[QuestionAndAnswers]]] = []
        self._facts: list[tuple[str, int, list[Mention], str | None]] = []

    def entity(self, name: str, passage: int = 0, roles: Iterable[Role] = ()) -> bool:
        """Add a name that occurs in the passage at this position; False, and a fault, if it is none
        (blank, or far too long)."""
        name = _plain(name)
        if not normalise(name):
            self.faults.append(f"an entity {name[:40]!r} whose name is blank or too long was left out")
            return False
        thing = self._things.setdefault(name, _EntityDraft())
        thing.passages[passage] = None
        for role, states in roles:
            if role.strip():
                known = thing.roles.setdefault(role.strip(), {})
                known.update(dict.fromkeys(filter(None, map(str.strip, states))))
        return True

    def verb_phrase(self, phrase: str, pairs: Iterable[QuestionAndAnswers], passage: int = 0) -> None:
        """Add what happens or holds, with the questions it answers; answers are the names of entities or any
        text, and may be none."""
        sound: list[QuestionAndAnswers] = []
        for question, answers in pairs:
            if question.strip():
                texts = list(filter(None, map(_plain, answers)))
                sound.append((question.strip(), texts))
            else:
                self.faults.append(f"an empty question of the verb phrase {phrase[:40]!r} was left out")
        if phrase.strip() or sound:
            self._phrases.append((phrase.strip(), passage, sound))
        else:
            self.faults.append("an empty verb phrase was left out")

    def proposition(self, text: str, names: Iterable[str] = (), passage: int = 0) -> None:
        """Add a fact as a sentence, and the names in it; a name that is no entity yet becomes one."""
        self._fact(text, [(name, None) for name in names], None, passage)

    def triple(self, subject: str, relation: str, object_: str, passage: int = 0) -> None:
        """Add a fact as subject, relation and object; both become entities."""
        names = [(subject, "subject"), (object_, "object")]
        self._fact(f"{subject} {relation} {object_}", names, relation.strip(), passage)

    def _fact(self, text: str, names: Sequence[Mention], relation: str | None, passage: int) -> None:
        text = _plain(text)
        if not text:
            self.faults.append("an empty proposition was left out")
            return
        mentions = [(_plain(name), part) for name, part in names if self.entity(name, passage)]
        self._facts.append((text, passage, mentions, relation))

    def workspace(self, extractor: str) -> Workspace:
        """Return all that was gathered. Questions get the entities they name; dates get the days they cover;
        titles are marked."""
        by_key: dict[str, list[str]] = {}
        for name in self._things:
            by_key.setdefault(normalise(name), []).append(name)
        titles: dict[int, str] = {}
        if self.document.titled:
            titles = {passage.position: normalise(passage.title) for passage in self.document.passages}
        entities = tuple(self._entity(name, thing, titles) for name, thing in self._things.items())
        phrases = tuple(self._verb_phrases(by_key))
        return Workspace(self.document, extractor, entities, phrases, tuple(self._propositions()))

    def _entity(self, name: str, thing: _EntityDraft, titles: dict[int, str]) -> Entity:
        key = normalise(name)
        roles = tuple((role, tuple(states)) for role, states in thing.roles.items())
        titled = tuple(passage for passage in thing.passages if titles.get(passage) == key)
        entity = Entity(name, key, tuple(thing.passages), titled, roles)
        for date in find_dates(name):
            if date.days and date.text == name:
                first, last = date.days
                return replace(entity, from_=first, to=last)
        return entity

    def _verb_phrases(self, by_key: dict[str, list[str]]) -> Iterator[VerbPhrase]:
        """Yield verb phrases with each pair once: the same question with the same answers in one passage is
        one pair, asked by the first phrase."""
        seen: set[tuple[int, str, tuple[str, ...]]] = set()
        words = words_of(by_key)
        for phrase, passage, questions in self._phrases:
            pairs = []
            for question, written in questions:
                answers = tuple(dict.fromkeys(written))
                key = (passage, question, answers)
                if key in seen:
                    self.faults.append(
                        f"the question {question[:60]!r} occurs twice with the same answers and was kept once"
                    )
                    continue
                seen.add(key)
                about: list[str] = []
                for name_key in named(question, by_key, words):
                    about += by_key[name_key]
                pairs.append(QAPair(question, answers, tuple(about)))
            yield VerbPhrase(phrase, passage, tuple(pairs))

    def _propositions(self) -> Iterator[Proposition]:
        seen: set[tuple[str, int, str | None]] = set()
        for text, passage, mentions, relation in self._facts:
            key = (text, passage, relation)
            if key not in seen:
                seen.add(key)
                yield Proposition(text, passage, tuple(dict.fromkeys(mentions)), relation)


def named(text: str, keys: Collection[str], words: frozenset[str] | None = None) -> list[str]:
    """Return the names that a text contains, of some normal forms, in the order of the text. Of overlapping
    names the longest counts.

    words: `words_of(keys)`, for a caller with many texts.
    """
    vocabulary = words_of(keys) if words is None else words
    tokens = list(WORD.finditer(text))
    # Most of a text is in no name; only the words between need their normal form.
    free = [vocabulary.issuperset(_parts(token[0])) for token in tokens]
    found: dict[int, str] = {}
    for is_free, group in groupby(range(len(tokens)), key=tuple(free).__getitem__):
        if not is_free:
            continue
        places = list(group)
        end = places[-1] + 1
        for length in range(min(_LONGEST, len(places)), 0, -1):
            for first in range(places[0], end - length + 1):
                last = first + length
                span = tokens[first:last]
                if not all(free[first:last]):
                    continue
                if all(token[0].casefold() in _SMALL_WORDS for token in span):
                    continue
                start, stop = span[0].start(), span[-1].end()
                key = normalise(text[start:stop])
                if key in keys:
                    free[first:last] = [False] * length
                    found[first] = key
    return unique(found[first] for first in sorted(found))


def _plain(text: str) -> str:
    """Return a text with one space between words."""
    return single_spaced(text)


@lru_cache(maxsize=65536)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(WORD.findall(normalise(word)))


def words_of(keys: Iterable[str]) -> frozenset[str]:
    """Return the words of some normal forms of names."""
    return frozenset(word for key in keys for word in WORD.findall(key))
