"""Build a picture of nodes and edges with the passages behind them, and write its page, an HTML file.

The file contains the library that draws it (Cytoscape.js), our script and the data; its
Content-Security-Policy allows these two scripts and no request. Texts of documents reach the page as JSON
alone, which `assets/page.js` shows as text and never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gsw_graph.config import expanded
from gsw_graph.errors import InputError
from gsw_graph.text.safe_text import clean, cut, one_line, short_source
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from gsw_graph.model.results import RankedPassage

TEXT = 20_000  # characters of a passage
CAPTION = 300
VALUE = 2_000
NODES, EDGES = 300, 900  # more take a browser seconds, and nobody reads them
FRAME = 560  # pixels, in a notebook
SCRIPTS = "cytoscape.min.js", "page.js"

# Colours are light enough for dark text in light and dark surroundings, and neighbours in the graph differ in
# lightness as well as in hue. An Entity is a paler Concept: it is that name in one document.
TEXT_COLOUR = "#1d1f24"  # on every fill
COLOURS = {
    "Question": "#f5c451",
    "QAPair": "#f59d7e",
    "Concept": "#5cc5a8",
    "Entity": "#b5e3d6",
    "Role": "#d3b7e8",
    "VerbPhrase": "#f2b8d0",
    "Proposition": "#c6d96f",
    "Relation": "#e8c9a0",
    "Run": "#9fd8e8",
    "Passage": "#8fbcf0",
    "Document": "#b9c3d0",
    "Memory": "#d9d4c7",
    "Correction": "#e3c7c7",
}
OTHER = "#dadde2"  # of any other label

CAPTIONS = {  # the property that is the caption of a node
    "Question": "question",
    "QAPair": "question",
    "Concept": "name",
    "Entity": "name",
    "Role": "name",
    "VerbPhrase": "phrase",
    "Proposition": "text",
    "Relation": "name",
    "Run": "title",
    "Passage": "title",
    "Document": "title",
    "Memory": "id",
    "Correction": "value",
}

DRAWN = {  # nodes of pictures alone, not of the graph
    "Sub-question": "#fae3a8",
    "Finding": "#e3e5ea",
    "Answer": "#fff3cf",
}

Lines = list[tuple[str, str]]  # details of a node: a label and its text


@dataclass
class Node:
    """Hold a node of a picture.

    Attributes:
        label: A label of the graph, or one of `DRAWN`.
        column: Column from the left; None in a free layout.
        behind: Supporting passages by id, with the supporting sentences.
    """

    id: str
    label: str
    caption: str
    column: int | None = None
    lines: Lines = field(default_factory=list)
    behind: dict[str, list[str]] = field(default_factory=dict)
    answer: bool = False
    faint: bool = False


@dataclass
class Edge:
    """Hold an edge of a picture; `behind` as in a node."""

    source: str
    target: str
    caption: str = ""
    behind: dict[str, list[str]] = field(default_factory=dict)
    faint: bool = False


@dataclass
class Source:
    """Hold a passage of a picture. `quotes`: its sentences that an answer cites."""

    title: str
    source: str
    text: str
    quotes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, title: str, source: str, text: str) -> Source:
        """Make a passage as it can be shown: clean, with a short source and a bounded text."""
        short = short_source(source)
        return cls(title or short, short, cut(clean(text), TEXT))


@dataclass
class Picture:
    """Hold nodes, edges and the passages behind them; see `Memory.draw`.

    Attributes:
        subtitle: The line below the title, such as the answer.
        columns: The titles of columns.
        notes: Remarks for the reader, such as omissions.
    """

    title: str
    subtitle: str = ""
    columns: list[str] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], Edge] = field(default_factory=dict)
    passages: dict[str, Source] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def node(
        self, id_: str, label: str, caption: str, column: int | None = None, *, faint: bool = False
    ) -> Node:
        """Return the node of an id, new if there is none. A node is faint only if it is always added so."""
        node = self.nodes.setdefault(id_, Node(id_, label, caption, column, faint=faint))
        node.faint = node.faint and faint
        return node

    def edge(
        self,
        source: str,
        target: str,
        caption: str = "",
        sources: Mapping[str, Sequence[str]] | None = None,
        *,
        faint: bool = False,
    ) -> Edge:
        """Return the edge between two nodes, and add these passages to it."""
        edge = self.edges.setdefault((source, target, caption), Edge(source, target, caption, faint=faint))
        add_sources(edge, sources or {})
        edge.faint = edge.faint and faint
        return edge

    def add_passages(self, passages: Iterable[RankedPassage]) -> None:
        """Add passages as they can be shown: clean, with a short source and a bounded text."""
        for passage in passages:
            self.passages[passage.id] = Source.of(passage.title, passage.source, passage.text)

    def add_column_title(self, column: int, text: str) -> None:
        """Add a title to a column."""
        self.columns += [""] * (column + 1 - len(self.columns))
        title = self.columns[column]
        if text not in title:
            self.columns[column] = f"{title} / {text}" if title else text

    def column_of(self, title: str, first: int) -> int:
        """Return the first column, `first` or a later one, that has this title or none."""
        column = first
        while column < len(self.columns) and self.columns[column] not in ("", title):
            column += 1
        return column

    def trim(self, keep: Collection[str] = ()) -> bool:
        """Remove the last nodes and edges above the limits, except the nodes `keep`. Return whether any were
        removed."""
        if len(self.nodes) <= NODES and len(self.edges) <= EDGES:
            return False
        kept = set(sorted(self.nodes, key=lambda id_: id_ not in keep)[:NODES])
        for id_ in self.nodes.keys() - kept:
            del self.nodes[id_]
        edges = [key for key, edge in self.edges.items() if {edge.source, edge.target} <= kept]
        self.edges = {key: self.edges[key] for key in edges[:EDGES]}
        return True

    def html(self) -> str:
        """Make a page that needs nothing else: no network, no other file."""
        return rendered(picture_data(self))

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whole or not at all. Raises InputError if the file cannot be written."""
        return write(self.html(), path)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page in a frame that may run its scripts alone."""
        style = f"width: 100%; height: {FRAME}px; border: 1px solid #8886; border-radius: 6px"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self.html())}"></iframe>'


def add_sources(element: Node | Edge, sources: Mapping[str, Sequence[str]]) -> None:
    """Add passages with their sentences to a node or an edge."""
    for passage, sentences in sources.items():
        quotes = element.behind.setdefault(passage, [])
        quotes += [text for text in sentences if text.strip() and text not in quotes]


def rendered(data: Fields) -> str:
    """Render the page of a picture's data."""
    loader = PackageLoader("gsw_graph.explore.picture", "assets")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    library, script = (_asset(name) for name in SCRIPTS)
    return environment.get_template("page.html.j2").render(
        title=data["title"],
        policy=f"default-src 'none'; script-src {scripts()}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=_asset("page.css"),
        library=library,
        script=script,
        data=_json(data),
    )


def scripts() -> str:
    """Return the scripts of a page for a Content-Security-Policy. A page with this page in a frame must allow
    them too."""
    return " ".join(_hash(_asset(name)) for name in SCRIPTS)


def write(html: str, path: str | Path) -> Path:
    """Write a page whole or not at all, by a second file that is then renamed. Raises InputError if this
    fails."""
    target = check_path(path)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        part.write_text(html, encoding="utf-8", errors="replace")
        part.replace(target)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"the picture cannot be written ({reason})", where=str(path)) from error
    finally:
        part.unlink(missing_ok=True)
    return target


def check_path(path: str | Path) -> Path:
    """Return a path to which a file can be written. Raises InputError if it is a folder, or its folder is
    missing."""
    target = expanded(path)
    try:
        is_folder, has_folder = target.is_dir(), target.parent.is_dir()
    except OSError as error:  # as of a name that is too long
        raise InputError(f"this is no name of a file ({error})", where=one_line(str(path))) from error
    if is_folder:
        raise InputError("this is a folder", where=str(path), hint="Name a file in it, such as picture.html")
    if not has_folder:
        raise InputError("there is no such folder", where=str(target.parent), hint="Make it first")
    return target


def picture_data(picture: Picture) -> Fields:
    """Return the data of the page's script: `title`, `said`, `notes`, `columns`, `colours` by label, `nodes`,
    `edges`, and by id the `passages` behind them; long texts are cut."""
    behind: set[str] = set()
    colours: dict[str, str] = {}
    nodes = []
    for node in picture.nodes.values():
        behind.update(node.behind)
        colours[node.label] = COLOURS.get(node.label) or DRAWN.get(node.label, OTHER)
        lines = [(one_line(head), cut(text, VALUE)) for head, text in node.lines]
        nodes.append({**asdict(node), "caption": _shown(node.caption), "lines": lines})
    edges = []
    for edge in picture.edges.values():
        behind.update(edge.behind)
        edges.append({**asdict(edge), "caption": one_line(edge.caption)})
    return {
        "title": _shown(picture.title),
        "said": _shown(picture.subtitle, VALUE),
        "notes": picture.notes,
        "columns": [_shown(column) for column in picture.columns],
        "colours": colours,
        "nodes": nodes,
        "edges": edges,
        "passages": {id_: asdict(passage) for id_, passage in picture.passages.items() if id_ in behind},
    }


def _shown(text: str, longest: int = CAPTION) -> str:
    return cut(one_line(text), longest)


def _json(value: Any) -> str:
    """Return JSON that is safe inside an HTML document: no `<`, only ASCII, nothing that controls a terminal
    or reorders text."""
    text = json.dumps(_cleaned(value), separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


@cache
def _asset(name: str) -> str:
    return files("gsw_graph.explore.picture").joinpath("assets").joinpath(name).read_text("utf-8").strip()


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
