"""Parts of workspaces as JSON files hold them: taken with care for their types, put in their passages, and
what was wrong with them listed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gsw_graph.assemble import Assembler, Role
from gsw_graph.loaders.files import Item
from gsw_graph.model import Failure, Passage

LISTED = 20  # faults of one document that are told one by one
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
