"""A server from its start to its end."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import uvicorn

from gsw_graph.engine.embedded_folder import write_private
from gsw_graph.errors import EngineError, InputError
from gsw_graph.serve.app import application
from gsw_graph.serve.connections import enough_files, protocol
from gsw_graph.serve.desk import Desk
from gsw_graph.serve.running import Running
from gsw_graph.serve.security import Gate, is_loopback

TOKEN = "GSWGRAPH_SERVE_TOKEN"  # noqa: S105 - the name of a variable
FILE = "serve.token"
LEAST = 16  # characters of a token
ENDING = 20  # seconds that requests under way have when the server stops


@dataclass(frozen=True)
class Place:
    """Where a server listens. names: hosts under which it is asked besides. token: what everybody must
    send."""

    host: str = "127.0.0.1"
    port: int = 8484
    names: Collection[str] = ()
    token: str | None = None

    @property
    def url(self) -> str:
        """Its address, as people type it."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def local_url(place: Place) -> str:
    """The address for this machine itself of a server that may listen at all addresses."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - as others gave it
    return replace(place, host=here.get(place.host, place.host)).url


def token_of(host: str, file: Path | None, folder: Path) -> tuple[str | None, str | None]:
    """The token that everybody must send, and where it stands, for people: from the environment, else from a
    file that only its owner reads, which is made where there is none. None and None on loopback, unless one
    was asked for. folder: where the file is made that is not named."""
    if token := os.environ.get(TOKEN):
        return _long_enough(token, TOKEN), TOKEN
    if file is None and is_loopback(host):
        return None, None
    file = file or folder / FILE
    try:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(file, secrets.token_urlsafe(32) + "\n")
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise InputError("others can read this token", where=str(file), hint=f"chmod 600 {file}")
        return _long_enough(file.read_text(encoding="utf-8").strip(), str(file)), str(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the token cannot be read ({error})", where=str(file)) from error


def _long_enough(token: str, where: str) -> str:
    if len(token) < LEAST or not token.isascii() or not token.isprintable() or " " in token:
        hint = "Give random letters and digits, or let the server make one"
        raise InputError(
            f"a token has at least {LEAST} ASCII characters and no space", where=where, hint=hint
        )
    return token


@contextlib.contextmanager
def listening(place: Place) -> Iterator[tuple[socket.socket, Place]]:
    """A socket that listens, and its place with the port that it got. Raises EngineError where it cannot."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    opened = socket.socket(family)
    with contextlib.closing(opened):
        if os.name == "posix":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((place.host, place.port))
            opened.listen(2048)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise EngineError(
                f"the server cannot listen there ({why})",
                where=place.url,
                hint="Give another --port or --host",
            ) from error
        yield opened, replace(place, port=opened.getsockname()[1])


def serve(desk: Desk, opened: socket.socket, place: Place) -> None:
    """Serve until SIGTERM or Ctrl-C; requests under way are ended then. Other processes of this user find the
    server by the file that it leaves beside an embedded memory while it runs."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    enough_files()
    owner = secrets.token_urlsafe(32)
    with Running.here(desk.memory.url, local_url(place), owner), _stoppable():
        server(desk, place, owner).run(sockets=[opened])


def server(desk: Desk, place: Place, owner: str) -> uvicorn.Server:
    """The server, not yet running; `run(sockets=[...])` runs it. owner: the token of the memory's owner."""
    config = uvicorn.Config(
        application(desk, Gate.of(place.host, place.token, owner, place.names)),
        http=protocol(desk.limits.connections),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=ENDING,
        lifespan="on",
    )
    return _Server(config, desk)


class _Server(uvicorn.Server):
    """Ends what is under way before it waits for it."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._desk.close()
        await super().shutdown(sockets)
        await self._desk.ended(ENDING)  # a thread that works would lose the memory under its hands


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM and Ctrl-C end the server and not the process, so that the memory is closed: uvicorn raises the
    signals again that it was stopped by."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
