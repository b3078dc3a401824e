"""What a request may send: so many bytes, counted as they come, and not too slowly."""

from __future__ import annotations

import asyncio
import time

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gsw_graph.serve.faults import fault

JSON = 4 * 2**20  # bytes of a body that is no upload
GRACE = 15.0  # seconds in which a body may be as slow as it likes
PACE = 1024  # bytes a second that must have come on the whole after that


class BodyLimit:
    """Ends a request whose body is too large (413) or too slow (408). uploads: bytes of a request to one of
    the paths `large`."""

    def __init__(self, app: ASGIApp, uploads: int, large: frozenset[str]) -> None:
        self._app, self._uploads, self._large = app, uploads, large

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._uploads if scope["path"] in self._large else JSON
        body = _Body(receive, most)
        said = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if said.isdigit() and int(said) > most:
            await _refuse(_TooLargeError(most), scope, receive, send)
            return
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            if started or body.refused is None:  # else it is about the exception below
                started = True
                await send(message)

        try:
            await self._app(scope, body.receive, sent)
        except Exception:
            if body.refused is None or started:
                raise
        if body.refused is not None and not started:
            await _refuse(body.refused, scope, receive, send)


class _RefusedError(Exception):
    status, said, hint = 400, "", ""


class _TooLargeError(_RefusedError):
    status = 413

    def __init__(self, most: int) -> None:
        self.said = f"the request is larger than {most / 2**20:g} MiB"
        self.hint = "Send less at once; --upload-limit of the server says how much it takes"


class _SlowError(_RefusedError):
    status, said = 408, "the request comes too slowly"
    hint = f"At least {PACE} bytes a second, or all within {GRACE:g} s"


class _Body:
    """Counts what is received."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most = receive, most
        self._begun, self._bytes, self._whole = time.monotonic(), 0, False
        self.refused: _RefusedError | None = None

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()
        end = self._begun + GRACE + self._bytes / PACE
        try:
            message = await asyncio.wait_for(self._receive(), max(end - time.monotonic(), 0.01))
        except asyncio.TimeoutError:
            self.refused = _SlowError()
            raise self.refused from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._bytes > self._most:
                self.refused = _TooLargeError(self._most)
                raise self.refused
        return message


async def _refuse(why: _RefusedError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer. What still comes of the body is thrown away, as `connections.py` has it, so that a client that
    is still sending can read this."""
    refused = fault(why.status, why.said, why.hint)
    await JSONResponse(refused.body, refused.status)(scope, receive, send)
