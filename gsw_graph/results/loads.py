"""What a load did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.model import Failure
from gsw_graph.results.result import Result

if TYPE_CHECKING:
    from gsw_graph.inference.costs import Entry


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many documents a load found in which state."""

    new: int = 0
    unchanged: int = 0
    replaced: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Estimate(Result):
    """What a load by a language model would take: calls to make, replies that are kept or ordered by a
    batch, tokens, dollars where the price is known."""

    model: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None


@dataclass(frozen=True)
class LoadReport(Result):
    """What a load did. `nodes` counts what it wrote, by label; `seconds` has read, extract, embed, write,
    index and total, which overlap.

    `skipped`: what holds nothing to load (pictures, archives, empty files) or was left out (links out of a
    folder), which is no failure.
    With a language model: `faults` are things of its replies that were left out; `tokens`, `calls`
    (`failed_calls` of them gave no reply
    that can be used), `cached` and `dollars` what it took together, `ledger` the same by document, stage and
    model. `estimate`: what a dry
    run expects. `left_out`: what was left out of documents that were loaded, counted by kind (comments,
    pictures); `skipped` says it by document. `note`: what may have been meant and was not done.
    """

    documents: DocumentCounts
    nodes: dict[str, int]
    failures: list[Failure]
    seconds: dict[str, float]
    tokens: dict[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})
    calls: int = 0
    failed_calls: int = 0
    cached: int = 0
    dollars: float | None = None
    faults: list[Failure] = field(default_factory=list)
    ledger: list[Entry] = field(default_factory=list)
    estimate: Estimate | None = None
    note: str | None = None
    skipped: list[Failure] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for skipped in self.skipped if not self.left_out else ():
            for kind, number in getattr(skipped, "kinds", ()):
                self.left_out[kind] = self.left_out.get(kind, 0) + number
