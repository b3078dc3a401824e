"""The application: what stands before the routes, the routes, and what is served beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException
from starlette.types import Scope

from gsw_graph import __version__
from gsw_graph.errors import GswGraphError
from gsw_graph.serve import asking, loading, looking, routes
from gsw_graph.serve.bodies import BodyLimit
from gsw_graph.serve.desk import Desk
from gsw_graph.serve.faults import Fault, fault, fault_of
from gsw_graph.serve.mcp_server import Server
from gsw_graph.serve.security import Gate, Security

PAGE = Path(__file__).parent / "page"
"""The page and what it is made of: `index.html` at `/`, all of the folder under `/static/`. It is open to
everybody who reaches the server, as it holds nothing of the memory, and sends the token itself."""

_OURS = TransportSecuritySettings(
    enable_dns_rebinding_protection=False
)  # `security.py` looks at both headers

ABOUT = """A memory over HTTP. What a route gives back is what `gswgraph VERB --json` prints.

An error has `error`, `where`, `hint` and `kind`: what happened, where, what to do next, and its class. A
route that can tell its way answers `Accept: text/event-stream` with server-sent events, the last of which
is the result or `error`."""


def application(desk: Desk, gate: Gate) -> FastAPI:
    """The whole application."""

    agents = Server(desk)
    # Without sessions: a request is whole in itself, and nothing is kept for who does not come back.
    inside = agents.streamable_http_app(stateless_http=True, transport_security=_OURS)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        async with agents.session_manager.run():
            desk.reads.start(
                lambda cancel: desk.memory.warm(cancel=cancel)
            )  # the first question is as fast as the next
            yield

    app = FastAPI(
        title="gswgraph", version=__version__, description=ABOUT, docs_url=None, redoc_url=None, lifespan=life
    )
    app.state.desk = desk
    for part in (asking, looking, loading):
        app.include_router(part.router, prefix="/api")
    app.router.routes.extend(inside.routes)  # one: /mcp
    app.add_exception_handler(GswGraphError, _said)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _said)
    if (PAGE / "index.html").exists():
        from gsw_graph.picture.page import scripts

        # what a picture in a frame may run, the page around it must allow
        policy = (
            f"default-src 'none'; script-src 'self' {scripts()}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )
        # asked for again each time: a newer server has other files under the same names
        headers = {
            "Content-Security-Policy": policy,
            "Cache-Control": "no-cache",
            "X-Content-Type-Options": "nosniff",
        }
        app.mount("/static", _Static(headers), name="static")

        @app.get("/", include_in_schema=False)
        def page() -> Response:
            return FileResponse(PAGE / "index.html", headers=headers)

        @app.get("/docs", include_in_schema=False)
        def routes_page() -> Response:
            return HTMLResponse(routes.page(app.openapi()), headers=headers)

    app.add_middleware(BodyLimit, uploads=desk.limits.upload, large=frozenset({"/api/load"}))
    app.add_middleware(Security, gate=gate)  # the last is the outermost
    return app


def described() -> dict[str, Any]:
    """What the application says of itself, by OpenAPI; without a memory."""
    app = FastAPI(title="gswgraph", version=__version__, description=ABOUT)
    for part in (asking, looking, loading):
        app.include_router(part.router, prefix="/api")
    return app.openapi()


class _Static(StaticFiles):
    """The files of the page, with the headers of the page: `/static/index.html` is the page too."""

    def __init__(self, headers: dict[str, str]) -> None:
        super().__init__(directory=PAGE)
        self._headers = headers

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(self._headers)
        return response


async def _said(_: Request, error: Exception) -> Response:
    return _response(fault_of(error))


async def _invalid(_: Request, error: Exception) -> Response:
    """One sentence for what pydantic lists, without the values that were sent."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - for mypy
    said = [
        f"{'.'.join(str(part) for part in one['loc'][1:]) or one['loc'][0]}: {one['msg']}"
        for one in error.errors()[:3]
    ]
    return _response(fault(422, f"the request cannot be used: {'; '.join(said)}", "See /openapi.json"))


async def _plain(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - for mypy
    hint = "See /openapi.json" if error.status_code in (404, 405) else None
    if "too many files" in str(error.detail).lower():
        hint = "Send them in parts, or load the folder on the server's machine: gswgraph load FOLDER"
    found = fault(error.status_code, str(error.detail).lower(), hint)
    return _response(Fault(found.status, found.body, dict(error.headers or {})))


def _response(found: Fault) -> JSONResponse:
    return JSONResponse(found.body, found.status, found.headers)
