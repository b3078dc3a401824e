"""The first half of a load, in a thread of its own: read, compare with the memory, extract. A few windows ahead of the second half, never more."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from gsw_graph.extract import EXTRACTORS, Extractor, Work, with_names
from gsw_graph.model import Document, Failure, Workspace
from gsw_graph.results import DocumentCounts

if TYPE_CHECKING:
    from gsw_graph.store.reader import DocumentState
    from gsw_graph.store.rows import Mode

COMPARED = 256  # passages whose documents are compared with the memory in one round trip
_PATIENCE = 2.0  # seconds for the reader to end; one that waits for its input is left behind, it holds nothing
_TICK = 0.2  # seconds between looks at how far it is
_FRAME = 40  # characters of keys and brackets around a name, a pair or a fact in JSON
_AHEAD = 2  # windows that extraction may be ahead of embedding
_LEAST = 16  # passages of a window where embedding would wait for more


@dataclass
class Tally:
    """What a load counts on its way. `lesser`: unchanged documents in which this extractor would find more."""

    new: int = 0
    lesser: int = 0
    unchanged: int = 0
    replaced: int = 0
    passages: int = 0
    failures: list[Failure] = field(default_factory=list)
    faults: list[Failure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("read", "extract", "embed", "write", "index"), 0.0))

    @property
    def documents(self) -> DocumentCounts:
        """Documents by what became of them."""
        return DocumentCounts(self.new, self.unchanged, self.replaced, sum(not failure.part for failure in self.failures))


@dataclass
class Window:
    """Workspaces that are embedded together, each with how it comes into the memory."""

    workspaces: list[tuple[Workspace, Mode]] = field(default_factory=list)
    passages: int = 0


class Feed:
    """Windows of workspaces that are new to the memory. A context manager that gives them, None now and then while there is none yet."""

    def __init__(
        self,
        items: Iterable[Document | Workspace | Failure],
        states: Callable[[list[str]], dict[str, DocumentState]],
        extractor: Extractor,
        tally: Tally,
        *,
        replace: bool = False,
        upgrade: bool = False,
        size: int | None = None,
    ) -> None:
        self._items, self._states, self._tally, self._extractor = items, states, tally, extractor
        self._replace, self._upgrade = replace, upgrade
        self._queue: queue.Queue[Window | BaseException | None] = queue.Queue(_AHEAD)
        self._stop = threading.Event()
        self._bytes, self._read, self._seen, self._given, self._done = size, 0, 0, 0, False
        self._ended = False  # all is read, and the last of it perhaps not compared yet
        self._waited_for = True
        self._thread = threading.Thread(target=self._work, name="gswgraph-reader", daemon=True)

    @property
    def total(self) -> int | None:
        """Passages to load: known once all is read, before that an estimate from the bytes of the files, None where these are not known."""
        if self._done:
            return self._seen
        return round(self._seen * max(self._bytes / self._read, 1)) if self._bytes and self._read else None

    def __enter__(self) -> Iterator[Window | None]:
        self._thread.start()
        return self._windows()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        end = perf_counter() + _PATIENCE
        while self._thread.is_alive() and perf_counter() < end:
            with contextlib.suppress(queue.Empty):  # it may wait for a place in the queue
                self._queue.get(timeout=0.05)

    def _windows(self) -> Iterator[Window | None]:
        while True:
            self._waited_for = self._queue.empty()
            try:
                item = self._queue.get(timeout=_TICK)
            except queue.Empty:
                yield None
                continue
            self._waited_for = False
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item

    def fresh(self) -> Iterator[Work]:
        """Documents and ready workspaces that the memory has not, or not so, before anything is extracted."""
        for items in self._batches():
            documents = [item.document if isinstance(item, Workspace) else item for item in items]
            states = self._states([document.id for document in documents])
            modes = [self._mode(item, document, states.get(document.id)) for item, document in zip(items, documents, strict=True)]
            self._seen += sum(len(document.passages) for document, mode in zip(documents, modes, strict=True) if mode is not None)
            self._done = self._ended
            for item, mode in zip(items, modes, strict=True):
                if mode is None:
                    self._tally.unchanged += 1
                else:
                    yield Work(item, mode, with_names(item) if isinstance(item, Workspace) else None)
        self._done = True

    def _work(self) -> None:
        try:
            window = Window()
            for work in self._extracted():
                if self._stop.is_set():
                    return
                self._tally.failures += work.failures
                self._tally.faults += work.faults
                if work.workspace is None:
                    self._given += len(work.document.passages)
                    continue
                window.workspaces.append((work.workspace, work.mode))
                window.passages += len(work.document.passages)
                if work.mode == "new":
                    self._tally.new += 1
                else:
                    self._tally.replaced += 1
                if window.passages >= self._enough():
                    self._waited_for = False
                    self._given += window.passages
                    self._queue.put(window)
                    window = Window()
            if window.workspaces:
                self._queue.put(window)
            self._queue.put(None)
        except BaseException as failure:  # raised in the thread that waits
            self._queue.put(failure)

    def _enough(self) -> int:
        """Passages of a window. Few where embedding waits, and fewer and fewer at the end: when the last are embedded, only these are left to write."""
        most = _LEAST if self._waited_for else self._extractor.window
        return min(most, max((self._seen - self._given) // 2, _LEAST)) if self._done else most

    def _extracted(self) -> Iterator[Work]:
        """Work with its workspace, or why there is none, and the time it took."""
        seconds = self._tally.seconds
        start, read = perf_counter(), seconds["read"]
        for work in self._extractor.run(self.fresh()):
            seconds["extract"] += max(perf_counter() - start - (seconds["read"] - read), 0.0)
            yield work
            start, read = perf_counter(), seconds["read"]

    def _batches(self) -> Iterator[list[Document | Workspace]]:
        batch: list[Document | Workspace] = []
        passages = 0
        items = iter(self._items)
        while not self._stop.is_set():
            start = perf_counter()
            item = next(items, None)
            self._tally.seconds["read"] += perf_counter() - start
            if item is None:
                self._ended = True
                break
            if isinstance(item, Failure):
                self._tally.failures.append(item)
                continue
            batch.append(item)
            passages += len((item.document if isinstance(item, Workspace) else item).passages)
            self._read += _written(item)
            if passages >= COMPARED:
                yield batch
                batch, passages = [], 0
        if batch:
            yield batch

    def _mode(self, item: Document | Workspace, document: Document, state: DocumentState | None) -> Mode | None:
        """How an item comes in; None where the memory has it. A plain text does not put out what was found in the same text, unless asked to."""
        if state is None:
            return "new"
        if self._replace or state.status == "loading" or state.text_hash != document.content_hash:
            return "replace"
        if state.status == "renewing":
            return "renew"
        if isinstance(item, Workspace):
            same = state.content_hash == item.content_hash and state.extractor == item.extractor
        elif state.extractor == self._extractor.name:
            same = not state.unread and (state.model == self._extractor.model or not self._upgrade)
        elif _finds(self._extractor.name) > _finds(state.extractor):
            same = not self._upgrade
            self._tally.lesser += same
        else:
            same = True
        return None if same else "renew"


def _finds(extractor: str) -> int:
    """How much an extractor finds beside others: an upgrade leads up. What came ready from a file is above all."""
    return EXTRACTORS.index(extractor) if extractor in EXTRACTORS else len(EXTRACTORS)


def _written(item: Document | Workspace) -> int:
    """About how many characters an item took in its file."""
    if isinstance(item, Document):
        return sum(len(p.text) + len(p.title) for p in item.passages)
    names = sum(len(entity.name) + len(entity.description) + _FRAME for entity in item.entities)
    pairs = sum(len(pair.text) + _FRAME for phrase in item.verb_phrases for pair in phrase.pairs)
    facts = sum(len(fact.text) + sum(len(name) for name, _ in fact.mentions) + _FRAME for fact in item.propositions)
    return _written(item.document) + names + pairs + facts
