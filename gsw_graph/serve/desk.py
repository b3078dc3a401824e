"""What every route works with: the memory, the lines before it, and who asks."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import anyio
from fastapi import Depends, Query, Request
from fastapi.responses import Response

from gsw_graph.browse import ALL
from gsw_graph.cancel import Cancel
from gsw_graph.cli.text.output import to_json
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.results import Result
from gsw_graph.serve.faults import RefusedError
from gsw_graph.serve.lines import Line
from gsw_graph.serve.security import OWNER

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """What the server takes. asks, reads: questions and other requests that run side by side. waiting: how
    many of each kind wait besides. seconds: how long each may take, waiting too; loads as long as they
    need. upload: bytes of a request to load. connections: at once."""

    asks: int = 8
    reads: int = 8
    waiting: int = 64
    seconds: float = 120.0
    upload: int = 256 * 2**20
    connections: int = 1000


def at_once(*, model: bool) -> int:
    """Questions that run side by side where nobody says how many. They are work for processors, so that more
    of them are no faster and hold loads up; those that wait for a language model leave them free. One Python
    process has no use for more than 16."""
    return min(max(2 * processors(), 8 if model else 4), 16)


def processors() -> int:
    """Those that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1


@dataclass(frozen=True)
class Desk:
    """A memory and the lines before it. read_only: nothing is loaded or forgotten, and no question kept."""

    memory: Memory
    limits: Limits
    read_only: bool
    asks: Line
    loads: Line
    reads: Line

    @classmethod
    def of(cls, memory: Memory, limits: Limits | None = None, *, read_only: bool = False) -> Desk:
        """The desk of a memory."""
        limits = limits or Limits()
        return cls(
            memory,
            limits,
            read_only,
            Line("questions", limits.asks, limits.waiting, limits.seconds),
            Line("loads", 1, limits.waiting, None),
            Line("requests", limits.reads, limits.waiting, limits.seconds),
        )

    def close(self) -> None:
        """End all that is under way, and take no more."""
        for line in (self.asks, self.loads, self.reads):
            line.close()

    async def ended(self, seconds: float) -> None:
        """Return when all that was under way has ended, or after so long."""
        with anyio.move_on_after(seconds):
            while len(self.asks) + len(self.loads) + len(self.reads):
                await anyio.sleep(0.02)

    @staticmethod
    def parameters(given: dict[str, Any]) -> dict[str, Any]:
        """Parameters of a query. InputError: one has a name that `Memory` has for itself."""
        if taken := sorted({"write", "timeout", "cancel"} & given.keys()):
            raise InputError(f"a parameter cannot be called {taken[0]!r}", hint="Choose another name")
        return given

    def check_writable(self) -> None:
        """Raise RefusedError where this server only reads."""
        if self.read_only:
            raise RefusedError("this server only reads", hint="It was started with --read-only")


class Asked:
    """A request at the desk. owner: whether the owner of the memory asks, on this machine. streams: whether
    events are wanted."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.desk: Desk = request.app.state.desk
        self.memory = self.desk.memory
        self.owner: bool = request.scope.get(OWNER, False)
        self.streams = "text/event-stream" in request.headers.get("accept", "")
        self.wants_html = request.headers.get("accept", "").startswith("text/html")

    def folder(self, asked: str | None) -> str | None:
        """Where paths begin in what the owner of the memory asks; for others no name is a path."""
        return asked if self.owner else None

    async def run(self, line: Line, work: Callable[[Cancel], T]) -> T:
        """What the work gives, in a thread; it is ended where the client goes."""
        return await line.start(work).result(self._gone)

    async def read(self, work: Callable[[], Result | Any]) -> Response:
        """The result of a short read as JSON."""
        return json(await self.run(self.desk.reads, lambda _: work()))

    async def _gone(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass


At = Annotated[Asked, Depends(Asked)]
Limit = Annotated[int, Query(ge=1, le=ALL)]
Skip = Annotated[int, Query(ge=0, le=ALL)]


def json(result: Result | Any) -> Response:
    """A result as the command line prints it."""
    return Response(to_json(jsonable(result), indent=None), media_type="application/json")


def jsonable(result: Result | Any) -> Any:
    """A result, or a list of them, in JSON types."""
    if isinstance(result, Result):
        return result.to_dict()
    return [jsonable(one) for one in result] if isinstance(result, list) else result
