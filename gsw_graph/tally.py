"""What a load counts on its way: one record, written by the thread that called; the others hand over what
is to be added."""

from __future__ import annotations

import queue
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gsw_graph.model import Failure
from gsw_graph.results import DocumentCounts

if TYPE_CHECKING:
    from gsw_graph.inference.costs import Entry


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is. stage: `loading`, `indexing`, `waiting` (for a batch) or `waiting for a worker` (of
    a cluster, to start: others may hold its processors). documents: embedded whole. passages: embedded.
    total: passages to load, None where it is not known yet. failed: documents and passages. problem: the
    last. written: passages. answered: passages that the language model is done with, None without one;
    replies, failed_calls: of that model, as they come, repairs and second tries among them.
    """

    documents: int
    passages: int
    total: int | None
    stage: str
    failed: int = 0
    problem: str | None = None
    written: int | None = None
    answered: int | None = None
    replies: int = 0
    failed_calls: int = 0


@dataclass
class Tally:
    """The record. `upgradable`: unchanged documents in which this extractor would find more. `seen`: passages
    found to load, in the first `read_bytes` of `bytes` of the files (None where that is not known).
    seconds: by stage. asked: what a language model was asked so far, None without one."""

    new: int = 0
    upgradable: int = 0
    unchanged: int = 0
    replaced: int = 0
    documents_embedded: int = 0
    passages: int = 0
    written: int = 0
    answered: int = 0
    seen: int = 0
    read_bytes: int = 0
    all_read: int = 0
    bytes: int | None = None
    problem: str | None = None
    failures: list[Failure] = field(default_factory=list)
    skipped: list[Failure] = field(default_factory=list)
    faults: list[Failure] = field(default_factory=list)
    seconds: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("read", "extract", "embed", "write", "index"), 0.0)
    )
    asked: Callable[[], Entry] | None = None
    _posted: queue.SimpleQueue[dict[str, Any]] = field(default_factory=queue.SimpleQueue)

    def post(self, **more: Any) -> None:
        """Hand over, from any thread, what is to be added to the fields, or the seconds of the stages, of
        these names. A text takes the place
        of the one before."""
        self._posted.put(more)

    def collect(self) -> None:
        """Add what was handed over; for the one thread that writes the record."""
        while True:
            try:
                more = self._posted.get_nowait()
            except queue.Empty:
                return
            for name, value in more.items():
                if name in self.seconds:
                    self.seconds[name] += value
                elif isinstance(value, list):
                    getattr(self, name).extend(value)
                else:
                    setattr(self, name, value if isinstance(value, str) else getattr(self, name) + value)

    @property
    def documents(self) -> DocumentCounts:
        """Documents by what became of them."""
        return DocumentCounts(
            self.new, self.unchanged, self.replaced, sum(not failure.part for failure in self.failures)
        )

    @property
    def total(self) -> int | None:
        """Passages to load: known once all is read, before that an estimate from the bytes of the files."""
        if self.all_read:
            return self.seen
        if not (self.bytes and self.read_bytes and self.seen):
            return None
        return round(self.seen * max(self.bytes / self.read_bytes, 1))

    def progress(self, stage: str) -> Progress:
        """How far the load is, by all that was handed over until now."""
        self.collect()
        asked = self.asked() if self.asked else None
        return Progress(
            self.documents_embedded,
            self.passages,
            self.total,
            stage,
            len(self.failures),
            self.problem or (self.failures[-1].reason if self.failures else None),
            self.written,
            None if asked is None else self.answered,
            0 if asked is None else asked.calls - asked.failed + asked.cached,
            0 if asked is None else asked.failed,
        )
