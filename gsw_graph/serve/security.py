"""Who may ask the server: by the name under which it is asked, by the page that asks, and by a token."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from gsw_graph.serve.faults import Fault, fault

OWNER = "gswgraph.owner"  # in the scope: whether the owner of the memory asks, who reads the same files

# What holds nothing of a memory: the pages and what they are made of. They ask for the token themselves.
OPEN = frozenset({"/", "/docs"})
OPEN_FOLDER = "/static/"


@dataclass(frozen=True)
class Gate:
    """What is let in.

    names: the hosts under which the server may be asked; a page of another site that has its name lead here
    (DNS rebinding) asks under that name. Addresses of numbers pass where `numbers`: no name leads there.
    token: what everybody must send, None where nobody need. owner: what the command line of the same user
    sends, which may name files of this machine and write by Cypher.
    """

    names: frozenset[str]
    numbers: bool
    token: str | None
    owner: str

    @classmethod
    def of(cls, host: str, token: str | None, owner: str, names: Collection[str] = ()) -> Gate:
        """The gate of a server that listens at `host`; names: further ones under which it is asked."""
        here = {"localhost", "127.0.0.1", "::1", *(name.lower() for name in names)}
        far = not is_loopback(host)
        if far:
            here |= {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
        return cls(frozenset(here), far, token, owner)

    def refusal(self, headers: Headers, path: str) -> Fault | None:
        """Why a request is not let in, None where it is."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._knows(hosts[0]):
            return fault(
                421, "this server is not called so", "Ask it by its address, or start it with --name NAME"
            )
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != hosts[0].lower():
            return fault(403, "a page of another site may not ask this server")
        open_ = path in OPEN or path.startswith(OPEN_FOLDER)
        if self.token is None or open_ or self.given(headers) is not None:
            return None
        hint = "Send it: Authorization: Bearer TOKEN; the server said at its start where it stands"
        return fault(401, "the token is missing or wrong", hint, WWW_Authenticate="Bearer")

    def given(self, headers: Headers) -> str | None:
        """Whose token a request has: `owner`, `token` or None. Compared in constant time."""
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        found = None
        for name, token in (("token", self.token), ("owner", self.owner)):
            if token is not None and hmac.compare_digest(sent.strip().encode(), token.encode()):
                found = name
        return found

    def _knows(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self.names or (self.numbers and _is_number(name))


class Security:
    """Lets a request in or answers it; the outermost of what stands before the routes."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._gate.refusal(headers, scope["path"])
        if refused is not None:
            await JSONResponse(refused.body, refused.status, refused.headers)(scope, receive, send)
            return
        scope[OWNER] = self._gate.given(headers) == "owner"
        await self._app(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether nobody else's machine reaches what listens there."""
    return host.lower() == "localhost" or (_is_number(host) and ipaddress.ip_address(host).is_loopback)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
