"""Link to Neo4j Browser: its address for a memory, links with a query in its editor, and the queries that
draw an answer or a whole memory."""

from __future__ import annotations

import json
import os
import re
import sys
import webbrowser
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from gsw_graph.cypher import statement
from gsw_graph.engine import local
from gsw_graph.engine.address import parse, split_address
from gsw_graph.errors import EngineError

if TYPE_CHECKING:
    from gsw_graph.config import Settings

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_AURA = ".databases.neo4j.io"
_HOSTED = "https://browser.neo4j.io/"  # Neo4j's own page, which speaks to Aura from your web browser


@dataclass(frozen=True, slots=True)
class BrowserAddress:
    """Hold the address of Neo4j Browser for a server.

    Attributes:
        page: The URL of the page, without arguments.
        dbms: The URL of the database.
    """

    page: str
    dbms: str
    database: str | None

    def link(self, query: str | None = None) -> str:
        """Return the URL that opens Browser with server and user filled in and a query in the editor. A query
        has no `&` and no `#`, at which Browser cuts it after decoding."""
        arguments = [f"dbms={quote(self.dbms, safe=':/@[]')}"]
        if self.database:
            arguments.append(f"db={quote(self.database, safe='')}")
        if query is not None:
            arguments.append(f"cmd=edit&arg={quote(query, safe='')}")
        return f"{self.page}?{'&'.join(arguments)}"


def find(settings: Settings) -> BrowserAddress:
    """Return the address of Browser for a memory: a private server's own, or port 7474 of another server.

    Raises:
        EngineError: The memory is a folder, which has no Browser.
    """
    if "://" not in settings.memory:
        raise EngineError(
            "a memory in a folder has no Neo4j Browser",
            where=settings.memory,
            hint="For Browser load the documents into a server: gswgraph db start, then gswgraph --memory "
            "bolt://127.0.0.1:7687 load FILES",
        )
    address = parse(settings.memory)
    host = f"[{address.host}]" if ":" in address.host else address.host
    user = quote(address.username or settings.username, safe="")
    login = f"{address.scheme}://{user}@{host}:{address.port}"
    if address.host in _LOOPBACK:
        for server in _running(settings, address.port):
            page = server.browser.partition("?")[0]
            # no database: there is only one, and Browser 5.24 does not find it by name on Neo4j 2026
            return BrowserAddress(page, login, None)
    page = f"http://{host}:7474/browser/"
    if address.host.endswith(_AURA):
        page = _HOSTED
    elif "+s" in address.scheme:
        page = f"https://{host}:7473/browser/"
    return BrowserAddress(page, login, settings.database or address.database)


def _running(settings: Settings, port: int) -> list[local.LocalServer]:
    """Return the private servers that run at a port, one at most."""
    ending = f":{port}"
    return [server for server in local.status(settings) if server.running and server.url.endswith(ending)]


def style_sheet(settings: Settings) -> str:
    """Return the colours and captions of a memory as a file that is dropped on Browser."""
    _, name = split_address(settings.memory)
    return local.style_sheet([name] if name else [])


def is_grey(settings: Settings) -> bool:
    """Return whether Browser of a private server shows a memory in grey: it knows the labels that the server
    held when it started."""
    place, name = split_address(settings.memory)
    if not name:
        return False
    servers = _running(settings, parse(place).port)
    return any(name not in local.styled_memories(server.home) for server in servers)


_COMMENTS = re.compile(r"\A(?://[^\n]*\n)+")


def drawing(question: str) -> str:
    """Write a query that draws the basis of the answer to a stored question. It contains only the id of the
    question, and no text of documents."""
    query = _query("answer_drawn").replace("$question", json.dumps(question))
    return f"// What the answer is based on\n{query}"


def overview() -> str:
    """Write a query that draws the names that connect most documents."""
    return f"// What brings the documents together\n{_query('overview_drawn')}"


def _query(name: str) -> str:
    text: str = statement(f"read/{name}", "neo4j")
    return _COMMENTS.sub("", text).strip()


def open_page(url: str) -> bool:
    """Open a page in the web browser. Return False if there is no browser with a window: a text browser
    cannot show a graph."""
    has_window = sys.platform in ("darwin", "win32")
    if not has_window and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
