"""Concepts that are one: what is merged, what would be, and what was taken apart."""

from __future__ import annotations

from dataclasses import dataclass, field

from gsw_graph.results.result import Result


@dataclass(frozen=True)
class Alias(Result):
    """Hold a concept that is the same as another.

    Attributes:
        reason: why, in words.
        score: how sure, in [0, 1].
        method: `rules`.
        run, at: of the merge (ISO, UTC); None where nothing was written.
    """

    id: str
    name: str
    passages: int
    score: float
    reason: str
    method: str = "rules"
    run: str | None = None
    at: str | None = None


@dataclass(frozen=True)
class MergeGroup(Result):
    """A canonical concept with its aliases; `passages` are its own."""

    id: str
    name: str
    passages: int
    aliases: list[Alias]


@dataclass(frozen=True)
class Suspicion(Result):
    """Two concepts that may be the same, and are not merged."""

    ids: list[str]
    names: list[str]
    score: float
    reason: str


@dataclass(frozen=True)
class Merged(Result):
    """What `merge` joined, would join (`run` is None) or has joined before. `suspicious`: pairs that are not
    sure enough."""

    run: str | None
    groups: list[MergeGroup]
    suspicious: list[Suspicion] = field(default_factory=list)


@dataclass(frozen=True)
class Unmerged(Result):
    """What `unmerge` took apart: canonical concepts and aliases by name."""

    groups: list[str]
    aliases: list[str]
