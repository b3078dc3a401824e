"""What a memory says of its concepts, gathered in one pass over its passages; what it holds grows with the
mentions of names, not with the texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from gsw_graph.merging.kinds import kinds
from gsw_graph.merging.stated import Name, Statement, places, statements

COMMON = 30  # passages: a name in more of them is no sign that two others are one
_LOOKED_AT = 100  # passages of a name
_ROLES = 6  # of a concept, kept for people and models to read
_BORN = re.compile(r"\s*\(\s*(?:[^()]{0,60}?\b)?(?:born|b\.)?[^()]{0,40}?\b(1[0-9]{3}|20[0-2][0-9])\b")


@dataclass(slots=True)
class Concept:
    """A concept and where it stands: passages and documents by number. spellings: as written. titles: the
    passages that it is the title of. born: first years in parentheses behind it."""

    id: str
    spellings: set[str] = field(default_factory=set)
    passages: list[int] = field(default_factory=list)
    documents: set[int] = field(default_factory=set)
    titles: set[int] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    known: int = 0  # mentions whose roles tell a kind
    roles: list[str] = field(default_factory=list)
    born: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """As the memory shows it."""
        return max(self.spellings)

    @property
    def kind(self) -> set[str]:
        """The kinds that at least half of its mentions with a known kind have."""
        return {kind for kind, count in self.kinds.items() if 2 * count >= self.known}

    @property
    def mixed(self) -> bool:
        """Whether some of its mentions are of no kind that most are."""
        return bool(self.kind) and max(self.kinds[kind] for kind in self.kind) < 0.9 * self.known


class Seen:
    """All concepts that are no dates, and what passages state of them."""

    def __init__(self) -> None:
        self.concepts: dict[str, Concept] = {}
        self.passages: list[str] = []  # ids
        self.inside: list[list[str]] = []  # the concepts of each passage
        self.stated: list[tuple[Statement, int]] = []
        self.document_of: list[int] = []  # of each passage
        self._documents: dict[str, int] = {}

    def add(self, document: str, passage: str, title: str, text: str, names: Sequence[Name]) -> None:
        """Take in a passage."""
        number = len(self.passages)
        self.passages.append(passage)
        place = self._documents.setdefault(document, len(self._documents))
        self.document_of.append(place)
        self.inside.append(list(dict.fromkeys(name.key for name in names)))
        for name in names:
            concept = self.concepts.setdefault(name.key, Concept(name.key))
            concept.spellings.add(name.written)
            if not concept.passages or concept.passages[-1] != number:
                concept.passages.append(number)
            concept.documents.add(place)
            if name.title:
                concept.titles.add(number)
            if found := kinds(role for role, _ in name.roles):
                concept.kinds.update(found)
                concept.known += 1
            for role, states in name.roles:
                if len(concept.roles) < _ROLES:
                    concept.roles.append(f"{role}: {', '.join(states)}" if states else role)
            for _, end in places(text, name.written) if "(" in text else ():
                if born := _BORN.match(text, end):
                    concept.born.add(born[1])
        self.stated += ((one, number) for one in statements(title, text, names))

    def neighbours(self, concept: Concept, without: Collection[int] = ()) -> set[str]:
        """Names beside a concept, in other passages than some, that stand in few passages."""
        return {
            other
            for passage in concept.passages[:_LOOKED_AT]
            if passage not in without
            for other in self.inside[passage]
            if len(self.concepts[other].passages) <= COMMON
        }

    def shared(self, one: Concept, other: Concept) -> set[str]:
        """Rare names that stand beside both, in different passages."""
        both = set(one.passages) & set(other.passages)
        return self.neighbours(one, both) & self.neighbours(other, both) - {one.id, other.id}


def gather(rows: Iterable[tuple[str, str, str, str, Sequence[Name]]]) -> Seen:
    """What rows of a document, a passage, its title, its text and its names say."""
    seen = Seen()
    for row in rows:
        seen.add(*row)
    return seen
