"""Run work in threads: so much at once, so much waiting, each for so many seconds, and no more.

Work ends early where it takes too long or its client disconnects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Generic, TypeVar

from sse_starlette import EventSourceResponse, ServerSentEvent

from gsw_graph.concurrency import Cancel
from gsw_graph.errors import EndedError, GswGraphError
from gsw_graph.text.safe_text import to_json

T = TypeVar("T")
Send = Callable[[str, Any], None]
PING = 10  # seconds; proxies close a stream that sends nothing


class BusyError(GswGraphError):
    """The queue is full; `seconds` estimates when it is not."""

    def __init__(self, what: str, seconds: int) -> None:
        super().__init__(f"the server is busy: too many {what} wait", hint=f"Try again in {seconds} s")
        self.seconds = seconds


class RequestTimeoutError(GswGraphError):
    """The work took longer than the server allows."""


class ClientDisconnectedError(GswGraphError):
    """The client closed its connection before the result was there."""


class WorkQueue:
    """A bounded pool of threads for one kind of work.

    Args:
        what: The kind of work, for messages.
        at_once: How much runs side by side.
        waiting: How much may wait besides.
        timeout: Seconds that each may wait and run together; None for no limit.
    """

    def __init__(self, what: str, at_once: int, waiting: int, timeout: float | None) -> None:
        self.what, self.at_once, self.waiting, self.timeout = what, at_once, waiting, timeout
        self._threads = ThreadPoolExecutor(at_once, f"gswgraph-{what}")
        self._jobs: set[Job[Any]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._jobs)

    def close(self) -> None:
        """Cancel all jobs and accept no more."""
        self._closed = True
        for job in list(self._jobs):
            job.cancel("the server is stopping")

    def submit(self, work: Callable[[Cancel], T]) -> Job[T]:
        """Queue work and return its job. Call it in the event loop. Raises BusyError."""
        if self._closed or len(self) >= self.at_once + self.waiting:
            raise BusyError(self.what, 1 + len(self) // self.at_once)
        cancel, loop = Cancel(), asyncio.get_running_loop()
        job = Job(self._threads.submit(work, cancel), cancel, self.timeout)
        self._jobs.add(job)

        def remove(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._jobs.discard, job)

        job.future.add_done_callback(remove)
        return job


class Job(Generic[T]):
    """Work in a queue. It counts there until its thread has ended, whoever waits for it."""

    def __init__(self, future: Future[T], cancel: Cancel, timeout: float | None) -> None:
        self.future, self._cancel, self._timeout = future, cancel, timeout

    def cancel(self, reason: str = "the client is gone") -> None:
        """End the work: at once where it has not begun, else at its next check."""
        self._cancel.cancel(reason)
        self.future.cancel()

    async def result(self, disconnected: Callable[[], Awaitable[None]] | None = None) -> T:
        """Wait for the result.

        Args:
            disconnected: Returns when the client has disconnected.

        Raises:
            RequestTimeoutError: The timeout of the queue is over.
            ClientDisconnectedError: The client went first.
        """
        done = asyncio.wrap_future(self.future)
        watch = asyncio.ensure_future(disconnected()) if disconnected else None
        try:
            waits: set[asyncio.Future[Any]] = {done} | ({watch} if watch else set())
            await asyncio.wait(waits, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
            if done.cancelled():
                raise EndedError("the server is stopping")
            if done.done():
                return done.result()
            if watch and watch.done():
                raise ClientDisconnectedError("the client is gone")
            raise RequestTimeoutError(
                f"this took longer than {self._timeout:g} s and was ended",
                hint="Ask for less, or start the server with a longer --timeout",
            )
        finally:
            if not done.done():
                done.add_done_callback(lambda late: late.cancelled() or late.exception())  # retrieved
                self.cancel()
            if watch:
                watch.cancel()


def event_stream(
    queue: WorkQueue,
    work: Callable[[Cancel, Send], Any],
    last: str,
    describe_error: Callable[[Exception], dict[str, Any]],
) -> EventSourceResponse:
    """Stream the events of a job as server-sent events; the job ends when the client disconnects.

    Args:
        queue: Where the work runs.
        work: Gets its `Cancel` and `send(event, data)`; its result is the data of the last event.
        last: The name of the last event; `error` takes its place where the work fails.
        describe_error: Turns an error into the data of `error`.
    """
    events: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def send(event: str, data: Any) -> None:
        loop.call_soon_threadsafe(events.put_nowait, (event, data))

    job = queue.submit(lambda cancel: work(cancel, send))

    async def stream() -> AsyncIterator[ServerSentEvent]:
        result = asyncio.ensure_future(job.result())
        result.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield _event(*event)
            error = result.exception()
            if isinstance(error, Exception):
                yield _event("error", describe_error(error))
            else:
                yield _event(last, result.result())
        finally:
            result.cancel()

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventSourceResponse(stream(), ping=PING, sep="\n", headers=headers)


def _event(name: str, data: Any) -> ServerSentEvent:
    return ServerSentEvent(to_json(data), event=name, sep="\n")
