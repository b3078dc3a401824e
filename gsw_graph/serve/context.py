"""The parts that every request shares: the memory, the queues of work, the rights of the client, and errors.

Work runs in threads. `Limits` bounds how much runs, how much waits, and for how long. Work is cancelled if it
takes too long or if its client disconnects.
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
from functools import partial
from threading import Lock
from typing import Annotated, Any, Generic, TypeVar

import anyio
from fastapi import Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from gsw_graph.concurrency import Cancel
from gsw_graph.engine.address import split_address
from gsw_graph.errors import (
    EngineError,
    GswGraphError,
    InputError,
    MemoryLockedError,
    ModelError,
    SchemaError,
    WorkCancelledError,
)
from gsw_graph.explore.contents import ALL
from gsw_graph.memory import Memory
from gsw_graph.model.results import Result
from gsw_graph.serve.client import JsonObject
from gsw_graph.text.safe_text import to_json, without_password

T = TypeVar("T")
Send = Callable[[str, Any], None]
PREFIX = "/api"  # of the routes
PING = 10  # seconds; proxies close a stream that sends nothing
log = logging.getLogger(__name__)
# The memory that the address of an MCP call names.
requested_memory: ContextVar[str | None] = ContextVar("requested_memory", default=None)


class BusyError(GswGraphError):
    """Raised if a queue is full; `seconds` estimates when it has room."""

    def __init__(self, kind: str, seconds: int) -> None:
        super().__init__(f"the server is busy: too many {kind} wait", hint=f"Try again in {seconds} s")
        self.seconds = seconds


class RequestTimeoutError(GswGraphError):
    """Raised if work took longer than the server allows."""


class ClientDisconnectedError(GswGraphError):
    """Raised if the client disconnected before the result was ready."""


class WorkQueue:
    """Run one kind of work in a bounded pool of threads.

    Args:
        kind: The kind of work, for messages.
        at_once: Number of jobs that run at the same time.
        waiting: Number of further jobs that may wait.
        timeout: Seconds that a job may take, with its wait; None for no limit.
    """

    def __init__(self, kind: str, at_once: int, waiting: int, timeout: float | None) -> None:
        self.kind = kind
        self.at_once = at_once
        self.waiting = waiting
        self.timeout = timeout
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
        """Queue work and return its job. Must be called in the event loop. Raises BusyError."""
        if self._closed or len(self) >= self.at_once + self.waiting:
            raise BusyError(self.kind, 1 + len(self) // self.at_once)
        cancel = Cancel()
        loop = asyncio.get_running_loop()
        job = Job(self._threads.submit(copy_context().run, work, cancel), cancel, self.timeout)
        self._jobs.add(job)

        def remove(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._jobs.discard, job)

        job.future.add_done_callback(remove)
        return job


class Job(Generic[T]):
    """Hold one job of a queue. A job takes its place in the queue until its thread has ended."""

    def __init__(self, future: Future[T], cancel: Cancel, timeout: float | None) -> None:
        self.future = future
        self._cancel = cancel
        self._timeout = timeout

    def cancel(self, reason: str = "the client is gone") -> None:
        """Cancel the job: at once if it has not begun, else at its next check."""
        self._cancel.cancel(reason)
        self.future.cancel()

    async def result(self, disconnected: Callable[[], Awaitable[None]] | None = None) -> T:
        """Wait for the result and return it. A job without a result is cancelled.

        Args:
            disconnected: Returns when the client has disconnected.

        Raises:
            RequestTimeoutError: The job took longer than the queue allows.
            ClientDisconnectedError: The client disconnected first.
            WorkCancelledError: The server is stopping.
        """
        done = asyncio.wrap_future(self.future)
        watch = asyncio.ensure_future(disconnected()) if disconnected else None
        waits: set[asyncio.Future[Any]] = {done}
        if watch:
            waits.add(watch)
        try:
            await asyncio.wait(waits, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
            if done.cancelled():
                raise WorkCancelledError("the server is stopping")
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
                done.add_done_callback(
                    lambda late: late.cancelled() or late.exception()
                )  # else asyncio warns
                self.cancel()
            if watch:
                watch.cancel()


class RefusedError(GswGraphError):
    """Raised if this server does not allow the operation, or not to this client."""


# The first class that an error is an instance of gives its HTTP status.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (BusyError, 503),
    (RequestTimeoutError, 504),
    (ClientDisconnectedError, 499),
    (WorkCancelledError, 503),
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
        asks: Number of questions that run at the same time.
        reads: Number of other requests that run at the same time.
        waiting: Number of further requests of each kind that may wait.
        seconds: Seconds that a request may take, with its wait; loads have no limit.
        upload: Bytes of an upload.
        connections: Number of open connections.
    """

    asks: int = 8
    reads: int = 8
    waiting: int = 64
    seconds: float = 120.0
    upload: int = 256 * 2**20
    connections: int = 500


def default_asks(*, model: bool) -> int:
    """Return how many questions run at the same time by default: two for each processor, within 4 and 16.
    With a language model the least is 8, as questions then wait for its server."""
    processors = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    least = 8 if model else 4
    return min(max(2 * processors, least), 16)


class AppState:
    """Hold the memories of a database and the queues of their work. A `read_only` server changes no memory.

    Each memory is a single object, so that all requests share its locks.

    Attributes:
        memory: The memory that the server was started with.
        name: Its name; empty for the default memory of the database.
    """

    def __init__(self, memory: Memory, limits: Limits | None = None, *, read_only: bool = False) -> None:
        self.memory = memory
        self.limits = limits = limits or Limits()
        self.read_only = read_only
        self.name = split_address(memory.url)[1]
        self._others: dict[str, Memory] = {}
        self._finding = Lock()
        self.asks = WorkQueue("questions", limits.asks, limits.waiting, limits.seconds)
        self.loads = WorkQueue("loads", 1, limits.waiting, None)
        self.reads = WorkQueue("requests", limits.reads, limits.waiting, limits.seconds)

    def named(self, name: str | None, *, may_create: bool = False) -> Memory:
        """Return a memory by name; without a name the memory that the server was started with.

        Args:
            name: The name in the request.
            may_create: Whether the request may create the memory, as a load does.

        Raises:
            InputError: No memory has this name.
        """
        if name is None or name == self.name:
            return self.memory
        with self._finding:
            if name not in self._others:
                self._others[name] = self.memory.named(name)
            memory = self._others[name]
        if name and not may_create and not memory.exists():
            names = [stored.name or "the default one" for stored in self.memory.memories()]
            known = ", ".join(names) or "none yet"
            raise InputError(
                f"there is no memory {name!r}", hint=f"The memories of this database are: {known}"
            )
        return memory

    def warm(self, cancel: Cancel) -> None:
        """Load models and read caches, so that the first question is as fast as the next."""
        if not self.read_only:
            self.memory.warm(cancel=cancel)
        else:  # unlike `Memory.warm`, this makes no missing indexes
            self.memory.ask(
                "warm up", strategy="linked", k=1, llm=False, keep=False, build_runs=False, cancel=cancel
            )

    def close(self) -> None:
        """Cancel all running and waiting jobs, and accept no more."""
        for queue in (self.asks, self.loads, self.reads):
            queue.close()

    async def join(self, seconds: float) -> None:
        """Wait until all jobs have ended, at most so many seconds."""
        with anyio.move_on_after(seconds):
            while len(self.asks) + len(self.loads) + len(self.reads):
                await anyio.sleep(0.02)

    def check_writable(self) -> None:
        """Raise RefusedError if this server only reads."""
        if self.read_only:
            raise RefusedError("this server only reads", hint="It was started with --read-only")


class RequestContext:
    """Hold one request: its memory, whether the client is the owner, and the response type that it
    accepts."""

    def __init__(self, request: Request, memory: Memory) -> None:
        self._request = request
        self.memory = memory
        self.app: AppState = request.app.state.gswgraph
        self.owner: bool = "owner" in request.auth.scopes
        accept = request.headers.get("accept", "")
        self.wants_events = "text/event-stream" in accept
        self.wants_html = accept.startswith("text/html")

    def seconds(self, wanted: float | None) -> float:
        """Return the seconds that a query may take: the wanted seconds, at most those the server allows."""
        allowed = self.app.limits.seconds
        return min(wanted or allowed, allowed)

    def folder(self, folder: str | None) -> str | None:
        """Return the base folder of paths if the client is the owner, else None: no name is then a path."""
        return folder if self.owner else None

    async def run(self, queue: WorkQueue, work: Callable[[Cancel], T]) -> T:
        """Run work in a queue until it is done or the client disconnects."""
        return await queue.submit(work).result(self._disconnected)

    async def respond(self, queue: WorkQueue, work: Callable[[Cancel, Send], Any], last: str) -> Response:
        """Run work and return its result. A client that accepts events gets the events, the result as the
        last. Arguments as for `event_stream`."""
        if self.wants_events:
            return event_stream(queue, work, last)
        return json_response(await self.run(queue, lambda cancel: work(cancel, _ignore)))

    async def read(self, method: str, *args: Any, **options: Any) -> Response:
        """Call a method of the memory that reads, in the queue of reads, and return its result as JSON."""
        call = partial(getattr(self.memory, method), *args, **options)
        return json_response(await self.run(self.app.reads, lambda _: call()))

    async def change(self, method: str, *args: Any, **options: Any) -> Response:
        """Call a method that changes the memory, in the queue of loads, and return its result as JSON.

        Raises RefusedError if this server only reads.
        """
        self.app.check_writable()
        call = partial(getattr(self.memory, method), *args, **options)
        return json_response(await self.run(self.app.loads, lambda _: call()))

    async def _disconnected(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass


def _ignore(_: str, __: Any) -> None:
    """Report nothing."""


MemoryName = Annotated[str | None, Query(description="A memory of the database, by its name.")]


def _context(request: Request, memory: MemoryName = None) -> RequestContext:
    return RequestContext(request, request.app.state.gswgraph.named(memory))


def _unchecked_context(request: Request, memory: MemoryName = None) -> RequestContext:
    return RequestContext(request, request.app.state.gswgraph.named(memory, may_create=True))


def check_parameters(request: Request, memory: MemoryName = None) -> None:  # noqa: ARG001 - every route has it
    """Refuse query parameters that the route does not have.

    Raises:
        RequestValidationError: There is such a parameter; the error names each.
    """
    if not request.query_params:
        return
    path = f"{PREFIX}{request.scope['route'].path_format}"
    route = request.app.openapi()["paths"][path][request.method.lower()]
    known = [parameter["name"] for parameter in route["parameters"] if parameter["in"] == "query"]
    unknown = [unknown_parameter(name, known) for name in request.query_params if name not in known]
    if unknown:
        raise RequestValidationError(unknown)


def unknown_parameter(name: str, known: list[str]) -> JsonObject:
    """Describe a parameter that the route does not have, in the form of a pydantic error."""
    text = f"there is no such parameter; known are {', '.join(sorted(known))}"
    return {"type": "unknown_parameter", "loc": ("query", name), "msg": text}


Context = Annotated[RequestContext, Depends(_context)]
# For a route that may create a memory or needs none.
UncheckedContext = Annotated[RequestContext, Depends(_unchecked_context)]
Limit = Annotated[int, Query(ge=1, le=ALL)]
Skip = Annotated[int, Query(ge=0, le=ALL)]


def json_response(result: Result | Any, status: int = 200, **headers: str) -> Response:
    """Return a response with a result as JSON, in the form that the command line prints."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(to_json(jsonable(result)), status, named, "application/json")


def jsonable(result: Result | Any) -> Any:
    """Turn a result, or a list of results, into JSON types."""
    if isinstance(result, Result):
        return result.to_dict()
    return [jsonable(item) for item in result] if isinstance(result, list) else result


def describe_error(error: Exception) -> JsonObject:
    """Return the JSON of an error. An unexpected error is logged, and the client gets no details."""
    if not isinstance(error, GswGraphError):
        log.error("a request failed", exc_info=error)
        return request_error(500, "the server made a mistake", "Its log says more; please report it")
    described: JsonObject = {}
    for name, text in (("error", error.message), ("where", error.where), ("hint", error.hint)):
        described[name] = text and without_password(text)
    described["kind"] = type(error).__name__
    described["status"] = 500
    for kind, status in STATUS:
        if isinstance(error, kind):
            described["status"] = status
            break
    return described


def request_error(status: int, error: str, hint: str | None = None) -> JsonObject:
    """Return the JSON of an error in the request itself."""
    return {"error": error, "where": None, "hint": hint, "kind": "RequestError", "status": status}


def error_response(described: JsonObject, **headers: str) -> Response:
    """Return a response with a described error and its status."""
    return json_response(described, described["status"], **headers)


def event_stream(
    queue: WorkQueue,
    work: Callable[[Cancel, Send], Any],
    last: str,
) -> EventSourceResponse:
    """Stream the events of a job as server-sent events; the job ends when the client disconnects.

    Args:
        queue: The queue of the work.
        work: Gets a `Cancel` and `send(event, data)`; returns the data of the last event.
        last: Name of the last event; if the work fails, the last event is `error`.
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
