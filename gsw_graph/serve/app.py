"""Put the application together and run it: routes, page, MCP, who may ask, its token, socket and signals."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
import re
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from mcp.server.transport_security import TransportSecuritySettings
from starlette.authentication import (
    AuthCredentials,
    AuthenticationBackend,
    AuthenticationError,
    BaseUser,
    SimpleUser,
)
from starlette.exceptions import HTTPException
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from gsw_graph.engine.address import split_address
from gsw_graph.engine.embedded_folder import RunningServer, write_private
from gsw_graph.errors import EngineError, GswGraphError, InputError
from gsw_graph.explore.picture.picture import scripts
from gsw_graph.serve import routes
from gsw_graph.serve.context import (
    PREFIX,
    AppState,
    BusyError,
    check_parameters,
    describe_error,
    error_response,
    request_error,
    requested_memory,
    unknown_parameter,
)
from gsw_graph.serve.mcp_server import Server
from gsw_graph.serve.problems import describe
from gsw_graph.text.safe_text import one_line
from gsw_graph.version import __version__

PAGE = Path(__file__).parent / "page"
JSON = "application/json"
JSON_LIMIT = 4 * 2**20  # bytes of a body that is no upload

TOKEN_VARIABLE = "GSWGRAPH_SERVE_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = "serve.token"  # noqa: S105 - the name of a file
MIN_TOKEN = 16  # characters
_HOST = re.compile(r"[\w.-]+(:\d+)?|\[[0-9a-fA-F:.]+\](:\d+)?")
SHUTDOWN = 20  # seconds that requests under way have when the server stops

ABOUT = """A memory over HTTP. What a route returns is what `gswgraph VERB --json` prints.

An error has `error`, `where`, `hint` and `kind`: what happened, where, what to do next, and its class. A
route that can report progress answers `Accept: text/event-stream` with server-sent events, the last of which
is the result or `error`."""


def host_name(host: str) -> str:
    """Return the name in a Host header, without its port; empty if the header cannot be read."""
    if not _HOST.fullmatch(host):
        return ""
    name, _, port = host.lower().rpartition(":")
    return name if name and port.isdecimal() else host.lower()


def application(state: AppState, address: BindAddress, owner: str) -> FastAPI:
    """Return the whole application. owner: the token of the memory's owner."""
    mcp = Server(state)
    # No sessions: a request is whole in itself. The middleware below checks Host and Origin.
    mcp_app = mcp.streamable_http_app(
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.session_manager.run():
            # the first question is as fast as the next
            state.reads.submit(state.warm)
            yield

    app = described(state.limits.upload, lifespan=lifespan)
    app.state.gswgraph = state
    app.router.routes.extend(mcp_app.routes)  # /mcp
    app.add_exception_handler(GswGraphError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Exception, _answer_error)
    if (PAGE / "index.html").exists():
        headers = _page_headers()
        app.mount("/static", _PageFiles(headers), name="static")

        @app.get("/", include_in_schema=False)
        def page() -> Response:
            return FileResponse(PAGE / "index.html", headers=headers)

    app.add_middleware(_NamedMemory)
    app.add_middleware(AuthenticationMiddleware, backend=_Tokens(address, owner), on_error=_answer_refused)
    if address.origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=address.origins, allow_methods=["*"], allow_headers=["*"]
        )
    return app


def described(upload: int = 0, **how: Any) -> FastAPI:
    """Return an application with the routes of the API, which describes them by OpenAPI.

    Args:
        upload: Bytes that a request to load may send.
        how: Further arguments of FastAPI.
    """
    app = FastAPI(
        title="gswgraph",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        max_body_size=JSON_LIMIT,
        telemetry={"auto_configure": False},  # no server of traces that is set for other programs gets ours
        **how,
    )
    checks = [Depends(check_parameters)]
    app.include_router(routes.router, prefix=PREFIX, dependencies=checks)
    app.include_router(routes.uploads, prefix=PREFIX, dependencies=checks, max_body_size=upload)
    return app


class _NamedMemory:
    """Let an agent name a memory of the database: `/mcp?memory=NAME`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp":
            parameters = HTTPConnection(scope).query_params
            unknown = [unknown_parameter(name, ["memory"]) for name in parameters if name != "memory"]
            if unknown:
                await _invalid(unknown)(scope, receive, send)
                return
            requested_memory.set(parameters.get("memory"))
        await self._app(scope, receive, send)


class _Tokens(AuthenticationBackend):
    """Check Host, Origin and bearer token; the page itself is open, as it holds nothing of the memory."""

    def __init__(self, address: BindAddress, owner: str) -> None:
        self._address = address
        self._owner = owner

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser]:
        host = conn.headers.get("host", "")
        origin = conn.headers.get("origin")
        if not self._address.knows(host):
            raise _RefusedRequestError(
                400,
                f"this server is not asked under the name {one_line(host)!r}",
                f"Start it with --name {one_line(host_name(host)) or 'HOST'}, or use its address",
            )
        if origin is not None and not self._is_allowed(origin, host):
            raise _RefusedRequestError(
                403,
                f"a page of another site ({one_line(origin)}) may not ask this server",
                f"If you trust that page, start the server with --origin {one_line(origin)}",
            )
        scheme, _, token = conn.headers.get("authorization", "").partition(" ")
        sent = token.strip().encode() if scheme.lower() == "bearer" else b""
        if hmac.compare_digest(sent, self._owner.encode()):
            return AuthCredentials(["owner"]), SimpleUser("owner")
        path = conn.url.path
        is_open = self._address.token is None or path == "/" or path.startswith("/static/")
        if is_open or hmac.compare_digest(sent, str(self._address.token).encode()):
            return AuthCredentials([]), SimpleUser("client")
        hint = "Send it: Authorization: Bearer TOKEN; the server printed at its start where it is"
        raise _RefusedRequestError(401, "the token is missing or wrong", hint)

    def _is_allowed(self, origin: str, host: str) -> bool:
        """Tell whether pages of an origin may ask: those of this server, and those that were allowed."""
        return urlsplit(origin).netloc.lower() == host.lower() or origin in self._address.origins


class _RefusedRequestError(AuthenticationError):
    """A request of somebody who may not ask so."""

    def __init__(self, status: int, text: str, hint: str) -> None:
        super().__init__(text)
        self.described = request_error(status, text, hint)


def _answer_refused(_: HTTPConnection, error: AuthenticationError) -> Response:
    described = error.described if isinstance(error, _RefusedRequestError) else request_error(401, str(error))
    headers = {"WWW_Authenticate": "Bearer"} if described["status"] == 401 else {}
    return error_response(described, **headers)


async def _answer_error(_: Request, error: Exception) -> Response:
    headers = {"Retry_After": str(error.seconds)} if isinstance(error, BusyError) else {}
    return error_response(describe_error(error), **headers)


async def _answer_invalid(request: Request, error: Exception) -> Response:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    return _invalid(problems, request.headers.get("content-type", ""))


def _invalid(problems: Sequence[Any], content_type: str = JSON) -> Response:
    """Return the answer to a request that does not fit."""
    hint = "See /openapi.json"
    if any(problem["loc"][:2] == ("body", "files") for problem in problems):
        hint = "Send files in a form: curl -F files=@notes.md; see /openapi.json"
    elif any(problem["loc"] == ("body",) for problem in problems) and not content_type.startswith(JSON):
        hint = f"Send an object with Content-Type: {JSON}; see /openapi.json"
    return error_response(request_error(422, f"the request cannot be used: {describe(problems, 1)}", hint))


async def _answer_http_error(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(getattr(error, "detail", error)).lower()
    hint = "See /openapi.json" if status in (404, 405) else None
    if status == 413 or "too many files" in detail:
        hint = "Send less at once, or load the folder on the server's machine: gswgraph load FOLDER"
    return error_response(request_error(status, detail, hint))


def _page_headers() -> dict[str, str]:
    """Return the headers of the page: a picture in a frame may run what the page around it allows."""
    policy = (
        f"default-src 'none'; script-src 'self' {scripts()}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    # no-cache: a newer server has other files under the same names
    return {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
    }


class _PageFiles(StaticFiles):
    """Serve the files of the page with the headers of the page."""

    def __init__(self, headers: dict[str, str]) -> None:
        super().__init__(directory=PAGE)
        self._headers = headers

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(self._headers)
        return response


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches what listens at `host`."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() == "localhost"


@dataclass(frozen=True)
class BindAddress:
    """Hold the address of a server, and its rules of access.

    Attributes:
        names: Further host names under which it is asked.
        token: The token that clients must send; None if no token is needed, on loopback.
        origins: Other sites whose pages may ask: `https://notes.example.org`.
    """

    host: str = "127.0.0.1"
    port: int = 8484
    names: Collection[str] = ()
    token: str | None = None
    origins: Collection[str] = ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names under which the server is asked; `*` for any.

        On loopback the Host header must name it, or a page of another site could have its own name lead here
        (DNS rebinding). Beyond loopback a token is always needed, which such a page does not have.
        """
        return ("localhost", "127.0.0.1", "[::1]", *self.names) if is_loopback(self.host) else ("*",)

    def knows(self, host: str) -> bool:
        """Tell whether the server is asked under the name in a Host header."""
        name = host_name(host)
        for known in map(str.lower, self.hosts):
            if name == known or (known.startswith("*") and name.endswith(known[1:])):
                return True
        return False

    @property
    def url(self) -> str:
        """Return the address for people to type."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def local_url(self) -> str:
        """The address for this machine itself of a server that may listen at all addresses."""
        here = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - as others gave it
        return replace(self, host=here.get(self.host, self.host)).url


def read_token(host: str, file: Path | None, folder: Path) -> tuple[str | None, str | None]:
    """Return the token that clients must send, and the file that keeps it.

    Args:
        host: Where the server listens. On loopback no token is needed unless `file` is given.
        file: File of the token. A missing file is made, readable by its owner only.
        folder: Folder of a file without a name.

    Raises:
        InputError: Others can read the file, or it has no token.
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


@contextmanager
def listen(address: BindAddress) -> Iterator[tuple[socket.socket, BindAddress]]:
    """Open a socket, and give it with the address whose port it got. Raises EngineError."""
    opened = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    with closing(opened):
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
    with RunningServer.announced(split_address(state.memory.url)[0], address.local_url, owner), _stoppable():
        make_server(state, address, owner).run(sockets=[opened])


def make_server(state: AppState, address: BindAddress, owner: str) -> uvicorn.Server:
    """Return the server, not yet running.

    Args:
        owner: The token of the memory's owner, who may name files of this machine.
    """
    config = uvicorn.Config(
        application(state, address, owner),
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


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the server and not the process, so that the memory is closed: uvicorn raises
    the signals again that it was stopped by."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
