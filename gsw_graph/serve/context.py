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
# The name of a memory that a call of a tool gives in its address.
requested_memory: ContextVar[str | None] = ContextVar("requested_memory", default=None)


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
        """Queue work and return its job. Call it in the event loop. Raises BusyError."""
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
    """Work in a queue. It counts there until its thread has ended, whoever waits for it."""

    def __init__(self, future: Future[T], cancel: Cancel, timeout: float | None) -> None:
        self.future = future
        self._cancel = cancel
        self._timeout = timeout

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
    processors = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    least = 8 if model else 4
    return min(max(2 * processors, least), 16)


class AppState:
    """A memory, the others of its database, and the queues before them. A server that is `read_only` changes
    nothing in them.

    Each memory is one object, so that all who ask and load share its locks.

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
        """Return the memory of a name, without one the memory that the server was started with.

        Args:
            name: As a request gives it.
            may_create: The request is a load, which may begin a new memory.

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
        """Make the first question as fast as the next."""
        if not self.read_only:
            self.memory.warm(cancel=cancel)
        else:  # it makes no indexes, which `Memory.warm` does where they are missing
            self.memory.ask(
                "warm up", strategy="linked", k=1, llm=False, keep=False, build_runs=False, cancel=cancel
            )

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

    def __init__(self, request: Request, memory: Memory) -> None:
        self._request = request
        self.memory = memory
        self.app: AppState = request.app.state.gswgraph
        self.owner: bool = "owner" in request.auth.scopes
        accept = request.headers.get("accept", "")
        self.wants_events = "text/event-stream" in accept
        self.wants_html = accept.startswith("text/html")

    def seconds(self, wanted: float | None) -> float:
        """Return how long a query may take: as long as is wanted, and as the server allows."""
        allowed = self.app.limits.seconds
        return min(wanted or allowed, allowed)

    def folder(self, folder: str | None) -> str | None:
        """Return the folder where paths begin for the owner; for others no name is a path."""
        return folder if self.owner else None

    async def run(self, queue: WorkQueue, work: Callable[[Cancel], T]) -> T:
        """Run work in a queue until it is done or the client disconnects."""
        return await queue.submit(work).result(self._disconnected)

    async def respond(self, queue: WorkQueue, work: Callable[[Cancel, Send], Any], last: str) -> Response:
        """Run work that reports, and return its result: as the last of its events if the client wants these,
        else alone. Arguments as of `event_stream`."""
        if self.wants_events:
            return event_stream(queue, work, last)
        return json_response(await self.run(queue, lambda cancel: work(cancel, _ignore)))

    async def read(self, method: str, *args: Any, **options: Any) -> Response:
        """Call a method of the memory that reads shortly, and return its result as JSON."""
        call = partial(getattr(self.memory, method), *args, **options)
        return json_response(await self.run(self.app.reads, lambda _: call()))

    async def change(self, method: str, *args: Any, **options: Any) -> Response:
        """Call a method of the memory that changes it, behind other changes, and return its result as JSON.

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
    """Refuse parameters in the address that the route does not have, by their names.

    Raises:
        RequestValidationError: There is one.
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
    """Return the problem of a parameter that a route does not have, as pydantic writes problems."""
    text = f"there is no such parameter; known are {', '.join(sorted(known))}"
    return {"type": "unknown_parameter", "loc": ("query", name), "msg": text}


Context = Annotated[RequestContext, Depends(_context)]
# Of a route that may begin a memory, or needs none.
UncheckedContext = Annotated[RequestContext, Depends(_unchecked_context)]
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


def describe_error(error: Exception) -> JsonObject:
    """Return what a client reads of an error. Of one that is not ours it reads nothing; the log has it."""
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
    """Return what a client reads where the request itself is wrong."""
    return {"error": error, "where": None, "hint": hint, "kind": "RequestError", "status": status}


def error_response(described: JsonObject, **headers: str) -> Response:
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
