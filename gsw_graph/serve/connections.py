"""Connections within bounds: so many at once, and none that says nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 10.0  # seconds for the headers of a request, and to throw away what is left of a refused body
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
)
_FULL = (
    b'{"error": "the server has too many connections", "where": null, "hint": "Try again in 1 s", '
    b'"kind": "BusyError"}'
)


def protocol(most: int) -> type[H11Protocol]:
    """uvicorn's connection, which itself bounds neither how many there are nor how long one may take to say
    what it wants. most: connections at once."""

    class Connection(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > most:
                transport.write(_BUSY % (len(_FULL), _FULL))
                transport.close()
                return
            self._arm()

        def data_received(self, data: bytes) -> None:
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

        def _arm(self) -> None:
            self._disarm()
            self._timer = self.loop.call_later(HEADERS, self.transport.close)

        def _disarm(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return Connection
