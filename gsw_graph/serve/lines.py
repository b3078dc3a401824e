"""A line before work that runs in threads: so much at once, so much waiting, and no more. Work that takes too
long, or whose client is gone, is ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Generic, TypeVar

from gsw_graph.cancel import Cancel
from gsw_graph.errors import EndedError, GswGraphError

T = TypeVar("T")


class BusyError(GswGraphError):
    """The line is full; `seconds` is about how long it takes until it is not."""

    def __init__(self, what: str, seconds: int) -> None:
        super().__init__(f"the server is busy: too many {what} wait", hint=f"Try again in {seconds} s")
        self.seconds = seconds


class LateError(GswGraphError):
    """The work took longer than the server allows, and was ended."""


class GoneError(GswGraphError):
    """Nobody waits for the result any more."""


class Line:
    """The line of one kind of work. what: how it is called, in the plural. at_once: how much runs side by
    side. waiting: how much may wait besides. seconds: how long each may wait and run together, None for
    ever."""

    def __init__(self, what: str, at_once: int, waiting: int, seconds: float | None) -> None:
        self.what, self.at_once, self.waiting, self.seconds = what, at_once, waiting, seconds
        self._threads: ThreadPoolExecutor | None = None
        self._inside: set[Work[Any]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._inside)

    def close(self) -> None:
        """End all that is in the line, and take no more."""
        self._closed = True
        for work in list(self._inside):
            work.end("the server is stopping")

    def start(self, work: Callable[[Cancel], T]) -> Work[T]:
        """Put work into the line; it begins when its turn has come. Raises BusyError. In the event loop
        only."""
        if self._closed or len(self) >= self.at_once + self.waiting:
            raise BusyError(self.what, 1 + len(self) // self.at_once)
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.at_once, f"gswgraph-{self.what}")
        cancel, loop = Cancel(), asyncio.get_running_loop()
        future = self._threads.submit(work, cancel)
        made = Work(future, cancel, self)
        self._inside.add(made)

        def left(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._inside.discard, made)

        future.add_done_callback(left)
        return made


class Work(Generic[T]):
    """Work that is in a line. It stays there until its thread has ended, whoever waits for it."""

    def __init__(self, future: Future[T], cancel: Cancel, line: Line) -> None:
        self._future, self._cancel, self._line = future, cancel, line

    def end(self, reason: str = "nobody waits for it any more") -> None:
        """End it: at once where it has not begun, else as soon as it looks."""
        self._cancel.cancel(reason)
        self._future.cancel()

    async def result(self, gone: Callable[[], Awaitable[None]] | None = None) -> T:
        """What it gives, or raises. LateError after the seconds of the line, GoneError where `gone` returns
        before it is done; then it is ended, and so it is where this is cancelled."""
        done = asyncio.wrap_future(self._future)
        watch = asyncio.ensure_future(gone()) if gone else None
        try:
            waits: set[asyncio.Future[Any]] = {done} | ({watch} if watch else set())
            await asyncio.wait(waits, timeout=self._line.seconds, return_when=asyncio.FIRST_COMPLETED)
            if done.cancelled():
                raise EndedError("the server is stopping")
            if done.done():
                return done.result()
            if watch and watch.done():
                raise GoneError("the client is gone")
            raise LateError(
                f"this took longer than {self._line.seconds:g} s and was ended",
                hint="Ask for less, or start the server with a longer --timeout",
            )
        finally:
            if not done.done():
                done.add_done_callback(lambda late: late.cancelled() or late.exception())  # seen
                self.end()
            if watch:
                watch.cancel()
