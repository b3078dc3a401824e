"""A guided tour of a loaded memory, as a guide of Neo4j Browser."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gsw_graph.browser import answer, saved, style
from gsw_graph.browser.serving import Served, Server
from gsw_graph.cli.text.safe_text import clean
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from gsw_graph.browser.address import Place
    from gsw_graph.engine import Connection

GUIDE, STYLE, SAVED = "tour.html", "gswgraph.grass", "gswgraph.zip"
_QUESTIONS = 3  # the latest that have an answer


def server(connection: Connection, place: Place) -> Server:
    """A server of the guide, the style and the saved queries; `serve_forever` runs it. Every fetch of the
    guide reads the memory anew."""
    files_: dict[str, Served] = {
        STYLE: Served("text/plain; charset=utf-8", lambda: style.grass().encode()),
        SAVED: Served("application/zip", saved.archive),
    }
    found = Server(files_, place)
    found.guide = place.link(found.address + GUIDE, command="play")
    files_[GUIDE] = Served("text/html; charset=utf-8", partial(_guide, connection, found))
    return found


def _guide(connection: Connection, server: Server) -> bytes:
    return guide(Reader(connection), server.address).encode()


def guide(reader: Reader, address: str) -> str:
    """The guide as HTML. Browser takes ` on...=` out of it, which may stand in a query: the template writes
    its equals signs as entities."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["told"] = _told
    template = environment.from_string(
        (files("gsw_graph.browser") / "tour.html.j2").read_text(encoding="utf-8")
    )
    nodes, relationships = reader.counts()
    return template.render(
        nodes=nodes,
        relationships=relationships,
        style=address + STYLE,
        saved=address + SAVED,
        overview=answer.overview(),
        questions=_questions(reader),
        analyses=[_analysis(text) for text in saved.queries().values()],
    )


def _questions(reader: Reader) -> list[dict[str, Any]]:
    """The latest questions that were answered, with what draws each."""
    found = [row for row in reader.questions("", limit=20) if not row["abstained"]][:_QUESTIONS]
    return [
        {"question": row["question"], "answer": row["answer"], "query": answer.drawing(reader, row["id"])}
        for row in found
    ]


def _analysis(text: str) -> tuple[str, str]:
    """The first comment of an analysis, and its text."""
    return text.partition("\n")[0].removeprefix("//").strip(), text.strip()


def _told(text: str) -> Any:
    from markupsafe import Markup, escape

    return Markup(str(escape(clean(text))).replace("=", "&#61;"))  # noqa: S704 - escaped before
