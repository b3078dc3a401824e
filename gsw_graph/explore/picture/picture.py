"""A picture: nodes, edges and the passages behind them, whatever they were made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.explore.picture import page
from gsw_graph.text.safe_text import clean, cut, short_source

if TYPE_CHECKING:
    from gsw_graph.model.results import RankedPassage

TEXT = 20_000  # characters of a passage
NODES, EDGES = 300, 900  # more take a browser seconds, and nobody reads them
Lines = list[tuple[str, str]]  # what is said of a node: a word, and what it is


@dataclass
class Node:
    """Hold a box.

    Attributes:
        label: of the graph, or one of `colours.FOUND`.
        column: from the left, None where the layout is free.
        behind: passages that say so, by id, with the sentences that do.
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
    """Hold an arrow; `behind` as that of a node."""

    source: str
    target: str
    caption: str = ""
    behind: dict[str, list[str]] = field(default_factory=dict)
    faint: bool = False


@dataclass
class Source:
    """Hold a passage; `quotes`: the sentences of it that an answer cites."""

    title: str
    source: str
    text: str
    quotes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, title: str, source: str, text: str) -> Source:
        """Make a passage as it can be shown: clean, with a short source and a bounded text."""
        place = short_source(source)
        return cls(title or place, place, cut(clean(text), TEXT))


@dataclass
class Picture:
    """Hold what is drawn; see `Memory.draw`.

    Attributes:
        columns: what stands above each, where there are any.
        notes: what people should know, such as what is left out.
    """

    title: str
    said: str = ""
    columns: list[str] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], Edge] = field(default_factory=dict)
    passages: dict[str, Source] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def node(
        self, id_: str, label: str, caption: str, column: int | None = None, *, faint: bool = False
    ) -> Node:
        """Return the node of that id, a new one where there is none. What is seen again is not faint."""
        made = self.nodes.setdefault(id_, Node(id_, label, caption, column, faint=faint))
        made.faint = made.faint and faint
        return made

    def edge(
        self,
        source: str,
        target: str,
        caption: str = "",
        sources: Mapping[str, Sequence[str]] | None = None,
        *,
        faint: bool = False,
    ) -> Edge:
        """Return the edge between two nodes, with these passages behind it too."""
        made = self.edges.setdefault((source, target, caption), Edge(source, target, caption, faint=faint))
        add_sources(made, sources or {})
        made.faint = made.faint and faint
        return made

    def add_passages(self, passages: Iterable[RankedPassage]) -> None:
        """Add passages as they can be shown: clean, with a short source and a bounded text."""
        for passage in passages:
            self.passages[passage.id] = Source.of(passage.title, passage.source, passage.text)

    def head(self, column: int, text: str) -> None:
        """Write what stands above a column where nothing does."""
        self.columns += [""] * (column + 1 - len(self.columns))
        self.columns[column] = self.columns[column] or text

    def trim(self, keep: Collection[str] = ()) -> bool:
        """Leave out what is too much to look at, of nodes those that came last and are none of these;
        whether anything was."""
        whole = len(self.nodes) <= NODES and len(self.edges) <= EDGES
        first = set(sorted(self.nodes, key=lambda id_: id_ not in keep)[:NODES])
        self.nodes = {id_: node for id_, node in self.nodes.items() if id_ in first}
        joined = (
            item for item in self.edges.items() if {item[1].source, item[1].target} <= self.nodes.keys()
        )
        self.edges = dict(islice(joined, EDGES))
        return not whole

    def html(self) -> str:
        """Make a page that needs nothing else: no network, no other file."""
        return page.page(self)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whole or not at all. Raises InputError where it cannot be written."""
        return page.write(self.html(), path)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return page.framed(self)


def add_sources(drawn: Node | Edge, sources: Mapping[str, Sequence[str]]) -> None:
    """Put passages with their sentences behind a node or an edge, beside those that are there."""
    for passage, sentences in sources.items():
        quotes = drawn.behind.setdefault(passage, [])
        quotes += [text for text in sentences if text.strip() and text not in quotes]
