"""Run a server from its start to its end: its token, its socket, its signals."""

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
from gsw_graph.serve.app import Access, application, is_loopback
from gsw_graph.serve.context import AppState
from gsw_graph.serve.running import RunningServer

TOKEN_VARIABLE = "GSWGRAPH_SERVE_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "serve.token"  # noqa: S105 - the name of a file
MIN_TOKEN = 16  # characters
SHUTDOWN = 20  # seconds that requests under way have when the server stops


@dataclass(frozen=True)
class BindAddress:
    """Where a server listens.

    Attributes:
        names: Further host names under which it is asked.
        token: What everybody must send.
    """

    host: str = "127.0.0.1"
    port: int = 8484
    names: Collection[str] = ()
    token: str | None = None

    @property
    def url(self) -> str:
        """The address, as people type it."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def local_url(self) -> str:
        """The address for this machine itself of a server that may listen at all addresses."""
        here = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - as others gave it
        return replace(self, host=here.get(self.host, self.host)).url


def read_token(host: str, file: Path | None, folder: Path) -> tuple[str | None, str | None]:
    """Return the token that everybody must send, and where it is kept.

    Args:
        host: Where the server listens. On loopback no token is needed unless `file` is given.
        file: Where the token is kept; it is made where it is missing, and only its owner can read it.
        folder: Where the file is made that is not named.

    Raises:
        InputError: Others can read the file, or what it holds is no token.
    """
    if token := os.environ.get(TOKEN_VARIABLE):
        return _checked(token, TOKEN_VARIABLE), TOKEN_VARIABLE
    if file is None and is_loopback(host):
        return None, None
    file = file or folder / TOKEN_FILE
    try:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(file, secrets.token_urlsafe(32) + "\n")
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise InputError("others can read this token", where=str(file), hint=f"chmod 600 {file}")
        return _checked(file.read_text(encoding="utf-8").strip(), str(file)), str(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the token cannot be read ({error})", where=str(file)) from error


def _checked(token: str, where: str) -> str:
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"a token has at least {MIN_TOKEN} ASCII characters and no space",
            where=where,
            hint="Give random letters and digits, or let the server make one",
        )
    return token


@contextlib.contextmanager
def listen(address: BindAddress) -> Iterator[tuple[socket.socket, BindAddress]]:
    """Open a socket, and give it with the address whose port it got. Raises EngineError."""
    opened = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    with contextlib.closing(opened):
        if os.name == "posix":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((address.host, address.port))
            opened.listen(2048)
        except (OSError, OverflowError) as error:
            raise EngineError(
                f"the server cannot listen there ({getattr(error, 'strerror', None) or error})",
                where=address.url,
                hint="Give another --port or --host",
            ) from error
        yield opened, replace(address, port=opened.getsockname()[1])


def serve(state: AppState, opened: socket.socket, address: BindAddress) -> None:
    """Serve until SIGTERM or Ctrl-C; requests under way are ended then. Other processes of this user find the
    server by the file that it leaves in the folder of an embedded memory while it runs."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    owner = secrets.token_urlsafe(32)
    with RunningServer.announced(state.memory.url, address.local_url, owner), _stoppable():
        make_server(state, address, owner).run(sockets=[opened])


def make_server(state: AppState, address: BindAddress, owner: str) -> uvicorn.Server:
    """Return the server, not yet running.

    Args:
        owner: The token of the memory's owner, who may name files of this machine.
    """
    config = uvicorn.Config(
        application(state, Access.of(address.host, address.token, owner, address.names)),
        http="h11",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=state.limits.connections,
        timeout_graceful_shutdown=SHUTDOWN,
        lifespan="on",
    )
    return _Server(config, state)


class _Server(uvicorn.Server):
    """Ends what is under way before it waits for it."""

    def __init__(self, config: uvicorn.Config, state: AppState) -> None:
        super().__init__(config)
        self._state = state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._state.close()
        await super().shutdown(sockets)
        await self._state.join(SHUTDOWN)  # a thread that works would lose the memory under its hands


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the server and not the process, so that the memory is closed: uvicorn raises
    the signals again that it was stopped by."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
