"""A few files on loopback for Neo4j Browser, which fetches guides and styles by itself."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from gsw_graph.browser.address import Place

# What Browser fetches. Neo4j lets it fetch from `localhost` unless its settings say otherwise.
_HOST = "localhost"
_HEADERS = re.compile(r"[\w, -]+")
Made = Callable[[], bytes]


@dataclass(frozen=True)
class Served:
    """What is served under a name: its type, and how it is made when it is asked for."""

    kind: str
    make: Made


class Server(ThreadingHTTPServer):
    """Serves files by name to pages of one origin, and to whoever knows the path, which cannot be guessed: a
    guide shows what is in a memory."""

    daemon_threads = True

    def __init__(self, files: Mapping[str, Served], place: Place) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files
        self.failures: list[Exception] = []  # of files that could not be made
        parts = urlsplit(place.page)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.secret = secrets.token_urlsafe(9)
        self.guide = place.page  # the address that opens Browser at the guide

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: whoever asked is gone, or asked for nothing that there is."""

    @property
    def address(self) -> str:
        """Where the files are, with a slash at the end."""
        return f"http://{_HOST}:{self.server_address[1]}/{self.secret}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = 10  # seconds that a client may say nothing

    def do_GET(self) -> None:
        """A file, or 404."""
        found = self._found()
        if found is None:
            self.send_error(404)
            return
        try:
            body = found.make()
        except Exception as error:  # said by the command that serves; Browser shows that there is none
            self.server.failures.append(error)
            self.send_error(500)
            return
        self.send_response(200)
        self.send_header("Content-Type", found.kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Disposition", "attachment")  # a click saves it
        self._allow()
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self) -> None:
        """What a page asks before it fetches from another origin."""
        if self._found() is None:
            self.send_error(404)
            return
        self.send_response(204)
        self._allow()
        wanted = self.headers.get("Access-Control-Request-Headers", "")
        if _HEADERS.fullmatch(wanted):  # Browser sends some of its own
            self.send_header("Access-Control-Allow-Headers", wanted)
        self.send_header("Access-Control-Allow-Private-Network", "true")
        self.end_headers()

    def _found(self) -> Served | None:
        """What is asked for, by the secret path and under our own name alone."""
        path, start = self.path.partition("?")[0], f"/{self.server.secret}/"
        if self.headers.get("Host") != f"{_HOST}:{self.server.server_address[1]}":
            return None
        return self.server.files.get(path.removeprefix(start)) if path.startswith(start) else None

    def _allow(self) -> None:
        if self.headers.get("Origin") == self.server.origin:
            self.send_header("Access-Control-Allow-Origin", self.server.origin)
            self.send_header("Vary", "Origin")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the path is a secret."""
