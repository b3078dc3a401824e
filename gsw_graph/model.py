"""The workspace as data: what a loader reads, an extractor finds and the writer stores. Nothing here knows a database."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field


def content_id(*parts: str) -> str:
    """A stable id: 128 bits of BLAKE2b over the parts, each with its length in front so that no two lists collide, in hexadecimal."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of text that fits an embedding model; `position` counts from 0 within its document."""

    text: str
    title: str
    position: int

    @property
    def full_text(self) -> str:
        """What is embedded and indexed: the title, a newline, the text; the text alone where it starts with its title."""
        if not self.title or self.text.startswith(self.title + "\n"):
            return self.text
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Document:
    """What a loader reads. `source` names it for good: the same source loaded again is the same document, new content replaces the old."""

    source: str
    title: str
    passages: tuple[Passage, ...]
    loader: str

    @property
    def id(self) -> str:
        return content_id("document", self.source)

    @property
    def content_hash(self) -> str:
        return content_id("content", self.title, *(part for p in self.passages for part in (p.title, p.text)))

    def passage_id(self, position: int) -> str:
        return content_id("passage", self.source, str(position))


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that was skipped: where (file, line or id) and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A name of one document. `passages` are the positions it stands in, `titles` those whose title it is.

    `roles` are pairs of a role and its states. A date has `from_` and `to`, ISO days of the interval it covers (inclusive).
    """

    name: str
    key: str
    passages: tuple[int, ...]
    titles: tuple[int, ...] = ()
    roles: tuple[tuple[str, tuple[str, ...]], ...] = ()
    from_: str | None = None
    to: str | None = None

    @property
    def description(self) -> str:
        """Roles and states as text."""
        return "; ".join(f"{role}: {', '.join(states)}" if states else role for role, states in self.roles)


@dataclass(frozen=True, slots=True)
class Workspace:
    """All that one extractor found in one document."""

    document: Document
    extractor: str
    entities: tuple[Entity, ...] = field(default=())
