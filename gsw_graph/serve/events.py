"""Server-sent events of work that runs in a thread: what it tells on its way, and at the end its result."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gsw_graph.cancel import Cancel
from gsw_graph.cli.text.output import to_json
from gsw_graph.serve.faults import fault_of
from gsw_graph.serve.lines import Line

QUIET = 10.0  # seconds after which a comment shows that the server is there; proxies end what is silent
Say = Callable[[str, Any], None]


class Events(StreamingResponse):
    """The events of one piece of work, which ends when the client goes. work: gets its `Cancel`, and
    `say(event, data)` to tell something; what it returns is the data of the last event, which is called
    `last`, or `error`. latest: events of which only the newest matters where the client is slow."""

    def __init__(
        self, line: Line, work: Callable[[Cancel, Say], Any], last: str, latest: frozenset[str] = frozenset()
    ) -> None:
        self._told: deque[tuple[str, Any]] = deque()
        self._news = asyncio.Event()
        self._loop, self._latest, self._last = asyncio.get_running_loop(), latest, last
        self._work = line.start(lambda cancel: work(cancel, self._say))
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._lines(), media_type="text/event-stream", headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; whatever ends this ends the work."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._work.end()

    def _say(self, event: str, data: Any) -> None:
        """From the thread that works."""
        self._loop.call_soon_threadsafe(self._take, event, data)

    def _take(self, event: str, data: Any) -> None:
        if event in self._latest and self._told and self._told[-1][0] == event:
            self._told.pop()
        self._told.append((event, data))
        self._news.set()

    async def _lines(self) -> AsyncIterator[str]:
        result = asyncio.ensure_future(self._work.result())
        result.add_done_callback(lambda _: self._news.set())
        try:
            while True:
                while self._told:
                    yield event_lines(*self._told.popleft())
                if result.done():
                    await asyncio.sleep(0)  # what the thread said last is on its way before its end
                    while self._told:
                        yield event_lines(*self._told.popleft())
                    break
                self._news.clear()
                try:
                    await asyncio.wait_for(self._news.wait(), QUIET)
                except asyncio.TimeoutError:
                    yield ": still at it\n\n"
            try:
                yield event_lines(self._last, result.result())
            except Exception as error:
                fault = fault_of(error)
                yield event_lines("error", {**fault.body, "status": fault.status})
        finally:
            result.cancel()


def event_lines(event: str, data: Any) -> str:
    """One event as it is sent; its data is JSON in one line."""
    return f"event: {event}\ndata: {to_json(data)}\n\n"
