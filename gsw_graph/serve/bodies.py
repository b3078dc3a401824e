"""What a request may send: so many bytes, counted as they come, and not too slowly; and all uploads together
so many, as they are on disk until they are loaded."""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar, NoReturn

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gsw_graph.serve.faults import fault

JSON = 4 * 2**20  # bytes of a body that is no upload
GRACE = 15.0  # seconds in which a body may be as slow as it likes
SILENCE = 60.0  # seconds in which it may say nothing
PACE = 1024  # bytes a second that must have come on the whole after that
TOGETHER = 4  # times the largest upload, that all uploads of the moment may take together
RETRY = 10  # seconds until one that found no place tries again


class BodyLimit:
    """Ends a request whose body is too large (413) or too slow (408), or for which there is no room beside
    other uploads (503). uploads: bytes of a request to one of the paths `large`."""

    def __init__(self, app: ASGIApp, uploads: int, large: frozenset[str]) -> None:
        self._app, self._uploads, self._large = app, uploads, large
        self._disk = _Disk(TOGETHER * uploads)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        upload = scope["path"] in self._large
        most = self._uploads if upload else JSON
        body = _Body(receive, most, self._disk if upload else None)
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
        finally:
            body.gone()
        if body.refused is not None and not started:
            await _refuse(body.refused, scope, receive, send)


class _Disk:
    """What uploads take on disk at the moment, of `most` bytes."""

    def __init__(self, most: int) -> None:
        self.left = most


class _RefusedError(Exception):
    status, said, hint = 400, "", ""
    headers: ClassVar[dict[str, str]] = {}


class _TooLargeError(_RefusedError):
    status = 413

    def __init__(self, most: int) -> None:
        self.said = f"the request is larger than {most / 2**20:g} MiB"
        self.hint = "Send less at once; --upload-limit of the server says how much it takes"


class _SlowError(_RefusedError):
    status, said = 408, "the request comes too slowly"
    hint = f"At least {PACE} bytes a second, or all within {GRACE:g} s, and never silent for {SILENCE:g} s"


class _FullError(_RefusedError):
    status, said = 503, "the server is busy: other uploads take all the room there is for them"
    hint = f"Try again in {RETRY} s"
    headers: ClassVar[dict[str, str]] = {"Retry_After": str(RETRY)}


class _Body:
    """Counts what is received. disk: where it goes, None for what is small enough to be held."""

    def __init__(self, receive: Receive, most: int, disk: _Disk | None) -> None:
        self._receive, self._most, self._disk = receive, most, disk
        self._begun, self._bytes, self._whole = time.monotonic(), 0, False
        self.refused: _RefusedError | None = None

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()
        left = self._begun + GRACE + self._bytes / PACE - time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), max(min(left, SILENCE), 0.01))
        except asyncio.TimeoutError:
            self._refuse(_SlowError())
        if message["type"] == "http.request":
            came = len(message.get("body", b""))
            self._bytes += came
            self._whole = not message.get("more_body", False)
            if self._disk is not None:
                self._disk.left -= came
                if self._disk.left < 0:
                    self._refuse(_FullError())
            if self._bytes > self._most:
                self._refuse(_TooLargeError(self._most))
        return message

    def gone(self) -> None:
        """The request is over: what it sent is on disk no more."""
        if self._disk is not None:
            self._disk.left += self._bytes

    def _refuse(self, why: _RefusedError) -> NoReturn:
        self.refused = why
        raise why from None


async def _refuse(why: _RefusedError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer. What still comes of the body is thrown away, as `connections.py` has it, so that a client that
    is still sending can read this."""
    refused = fault(why.status, why.said, why.hint, **why.headers)
    await JSONResponse(refused.body, refused.status, refused.headers)(scope, receive, send)
