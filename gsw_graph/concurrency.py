"""Provide threads, locks and cancellation: group items, read ahead, run many calls at once, and cancel.

Threads are daemons, and not an executor's: an interrupted program must not wait for the last item. Waits have
short timeouts, because Ctrl-C does not break into an endless wait on every platform.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Generic, TypeVar, cast

from gsw_graph.errors import WorkCancelledError

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")
_POLL_SECONDS = 0.2
_CLOSE_SECONDS = 1.0
_END = object()

Check = Callable[[], None]
"""Called while something waits or works; raises if the result is not wanted any more."""


def never_cancelled() -> None:
    """Raise nothing: the check of work that nobody cancels."""


class Cancel:
    """Cancels a question, a load or a query from another thread."""

    def __init__(self) -> None:
        self._reason: str | None = None

    def cancel(self, reason: str = "ended") -> None:
        """Cancel: what waits or works raises WorkCancelledError at its next check, mostly within a second."""
        self._reason = reason

    def check(self) -> None:
        """Raise WorkCancelledError if it was cancelled."""
        if self._reason is not None:
            raise WorkCancelledError(self._reason)


def check_of(cancel: Cancel | None) -> Check:
    """Return the check of a `Cancel`; without it, a check that never raises."""
    return cancel.check if cancel else never_cancelled


def grouped(items: Iterable[T], size: Callable[[T], float], most: float) -> Iterator[list[T]]:
    """Yield runs of items in their order, each of at most `most` in units of `size`, or of one item."""
    group: list[T] = []
    total = 0.0
    for item in items:
        weight = size(item)
        if group and total + weight > most:
            yield group
            group, total = [], 0.0
        group.append(item)
        total += weight
    if group:
        yield group


def prefetch(
    items: Iterable[T],
    depth: float = 2,
    *,
    size: Callable[[T], float] = lambda _: 1,
    on_wait: Check = never_cancelled,
) -> Generator[T, None, None]:
    """Yield `items` in order, produced ahead in a background thread that begins at the first `next`.

    Args:
        items: The items. An exception of theirs is raised in the consumer.
        depth: Limit of waiting items, in units of `size`. A single item may be larger.
        size: Measures an item.
        on_wait: Called now and then while the next item is awaited.

    Closing the generator stops the producer at its next item, and waits a moment for this, as the caller may
    then close the source of the items.
    """
    buffer: deque[tuple[object, float]] = deque()
    changed = threading.Condition()
    waiting = 0.0
    closed = False

    def put(item: object, weight: float = 0.0) -> bool:
        """Add an item once there is space for it; return False if nobody wants it any more."""
        nonlocal waiting
        with changed:
            changed.wait_for(lambda: closed or waiting == 0 or waiting + weight <= depth)
            buffer.append((item, weight))
            waiting += weight
            changed.notify_all()
            return not closed

    def produce() -> None:
        try:
            if all(put(item, size(item)) for item in items):
                put(_END)
        except BaseException as error:  # raised in the thread that consumes
            put(error)
        finally:
            if isinstance(items, Generator):
                items.close()

    thread = threading.Thread(target=produce, name="gswgraph-prefetch", daemon=True)
    thread.start()
    try:
        while True:
            with changed:
                ready = changed.wait_for(lambda: bool(buffer), _POLL_SECONDS)
                item, weight = buffer.popleft() if ready else (None, 0.0)
                waiting -= weight
                changed.notify_all()
            if not ready:
                on_wait()
            elif item is _END:
                return
            elif isinstance(item, BaseException):
                raise item
            else:
                yield cast("T", item)
    finally:
        with changed:
            closed = True
            changed.notify_all()
        thread.join(_CLOSE_SECONDS)


def map_unordered(
    function: Callable[[T], R], items: Iterable[T], workers: int, ahead: int = 1
) -> Generator[R, None, None]:
    """Yield `function(item)` of each item as results arrive, `workers` at once.

    Args:
        function: Runs in the background threads. Its first exception is raised here.
        items: Read in the thread that consumes the results.
        workers: Calls at once.
        ahead: Items that may wait for each worker, so that none is idle while `items` is read.

    Closing the generator begins no further call. Calls under way end, and their results are dropped.
    """
    todo: queue.SimpleQueue[T | object] = queue.SimpleQueue()
    results: queue.SimpleQueue[tuple[R | None, BaseException | None]] = queue.SimpleQueue()
    closed = threading.Event()
    in_flight = 0

    def work() -> None:
        while (item := todo.get()) is not _END and not closed.is_set():
            try:
                results.put((function(cast("T", item)), None))
            except BaseException as error:  # raised in the thread that consumes
                results.put((None, error))

    def next_result() -> R:
        nonlocal in_flight
        while True:
            with suppress(queue.Empty):
                result, error = results.get(timeout=_POLL_SECONDS)
                in_flight -= 1
                if error is not None:
                    raise error
                return cast("R", result)

    for _ in range(workers):
        threading.Thread(target=copy_context().run, args=(work,), name="gswgraph-worker", daemon=True).start()
    try:
        for item in items:
            while in_flight >= workers * (1 + ahead) or not results.empty():
                yield next_result()
            todo.put(item)
            in_flight += 1
        while in_flight:
            yield next_result()
    finally:
        closed.set()
        for _ in range(workers):
            todo.put(_END)


@contextmanager
def acquired(lock: threading.Lock | threading.RLock, check: Check = never_cancelled) -> Iterator[None]:
    """Hold a lock; `check` is called again and again while it is awaited."""
    while not lock.acquire(timeout=_POLL_SECONDS):
        check()
    try:
        yield
    finally:
        lock.release()


class _Slot(Generic[R]):
    """The place of one result: `results` is empty until it is there."""

    def __init__(self) -> None:
        self.lock, self.results = threading.Lock(), list[R]()


class Once(Generic[K, R]):
    """Keeps the last results of a slow function, by key. One thread computes a result; others that want it
    wait. Another result is computed beside it."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._slots: dict[K, _Slot[R]] = {}

    def get(self, key: K, compute: Callable[[], R], check: Check = never_cancelled) -> R:
        """Return the result of a key, computed if it is not there. After an error the next thread computes
        again.

        Args:
            key: Of the result.
            compute: Computes it.
            check: Called again and again while another thread computes it.
        """
        with self._lock:
            slot = self._slots.pop(key, None) or _Slot()
            self._slots[key] = slot  # the one that was used last is at the end
            for oldest in list(self._slots)[: -self._most]:
                del self._slots[oldest]
        with acquired(slot.lock, check):
            if not slot.results:
                slot.results.append(compute())
            return slot.results[0]


class FairLock:
    """Lock in first-in, first-out order, so that a thread that takes the lock again and again, as a load
    does, leaves others their turn. A context manager."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()  # the first of it has the lock

    def __enter__(self) -> None:
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                self._changed.wait_for(lambda: self._queue[0] is ticket)
            except BaseException:  # Ctrl-C while waiting
                self._queue.remove(ticket)
                self._changed.notify_all()
                raise

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._queue.popleft()
            self._changed.notify_all()


class MemoryLocks:
    """Readers run concurrently, writers one at a time, index builds exclusively."""

    def __init__(self) -> None:
        self._writer = threading.RLock()
        self._changed = threading.Condition()
        self._readers = self._exclusive = 0

    @contextmanager
    def read(self, check: Check = never_cancelled) -> Iterator[None]:
        """Read, beside other readers and a writer, but not while an index is built."""
        with self._changed:
            while self._exclusive:
                self._changed.wait(_POLL_SECONDS)
                check()
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def write(self, check: Check = never_cancelled) -> Iterator[None]:
        """Write, one thread at a time; the same thread may enter again."""
        with acquired(self._writer, check):
            yield

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Wait for the readers under way; later ones wait until this ends."""
        with self._changed:
            self._exclusive += 1
        try:
            with self._changed:
                while self._readers:
                    self._changed.wait(_POLL_SECONDS)
            yield
        finally:
            with self._changed:
                self._exclusive -= 1
                self._changed.notify_all()
