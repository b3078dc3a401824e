"""Connections within bounds: so many at once, and none that says nothing."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 10.0  # seconds for the headers of a request, and to throw away what is left of a refused body
FILES = 16_384  # open at once
SILENT = 1.0  # seconds after which one that asks nothing makes room for another where there is none
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
)
_FULL = (
    b'{"error": "the server has too many connections", "where": null, "hint": "Try again in 1 s", '
    b'"kind": "BusyError"}'
)


def enough_files(wanted: int = FILES) -> None:
    """Let this process have so many files open, or as many as it may: each connection is one, and so is each
    larger file of an upload. The usual limit is 1,024."""
    with contextlib.suppress(ImportError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if resource.RLIM_INFINITY != soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def protocol(most: int) -> type[H11Protocol]:
    """uvicorn's connection, which itself bounds neither how many there are nor how long one may take to say
    what it wants. most: connections at once. Where there are so many, a new one takes the place of the one
    that has asked nothing for the longest time, or is refused where none is silent."""

    class Connection(H11Protocol):
        _timer: asyncio.TimerHandle | None = None
        _refused = False

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > most:
                silent = next(iter(idle), None)
                if silent is None or self.loop.time() - idle[silent] < SILENT:
                    self._refuse()
                    return
                silent._disarm()
                silent.transport.close()
            self._arm()

        def data_received(self, data: bytes) -> None:
            if self._refused:
                return
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._disarm()

        def on_response_complete(self) -> None:
            self._arm()
            super().on_response_complete()
            if self.cycle is not None and not self.cycle.response_complete:  # the next was here already
                self._disarm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            super().connection_lost(exc)

        def _refuse(self) -> None:
            """Say so, and throw away what comes: closed at once, the system would cut off what was said."""
            self._refused = True
            self.connections.discard(self)
            self.transport.write(_BUSY % (len(_FULL), _FULL))
            self.loop.call_later(SILENT, self.transport.close)
            with contextlib.suppress(OSError):  # it is gone already
                self.transport.write_eof()

        def _arm(self) -> None:
            self._disarm()
            self._timer = self.loop.call_later(HEADERS, self.transport.close)
            idle[self] = self.loop.time()

        def _disarm(self) -> None:
            idle.pop(self, None)
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    idle: dict[Connection, float] = {}  # those that ask nothing, and since when, the longest first
    return Connection
