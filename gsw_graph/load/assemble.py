"""A workspace from its parts as files and models write them: names as text, in any order, with the faults
that such lists have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from gsw_graph.model.documents import Document, Entity, Proposition, QAPair, VerbPhrase, Workspace
from gsw_graph.text.dates import find_dates
from gsw_graph.text.names import CONNECTORS, FUNCTION_WORDS, WORD, normalise

_LONGEST = 10  # words of a name that a question is searched for
_SMALL_WORDS = FUNCTION_WORDS | CONNECTORS

Role = tuple[str, Sequence[str]]
QuestionAndAnswers = tuple[str, Sequence[str]]  # a question and its answers


@dataclass(slots=True)
class _Thing:
    passages: dict[int, None] = field(default_factory=dict)
    roles: dict[str, dict[str, None]] = field(default_factory=dict)


class Assembler:
    """Gather what was found in one document and make its workspace.

    Entities are known by their name as written: the same name twice is one entity with the roles of both, and
    two spellings stay two entities that share a concept. What cannot be kept is left out and named in
    `faults`; the rest stands.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[str] = []
        self._things: dict[str, _Thing] = {}
        self._phrases: list[tuple[str, int, list[QuestionAndAnswers]]] = []
        self._facts: list[tuple[str, int, list[tuple[str, str | None]], str | None]] = []

    def entity(self, name: str, passage: int = 0, roles: Iterable[Role] = ()) -> bool:
        """Add a name that stands in the passage at this position; False, and a fault, where it is none
        (blank, or far too long)."""
        name = " ".join(name.split())
        if not normalise(name):
            self.faults.append(f"an entity {name[:40]!r} whose name is blank or too long was left out")
            return False
        thing = self._things.setdefault(name, _Thing())
        thing.passages[passage] = None
        for role, states in roles:
            if role.strip():
                thing.roles.setdefault(role.strip(), {}).update(
                    dict.fromkeys(state.strip() for state in states if state.strip())
                )
        return True

    def verb_phrase(self, phrase: str, asked: Iterable[QuestionAndAnswers], passage: int = 0) -> None:
        """Add what happens or holds, with the questions it answers; answers are the names of entities or any
        text, and may be none."""
        sound: list[QuestionAndAnswers] = []
        for question, answers in asked:
            if question.strip():
                sound.append(
                    (question.strip(), [" ".join(answer.split()) for answer in answers if answer.strip()])
                )
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
        self._fact(
            f"{subject} {relation} {object_}",
            [(subject, "subject"), (object_, "object")],
            relation.strip(),
            passage,
        )

    def _fact(
        self, text: str, names: list[tuple[str, str | None]], relation: str | None, passage: int
    ) -> None:
        if not (text := " ".join(text.split())):
            self.faults.append("an empty proposition was left out")
            return
        self._facts.append(
            (
                text,
                passage,
                [(" ".join(name.split()), part) for name, part in names if self.entity(name, passage)],
                relation,
            )
        )

    def workspace(self, extractor: str) -> Workspace:
        """Return all that was gathered. Questions get the entities they name; dates get the days they cover;
        titles are marked."""
        by_key: dict[str, list[str]] = {}
        for name in self._things:
            by_key.setdefault(normalise(name), []).append(name)
        titles = {
            p.position: normalise(p.title) if self.document.titled else "" for p in self.document.passages
        }
        entities = tuple(self._entity(name, thing, titles) for name, thing in self._things.items())
        return Workspace(
            self.document, extractor, entities, tuple(self._verb_phrases(by_key)), tuple(self._propositions())
        )

    def _entity(self, name: str, thing: _Thing, titles: dict[int, str]) -> Entity:
        key = normalise(name)
        roles = tuple((role, tuple(states)) for role, states in thing.roles.items())
        day = next((date.days for date in find_dates(name) if date.days and date.text == name), None)
        return Entity(
            name,
            key,
            tuple(thing.passages),
            tuple(p for p in thing.passages if titles[p] == key),
            roles,
            *(day or ()),
        )

    def _verb_phrases(self, by_key: dict[str, list[str]]) -> Iterator[VerbPhrase]:
        """Yield verb phrases with each pair once: the same question with the same answers in one passage is
        one pair, asked by the first phrase."""
        seen: set[tuple[int, str, tuple[str, ...]]] = set()
        words = words_of(by_key)
        for phrase, passage, asked in self._phrases:
            pairs = []
            for question, written in asked:
                answers = tuple(dict.fromkeys(written))
                if (key := (passage, question, answers)) in seen:
                    self.faults.append(
                        f"the question {question[:60]!r} stands twice with the same answers and was kept once"
                    )
                    continue
                seen.add(key)
                about = [name for name_key in named(question, by_key, words) for name in by_key[name_key]]
                pairs.append(QAPair(question, answers, tuple(about)))
            yield VerbPhrase(phrase, passage, tuple(pairs))

    def _propositions(self) -> Iterator[Proposition]:
        seen: set[tuple[str, int, str | None]] = set()
        for text, passage, mentions, relation in self._facts:
            if (key := (text, passage, relation)) not in seen:
                seen.add(key)
                yield Proposition(text, passage, tuple(dict.fromkeys(mentions)), relation)


def named(text: str, keys: Collection[str], words: frozenset[str] | None = None) -> list[str]:
    """Return those of some normal forms of names that a text names, in the order of the text: of names that
    overlap the longest.

    `words` are `words_of(keys)`, for those who ask about many texts.
    """
    known = words_of(keys) if words is None else words
    tokens = list(WORD.finditer(text))
    # Most of a text is in no name; only what lies between such words needs its normal form.
    free = [known.issuperset(_parts(token[0])) for token in tokens]
    found: list[tuple[int, str]] = []
    for is_free, group in groupby(range(len(tokens)), key=tuple(free).__getitem__):
        places = list(group)
        longest = min(_LONGEST, len(places)) if is_free else 0
        for length in range(longest, 0, -1):
            for first in range(places[0], places[-1] + 2 - length):
                if False in free[first : first + length]:
                    continue
                last = first + length - 1
                key = normalise(text[tokens[first].start() : tokens[last].end()])
                if key in keys and any(
                    token[0].casefold() not in _SMALL_WORDS for token in tokens[first : last + 1]
                ):
                    free[first : first + length] = [False] * length
                    found.append((first, key))
    return list(dict.fromkeys(key for _, key in sorted(found)))


@lru_cache(maxsize=65536)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(WORD.findall(normalise(word)))


def words_of(keys: Iterable[str]) -> frozenset[str]:
    """Return the words of some normal forms of names."""
    return frozenset(word for key in keys for word in WORD.findall(key))
