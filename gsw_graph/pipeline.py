"""Loading, the straight line: read and extract in one thread, embed in the caller's, write in a third; a few batches between them, never more."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from gsw_graph.extract import EXTRACTORS, extract, with_names
from gsw_graph.model import Document, Failure, Workspace
from gsw_graph.results import DocumentCounts

if TYPE_CHECKING:
    from gsw_graph.inference.embedder import Embedder
    from gsw_graph.store.reader import DocumentState
    from gsw_graph.store.rows import Vectors
    from gsw_graph.store.writer import Writer

WINDOW = 256  # passages that are embedded together
_PATIENCE = 2.0  # seconds for the reader to end; one that waits for its input is left behind, it holds nothing
_FRAME = 40  # characters of keys and brackets around a name, a pair or a fact in JSON
_AHEAD = 2  # windows that reading may be ahead of embedding


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a load is: documents and passages done, `total` passages where it is known, `stage` loading or indexing."""

    documents: int
    passages: int
    total: int | None
    stage: str


@dataclass
class Tally:
    """What a load counts on its way."""

    new: int = 0
    unchanged: int = 0
    replaced: int = 0
    passages: int = 0
    failures: list[Failure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("read", "extract", "embed", "write", "index"), 0.0))

    @property
    def documents(self) -> DocumentCounts:
        """Documents by what became of them."""
        return DocumentCounts(self.new, self.unchanged, self.replaced, sum(not failure.part for failure in self.failures))


@dataclass
class _Window:
    workspaces: list[tuple[Workspace, bool]] = field(default_factory=list)  # with whether it replaces an older content
    passages: int = 0


class Feed:
    """Windows of workspaces that are new to the memory, read and extracted ahead in a thread of their own."""

    def __init__(
        self,
        items: Iterable[Document | Workspace | Failure],
        states: Callable[[list[str]], dict[str, DocumentState]],
        extractor: str,
        tally: Tally,
        *,
        replace: bool,
        size: int | None = None,
    ) -> None:
        self._items, self._states, self._tally, self._extractor, self._replace = items, states, tally, extractor, replace
        self._queue: queue.Queue[_Window | BaseException | None] = queue.Queue(_AHEAD)
        self._stop = threading.Event()
        self._bytes, self._read, self._seen, self._done = size, 0, 0, False
        self._thread = threading.Thread(target=self._work, name="gswgraph-reader", daemon=True)

    @property
    def total(self) -> int | None:
        """Passages to load: known once all is read, before that an estimate from the bytes of the files, None where these are not known."""
        if self._done:
            return self._seen
        return round(self._seen * max(self._bytes / self._read, 1)) if self._bytes and self._read else None

    def __enter__(self) -> Iterator[_Window]:
        self._thread.start()
        return self._windows()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        end = perf_counter() + _PATIENCE
        while self._thread.is_alive() and perf_counter() < end:
            with contextlib.suppress(queue.Empty):  # it may wait for a place in the queue
                self._queue.get(timeout=0.05)

    def _windows(self) -> Iterator[_Window]:
        while (item := self._queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item

    def _work(self) -> None:
        try:
            for documents in self._batches():
                window = self._window(documents)
                self._seen += window.passages
                if self._stop.is_set():
                    return
                if window.workspaces:
                    self._queue.put(window)
            self._done = True
            self._queue.put(None)
        except BaseException as failure:  # raised in the thread that waits
            self._queue.put(failure)

    def _batches(self) -> Iterator[list[Document | Workspace]]:
        batch: list[Document | Workspace] = []
        passages = 0
        items = iter(self._items)
        while not self._stop.is_set():
            start = perf_counter()
            item = next(items, None)
            self._tally.seconds["read"] += perf_counter() - start
            if item is None:
                break
            if isinstance(item, Failure):
                self._tally.failures.append(item)
                continue
            batch.append(item)
            document = item.document if isinstance(item, Workspace) else item
            passages += len(document.passages)
            self._read += _written(item)
            if passages >= WINDOW:
                yield batch
                batch, passages = [], 0
        if batch:
            yield batch

    def _window(self, items: list[Document | Workspace]) -> _Window:
        states = self._states([item.document.id if isinstance(item, Workspace) else item.id for item in items])
        window = _Window()
        for item in items:
            document = item.document if isinstance(item, Workspace) else item
            state = states.get(document.id)
            if state and state.ready and not self._replace and self._same(item, state):
                self._tally.unchanged += 1
                continue
            start = perf_counter()
            workspace = with_names(item) if isinstance(item, Workspace) else extract(item, self._extractor)
            window.workspaces.append((workspace, state is not None))
            self._tally.seconds["extract"] += perf_counter() - start
            window.passages += len(document.passages)
            if state is not None and state.ready:
                self._tally.replaced += 1
            else:
                self._tally.new += 1
        return window

    def _same(self, item: Document | Workspace, state: DocumentState) -> bool:
        """Whether the memory has this. A plain text does not put out a ready workspace of the same text."""
        if isinstance(item, Workspace):
            return state.content_hash == item.content_hash and state.extractor == item.extractor
        return state.text_hash == item.content_hash and (state.extractor == self._extractor or state.extractor not in EXTRACTORS)


def _written(item: Document | Workspace) -> int:
    """About how many characters an item took in its file."""
    if isinstance(item, Document):
        return sum(len(p.text) + len(p.title) for p in item.passages)
    names = sum(len(entity.name) + len(entity.description) + _FRAME for entity in item.entities)
    pairs = sum(len(pair.text) + _FRAME for phrase in item.verb_phrases for pair in phrase.pairs)
    facts = sum(len(fact.text) + sum(len(name) for name, _ in fact.mentions) + _FRAME for fact in item.propositions)
    return _written(item.document) + names + pairs + facts


def embed_and_write(
    feed: Feed, windows: Iterator[_Window], embedder: Embedder, writer: Writer, tally: Tally, progress: Callable[[Progress], None] | None
) -> None:
    """Embed each window's passages together and hand the workspaces with their vectors to the writer."""
    from gsw_graph.store.writer import BATCH_BYTES, Batch

    documents = passages = 0
    for window in windows:
        start = perf_counter()
        embedded = list(_embed([workspace for workspace, _ in window.workspaces], embedder))
        tally.seconds["embed"] += perf_counter() - start
        batch = Batch()
        for (workspace, replaces), vectors in zip(window.workspaces, embedded, strict=True):
            batch.add(workspace, vectors, replace=replaces)
            if batch.bytes >= BATCH_BYTES:
                writer.put(batch)
                batch = Batch()
        if batch.documents:
            writer.put(batch)
        documents += len(window.workspaces)
        passages += window.passages
        tally.passages = passages
        if progress is not None:
            progress(Progress(documents, passages, feed.total, "loading"))


def _embed(workspaces: Sequence[Workspace], embedder: Embedder) -> Iterator[Vectors]:
    """The vectors of some workspaces, all their texts embedded in one call and each different text once."""
    from gsw_graph.store.rows import Vectors

    texts = dict.fromkeys(text for workspace in workspaces for part in _texts(workspace) for text in part)
    vectors = embedder.encode(list(texts))
    number = {text: n for n, text in enumerate(texts)}
    for workspace in workspaces:
        passages, pairs, facts, phrases = (vectors[[number[text] for text in part]] for part in _texts(workspace))
        yield Vectors(passages, pairs, facts, dict(zip(_texts(workspace)[3], phrases, strict=True)))


def _texts(workspace: Workspace) -> tuple[list[str], list[str], list[str], list[str]]:
    """What is embedded of a workspace: its passages, pairs, propositions and phrases."""
    return (
        [p.full_text for p in workspace.document.passages],
        [pair.text for phrase in workspace.verb_phrases for pair in phrase.pairs],
        [fact.text for fact in workspace.propositions],
        list(dict.fromkeys(phrase.phrase for phrase in workspace.verb_phrases)),
    )
