"""What servers send, of a bounded size, and calls that another thread can end. Hooks for any client of
httpx, or of what openai uses in its place."""

from __future__ import annotations

import contextlib
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

MOST = 8_000_000  # bytes of a body or a stream, packed or not
_PIECE = 65_536  # bytes unpacked at once

_here = (
    threading.local()
)  # call: the Call of this thread; most: how many bytes a body may have that is asked for in it


class BodyError(Exception):
    """A server sent more than any sound answer has, or packed it as it was told not to."""


class Call:
    """What one thread asks a server. Within it the connection is known, so that `hang_up` ends it from any
    other thread: a server whose client is gone stops working for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over = False
        self._connection: Any = None

    def __enter__(self) -> Call:
        _here.call = self
        return self

    def __exit__(self, *_: object) -> None:
        _here.call = None

    def hang_up(self) -> None:
        """Close the connection, also one that is only made later."""
        with self._lock:
            self._over = True
            _shut(self._connection)

    def use(self, connection: Any) -> None:
        """The connection that the call now has."""
        with self._lock:
            self._connection = connection
            if self._over:
                _shut(connection)


@contextlib.contextmanager
def at_most(size: int) -> Iterator[None]:
    """Bodies that this thread asks for may have so many bytes."""
    before, _here.most = getattr(_here, "most", MOST), size
    try:
        yield
    finally:
        _here.most = before


def hooks() -> dict[str, list[Callable[..., Any]]]:
    """The `event_hooks` of a client whose answers are bounded. What is too large raises BodyError where it
    is read."""
    return {"request": [_asked], "response": [_answered]}


def _asked(request: Any) -> None:
    request.headers["Accept-Encoding"] = "identity"
    if (call := getattr(_here, "call", None)) is not None:
        request.extensions = {**request.extensions, "trace": lambda name, info: _traced(call, name, info)}


def _traced(call: Call, name: str, info: dict[str, Any]) -> None:
    if name in (
        "connection.connect_tcp.complete",
        "connection.start_tls.complete",
        "proxy.start_tls.complete",
    ):
        call.use(info["return_value"])


def _answered(response: Any) -> None:
    if (call := getattr(_here, "call", None)) is not None:
        call.use(response.extensions.get("network_stream"))
    encoding = response.headers.pop("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", "deflate", ""):
        raise BodyError(f"it packs its answers ({encoding[:20]}) though it was told not to")
    unpack = None if encoding in ("identity", "") else zlib.decompressobj(47)  # gzip and zlib alike
    response.stream = _bounded(type(response.stream))(response.stream, getattr(_here, "most", MOST), unpack)  # type: ignore[arg-type]


@cache
def _bounded(kind: type) -> Callable[..., Any]:
    """`_Bounded` as a stream of the library that made this one; it takes no other."""
    base = next(base for base in kind.__mro__ if base.__name__ == "SyncByteStream")
    return type("Bounded", (_Bounded, base), {})


class _Bounded:
    def __init__(self, stream: Any, most: int, unpack: Any) -> None:
        self._stream, self._most, self._unpack = stream, most, unpack

    def __iter__(self) -> Iterator[bytes]:
        packed = plain = 0
        for piece in self._stream:
            packed += len(piece)
            for part in self._parts(piece):
                plain += len(part)
                if max(packed, plain) > self._most:
                    raise BodyError(f"its answer has more than {self._most / 1e6:,.0f} MB")
                yield part

    def close(self) -> None:
        self._stream.close()

    def _parts(self, piece: bytes) -> Iterator[bytes]:
        if self._unpack is None:
            yield piece
            return
        try:
            while True:
                part = self._unpack.decompress(piece, _PIECE)
                yield part
                piece = self._unpack.unconsumed_tail
                if not piece and len(part) < _PIECE:
                    return
        except zlib.error as error:
            raise BodyError(f"its packed answer is broken ({error})") from error


def _shut(connection: Any) -> None:
    found = connection.get_extra_info("socket") if connection is not None else None
    if found is not None:
        with contextlib.suppress(OSError):
            found.shutdown(socket.SHUT_RDWR)  # which, unlike closing it, wakes a thread that reads from it
