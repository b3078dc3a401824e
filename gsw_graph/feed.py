"""The first half of a load, in a thread of its own: read, compare with the memory, extract. A few windows
ahead of the second half, never more."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from gsw_graph.extract import EXTRACTORS, Extractor, Work, with_names
from gsw_graph.model import Document, Failure, Skipped, Workspace
from gsw_graph.tally import Tally

if TYPE_CHECKING:
    from gsw_graph.store.reader import DocumentState
    from gsw_graph.store.rows import Mode

COMPARED = 256  # passages whose documents are compared with the memory in one round trip
_PATIENCE = (
    2.0  # seconds for the reader to end; one that waits for its input is left behind, it holds nothing
)
_TICK = 0.2  # seconds between looks at how far it is
_AHEAD = 2  # windows that extraction may be ahead of embedding
_LEAST = 16  # passages of a window where embedding would wait for more

_RECORDS = frozenset(
    ("corpus", "workspaces", "openie", "propositions")
)  # loaders of records, which say their sources themselves
_CLAIMED = (
    "a record says that this is its source, which is a file of the memory; give the record a "
    "source "
    "of its own, or forget that document first"
)


@dataclass
class Window:
    """Workspaces that are embedded together, each with how it comes into the memory."""

    workspaces: list[tuple[Workspace, Mode]] = field(default_factory=list)
    passages: int = 0


class Feed:
    """Windows of workspaces that are new to the memory. A context manager that gives them, None now and then
    while there is none yet.

    position: how many bytes of the files were read when the last item came.
    """

    def __init__(
        self,
        items: Iterable[Document | Workspace | Failure],
        states: Callable[[list[str]], dict[str, DocumentState]],
        extractor: Extractor,
        tally: Tally,
        *,
        replace: bool = False,
        upgrade: bool = False,
        position: Callable[[], int] = lambda: 0,
    ) -> None:
        self._items, self._states, self._tally, self._extractor = items, states, tally, extractor
        self._replace, self._upgrade, self._position = replace, upgrade, position
        self._queue: queue.Queue[Window | BaseException | None] = queue.Queue(_AHEAD)
        self._stop = threading.Event()
        self._reading = 0.0  # seconds
        self._ended = False  # all is read, and the last of it perhaps not compared yet
        self._waited_for = True
        self._thread = threading.Thread(target=self._work, name="gswgraph-reader", daemon=True)

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
        position = 0
        for items in self._batches():
            documents = [item.document if isinstance(item, Workspace) else item for item in items]
            states = self._states([document.id for document in documents])
            if claimed := {
                document.id for document in documents if _claims(document, states.get(document.id))
            }:
                self._tally.post(
                    failures=[
                        Failure(document.source, _CLAIMED) for document in documents if document.id in claimed
                    ]
                )
                items = [
                    item
                    for item, document in zip(items, documents, strict=True)
                    if document.id not in claimed
                ]
                documents = [document for document in documents if document.id not in claimed]
            modes = [
                self._mode(item, document, states.get(document.id))
                for item, document in zip(items, documents, strict=True)
            ]
            seen = sum(
                len(document.passages)
                for document, mode in zip(documents, modes, strict=True)
                if mode is not None
            )
            before, position = position, self._position()
            self._tally.post(
                seen=seen,
                read_bytes=position - before,
                unchanged=modes.count(None),
                all_read=int(self._ended),
            )
            for item, document, mode in zip(items, documents, modes, strict=True):
                if mode is not None:
                    yield Work(
                        item,
                        mode,
                        states.get(document.id),
                        with_names(item) if isinstance(item, Workspace) else None,
                    )
        self._tally.post(all_read=1)

    def _work(self) -> None:
        try:
            window = Window()
            for work in self._extracted():
                if self._stop.is_set():
                    return
                if work.failures or work.faults:
                    self._tally.post(failures=work.failures, faults=work.faults)
                if work.workspace is None:
                    continue
                window.workspaces.append((work.workspace, work.mode))
                window.passages += len(work.document.passages)
                self._tally.post(**{"new" if work.mode == "new" else "replaced": 1})
                if window.passages >= self._enough():
                    self._waited_for = False
                    self._queue.put(window)
                    window = Window()
            if window.workspaces:
                self._queue.put(window)
            self._queue.put(None)
        except BaseException as failure:  # raised in the thread that waits
            self._queue.put(failure)

    def _enough(self) -> int:
        """Passages of a window: few where embedding waits."""
        return _LEAST if self._waited_for else self._extractor.window

    def _extracted(self) -> Iterator[Work]:
        """Work with its workspace, or why there is none, and the time it took."""
        start, read = perf_counter(), self._reading
        for work in self._extractor.run(self.fresh()):
            self._tally.post(extract=max(perf_counter() - start - (self._reading - read), 0.0))
            yield work
            start, read = perf_counter(), self._reading

    def _batches(self) -> Iterator[list[Document | Workspace]]:
        batch: list[Document | Workspace] = []
        passages = 0
        items = iter(self._items)
        while not self._stop.is_set():
            start = perf_counter()
            item = next(items, None)
            took = perf_counter() - start
            self._reading += took
            self._tally.post(read=took)
            if item is None:
                self._ended = True
                break
            if isinstance(item, Failure):
                self._tally.post(**{"skipped" if isinstance(item, Skipped) else "failures": [item]})
                continue
            batch.append(item)
            passages += len((item.document if isinstance(item, Workspace) else item).passages)
            if passages >= COMPARED:
                yield batch
                batch, passages = [], 0
        if batch:
            yield batch

    def _mode(
        self, item: Document | Workspace, document: Document, state: DocumentState | None
    ) -> Mode | None:
        """How an item comes in; None where the memory has it. A plain text does not put out what was found
        in the same text, unless asked to."""
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
            self._tally.post(upgradable=int(same))
        else:
            same = True
        return None if same else "renew"


def _claims(document: Document, state: DocumentState | None) -> bool:
    """Whether a record would take the place of a file."""
    return (
        state is not None
        and document.loader in _RECORDS
        and state.loader is not None
        and state.loader not in _RECORDS
    )


def _finds(extractor: str) -> int:
    """How much an extractor finds beside others: an upgrade leads up. What came ready from a file is above
    all."""
    return EXTRACTORS.index(extractor) if extractor in EXTRACTORS else len(EXTRACTORS)
