"""HTTP for the model server: a thread a connection, kept alive, on this machine alone."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

log = logging.getLogger(__name__)

_END_SECONDS = 5.0  # in which threads end whose connections were shut


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request as it came. The key in its headers is for nobody. gone: whether its client hung up."""

    method: str
    path: str
    query: dict[str, str]
    headers: Message
    body: bytes
    gone: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. content: JSON, or bytes as they are. events: of a stream, instead of the content, each
    the data of one. drop: close the connection instead of answering, or in the middle of the stream."""

    status: int = 200
    content: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    events: Sequence[str] | None = None
    drop: bool = False


def error(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    code: str | None = None,
    *,
    param: str | None = None,
    retry: float | None = None,
) -> Answer:
    """An error in OpenAI's shape; `retry` are the seconds of Retry-After."""
    headers = () if retry is None else (("Retry-After", f"{retry:g}"),)
    return Answer(
        status, {"error": {"message": message, "type": kind, "param": param, "code": code}}, headers
    )


class Listener(ThreadingHTTPServer):
    """Gives each request to `answer`. Closing it ends all connections and waits for their threads."""

    daemon_threads = True
    request_queue_size = 256  # connections that may wait to be accepted: clients open dozens at once

    def __init__(self, port: int, answer: Callable[[Incoming], Answer]) -> None:
        self.answer = answer
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", port), _Handler)
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.05,), name="model-server", daemon=True
        )
        self._thread.start()

    def server_bind(self) -> None:
        """Without the search for a host name, which may ask a name server."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def get_request(self) -> tuple[socket.socket, Any]:
        """The next connection, kept in mind until it ends."""
        connection, address = super().get_request()
        with self._changed:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """The end of a connection."""
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Clients that went away are no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            log.exception("the model server failed")

    def close(self) -> None:
        """Stop listening and end all connections."""
        self.shutdown()
        self._thread.join()
        deadline = time.monotonic() + _END_SECONDS
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, timeout=deadline - time.monotonic())
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Listener
    protocol_version = "HTTP/1.1"  # keeps connections open
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body in one packet

    def log_message(self, format: str, *args: Any) -> None:
        """Method, path and status; never headers."""
        log.debug(format, *args)

    def _serve(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # where the next request begins is not known
            return self._send(error(411, "The request has no sound Content-Length"))
        body = self.rfile.read(int(length))
        url = urlsplit(self.path)
        return self._send(
            self.server.answer(
                Incoming(self.command, url.path, dict(parse_qsl(url.query)), self.headers, body, self._gone)
            )
        )

    def _gone(self) -> bool:
        """Looks without taking: what a client sends ahead stays for the next request."""
        self.connection.setblocking(False)
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            with contextlib.suppress(OSError):
                self.connection.setblocking(True)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - names that the base class calls

    def _send(self, answer: Answer) -> None:
        if answer.events is not None:
            return self._stream(answer.events, answer.drop)
        if answer.drop:
            self.close_connection = True
            return None
        is_bytes = isinstance(answer.content, bytes)
        body = answer.content if is_bytes else json.dumps(answer.content, ensure_ascii=False).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/octet-stream" if is_bytes else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return self.wfile.flush()

    def _stream(self, events: Sequence[str], drop: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events[: len(events) // 2] if drop else events:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
        if drop:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
