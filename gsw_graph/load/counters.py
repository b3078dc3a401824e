"""Count what a load does, from several threads, and report it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.model.documents import Failure
from gsw_graph.model.results import DocumentCounts, LoadReport, Progress
from gsw_graph.store.rows import Mode

if TYPE_CHECKING:
    from gsw_graph.model.ledger import Entry

T = TypeVar("T")
_STAGES = ("read", "extract", "embed", "write", "index")


@dataclass
class LoadCounters:
    """Hold the counts of a load, for several threads.

    Attributes:
        bytes: Bytes of the files; None if not known.
        spent: Returns the usage of the language model so far.
        counts: Documents that are `new`, `replaced`, `unchanged`, of these `described` (with other metadata)
            and `upgradable` (this extractor would find more), or `embedded`; passages to load (`seen`),
            embedded (`passages`), `written` and `answered` about; `read_bytes` of the files; corrections that
            have `lapsed`.
    """

    bytes: int | None = None
    spent: Callable[[], Entry] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    all_read: bool = False
    problem: str | None = None
    failures: list[Failure] = field(default_factory=list)
    skipped: list[Failure] = field(default_factory=list)
    faults: list[Failure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_STAGES, 0.0))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **amounts: int) -> None:
        """Add to counts by name."""
        with self._lock:
            self.counts.update(amounts)

    def add_document(self, mode: Mode, number: int = 1) -> None:
        """Count a document that comes in so; -1: that it did not after all."""
        if mode == "describe":
            self.add(unchanged=number, described=number)
        elif mode == "new":
            self.add(new=number)
        else:
            self.add(replaced=number)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time that a block takes to that of a stage."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start

    def timed_items(self, stage: str, items: Iterable[T]) -> Iterator[T]:
        """Yield items, and add the time that they take to that of a stage."""
        iterator = iter(items)
        end = object()
        while True:
            with self.timed(stage):
                item = next(iterator, end)
            if item is end:
                return
            yield item  # type: ignore[misc]

    def progress(self, stage: str) -> Progress:
        """Return how far the load is. The total is known once all is read, before that it is an estimate from
        the bytes of the files."""
        counts, total, problem = self.counts, None, self.problem
        seen, read = counts["seen"], counts["read_bytes"]
        if self.all_read:
            total = seen
        elif self.bytes and read and seen:
            total = round(seen * max(self.bytes / read, 1))
        if self.failures and not problem:
            problem = self.failures[-1].reason
        known = (counts["embedded"], counts["passages"], total, stage)
        failed, written = len(self.failures), counts["written"]
        if self.spent is None:
            return Progress(*known, failed, problem, written)
        spent = self.spent()
        replies = spent.calls - spent.failed + spent.cached
        return Progress(*known, failed, problem, written, counts["answered"], replies, spent.failed)

    def report(self, seconds: float, **more: Any) -> LoadReport:
        """Return the report of a load that took some seconds."""
        counts = {name: self.counts[name] for name in ("new", "unchanged", "replaced", "described")}
        failed = sum(not failure.part for failure in self.failures)
        # What is extracted is read first, in the same thread.
        self.seconds["extract"] = max(self.seconds["extract"] - self.seconds["read"], 0.0)
        return LoadReport(
            DocumentCounts(**counts, failed=failed),
            failures=self.failures,
            skipped=self.skipped,
            faults=self.faults,
            seconds={**self.seconds, "total": seconds},
            **more,
        )
