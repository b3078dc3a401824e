"""What every request needs: the memory, the queues of its work, who asks, and how errors are answered.

Work runs in threads: so much at once, so much waiting, each for so many seconds. It ends early where it takes
too long or its client disconnects.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar

import anyio
from fastapi import Depends, Query, Request
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from gsw_graph.concurrency import Cancel
from gsw_graph.errors import (
    EndedError,
    EngineError,
    GswGraphError,
    InputError,
    MemoryLockedError,
    ModelError,
    SchemaError,
)
from gsw_graph.explore.contents import ALL
from gsw_graph.memory import Memory
from gsw_graph.model.results import Result
from gsw_graph.text.safe_text import to_json, without_password

T = TypeVar("T")
Send = Callable[[str, Any], None]
PING = 10  # seconds; proxies close a stream that sends nothing
log = logging.getLogger(__name__)
_MEMORIES = 64  # of one database, whose state is kept
requested_memory: ContextVar[str | None] = ContextVar("requested_memory", default=None)  # its name


class BusyError(GswGraphError):
    """The queue is full; `seconds` estimates when it is not."""

    def __init__(self, kind: str, seconds: int) -> None:
        super().__init__(f"the server is busy: too many {kind} wait", hint=f"Try again in {seconds} s")
        self.seconds = seconds


class RequestTimeoutError(GswGraphError):
    """The work took longer than the server allows."""


class ClientDisconnectedError(GswGraphError):
    """The client closed its connection before the result was there."""


class WorkQueue:
    """A bounded pool of threads for one kind of work.

    Args:
        kind: The kind of work, for messages.
        at_once: How much runs side by side.
        waiting: How much may wait besides.
        timeout: Seconds that each may wait and run together; None for no limit.
    """

    def __init__(self, kind: str, at_once: int, waiting: int, timeout: float | None) -> None:
        self.kind, self.at_once, self.waiting, self.timeout = kind, at_once, waiting, timeout
        self._threads = ThreadPoolExecutor(at_once, f"gswgraph-{kind}")
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
            raise BusyError(self.kind, 1 + len(self) // self.at_once)
        cancel, loop = Cancel(), asyncio.get_running_loop()
        job = Job(self._threads.submit(copy_context().run, work, cancel), cancel, self.timeout)
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


class RefusedError(GswGraphError):
    """This server does not do that, or not for everybody."""


# The status of an error is that of the first class that it is an instance of.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (BusyError, 503),
    (RequestTimeoutError, 504),
    (ClientDisconnectedError, 499),
    (EndedError, 503),
    (RefusedError, 403),
    (InputError, 400),
    (MemoryLockedError, 423),
    (SchemaError, 409),
    (ModelError, 502),
    (EngineError, 502),
)


@dataclass(frozen=True)
class Limits:
    """Bounds of a server.

    Attributes:
        asks: Questions that run side by side.
        reads: Other requests that run side by side.
        waiting: How many of each kind wait besides.
        seconds: How long each may take, waiting too; loads take as long as they need.
        upload: Bytes of a request to load.
        connections: Open at once.
    """

    asks: int = 8
    reads: int = 8
    waiting: int = 64
    seconds: float = 120.0
    upload: int = 256 * 2**20
    connections: int = 500


def default_asks(*, model: bool) -> int:
    """Return how many questions run side by side by default: two for each processor, at least 4, or 8 where
    they wait for a language model, and at most 16."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(2 * processors, 8 if model else 4), 16)


class AppState:
    """A memory, the others of its database, and the queues before them. A server that is `read_only` changes
    nothing in them."""

    def __init__(self, memory: Memory, limits: Limits | None = None, *, read_only: bool = False) -> None:
        self._memory, self.limits, self.read_only = memory, limits or Limits(), read_only
        self._named = lru_cache(_MEMORIES)(memory.named)
        limits = self.limits
        self.asks = WorkQueue("questions", limits.asks, limits.waiting, limits.seconds)
        self.loads = WorkQueue("loads", 1, limits.waiting, None)
        self.reads = WorkQueue("requests", limits.reads, limits.waiting, limits.seconds)

    @property
    def memory(self) -> Memory:
        """The memory that the current request names, else the one that the server was started with."""
        name = requested_memory.get()
        return self._memory if name is None else self._named(name)

    def close(self) -> None:
        """Cancel all that runs or waits, and accept no more."""
        for queue in (self.asks, self.loads, self.reads):
            queue.close()

    async def join(self, seconds: float) -> None:
        """Wait until all threads have ended, so long at most."""
        with anyio.move_on_after(seconds):
            while len(self.asks) + len(self.loads) + len(self.reads):
                await anyio.sleep(0.02)

    def check_writable(self) -> None:
        """Raise RefusedError where this server only reads."""
        if self.read_only:
            raise RefusedError("this server only reads", hint="It was started with --read-only")


class RequestContext:
    """One request: the application's state, whether the memory's owner asks, and which form is accepted."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.app: AppState = request.app.state.gswgraph
        self.memory = self.app.memory
        self.owner: bool = "owner" in request.auth.scopes
        accept = request.headers.get("accept", "")
        self.wants_events = "text/event-stream" in accept
        self.wants_html = accept.startswith("text/html")

    def folder(self, folder: str | None) -> str | None:
        """Return the folder where paths begin for the owner; for others no name is a path."""
        return folder if self.owner else None

    async def run(self, queue: WorkQueue, work: Callable[[Cancel], T]) -> T:
        """Run work in a queue until it is done or the client disconnects."""
        return await queue.submit(work).result(self._disconnected)

    async def read(self, work: Callable[[Cancel], Result | Any]) -> Response:
        """Run a short read and return its result as JSON."""
        return json_response(await self.run(self.app.reads, work))

    async def _disconnected(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass


Context = Annotated[RequestContext, Depends(RequestContext)]
Limit = Annotated[int, Query(ge=1, le=ALL)]
Skip = Annotated[int, Query(ge=0, le=ALL)]


def json_response(result: Result | Any, status: int = 200, **headers: str) -> Response:
    """Return a result as the command line prints it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(to_json(jsonable(result)), status, named, "application/json")


def jsonable(result: Result | Any) -> Any:
    """Turn a result, or a list of results, into JSON types."""
    if isinstance(result, Result):
        return result.to_dict()
    return [jsonable(item) for item in result] if isinstance(result, list) else result


def describe_error(error: Exception) -> dict[str, Any]:
    """Return what a client reads of an error. Of one that is not ours it reads nothing; the log has it."""
    if not isinstance(error, GswGraphError):
        log.error("a request failed", exc_info=error)
        return request_error(500, "the server made a mistake", "Its log says more; please report it")
    texts = {"error": error.message, "where": error.where, "hint": error.hint}
    return {
        **{name: text and without_password(text) for name, text in texts.items()},
        "kind": type(error).__name__,
        "status": next((status for kind, status in STATUS if isinstance(error, kind)), 500),
    }


def request_error(status: int, error: str, hint: str | None = None) -> dict[str, Any]:
    """Return what a client reads where the request itself is wrong."""
    return {"error": error, "where": None, "hint": hint, "kind": "RequestError", "status": status}


def error_response(described: dict[str, Any], **headers: str) -> Response:
    """Return a described error with its status."""
    return json_response(described, described["status"], **headers)


def event_stream(
    queue: WorkQueue,
    work: Callable[[Cancel, Send], Any],
    last: str,
) -> EventSourceResponse:
    """Stream the events of a job as server-sent events; the job ends when the client disconnects.

    Args:
        queue: Where the work runs.
        work: Gets its `Cancel` and `send(event, data)`; its result is the data of the last event.
        last: The name of the last event; `error` takes its place where the work fails.
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
