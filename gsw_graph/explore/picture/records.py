"""What a query returns as a picture: a node for each node, but one for each name, whatever documents and
labels say it, and one at each place for what is no name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import quote
from gsw_graph.cypher import base_name
from gsw_graph.errors import InputError
from gsw_graph.explore.picture.colours import CAPTIONS
from gsw_graph.explore.picture.picture import NODES, TEXT, Picture, add_sources
from gsw_graph.store.adhoc import plain
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import normalise
from gsw_graph.text.safe_text import clean, cut, one_line, to_json

if TYPE_CHECKING:
    from neo4j.graph import Node

    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.adhoc import Drawn

NAMES = ("Concept", "Entity")
SAYING = (*NAMES, "QAPair", "VerbPhrase", "Proposition", "Role")  # what a sentence can say
_TITLE = 160
# Of no use to who looks at a picture.
_HIDDEN = {"id", "names", "titles", "position", "content_hash", "text_hash", "words", "embedding", "vector"}


class Thing:
    """A node of the graph: how it is labelled and called, the passages behind it, and which box shows it."""

    def __init__(self, node: Node, behind: Sequence[RankedPassage]) -> None:
        self.node, self.behind = node, behind
        labels = sorted(map(base_name, node.labels)) or ["?"]
        self.label = next((label for label in labels if label in CAPTIONS), labels[0])
        names = (CAPTIONS.get(self.label, "name"), "name", "title", "source", "id")
        texts = (text for text in map(node.get, names) if isinstance(text, str) and text.strip())
        self.caption = next(texts, self.label)
        is_name = self.label in NAMES and isinstance(node.get("name"), str)
        self.key = normalise(node["name"]) if is_name else None  # what names of the same thing have in common
        self.is_common = is_name and (node.get("from") is not None or not is_distinctive(node["name"]))

    def box(self, beside: str) -> str:
        """Return the id of its box beside another node: a date or a common word has one at each."""
        if self.key is None:
            return f"node:{self.node.element_id}"
        return f"name:{self.key}:{beside}" if self.is_common else f"name:{self.key}"

    def lines(self, left_out: set[str | None]) -> list[tuple[str, str]]:
        """Return its other properties as texts."""
        values = {name: plain(value) for name, value in sorted(self.node.items()) if name not in left_out}
        return [
            (name, value if isinstance(value, str) else to_json(value))
            for name, value in values.items()
            if value is not None
        ]


def of_records(query: str, drawn: Drawn, behind: Mapping[str, Sequence[RankedPassage]]) -> Picture:
    """Draw what a query returned.

    Args:
        query: as it was written.
        drawn: its nodes and relationships.
        behind: passages by node.

    Raises:
        InputError: it returned no node.
    """
    if not drawn.nodes:
        raise InputError(
            "the query returned nothing that can be drawn: no node, relationship or path",
            hint="Return nodes or paths, as in MATCH way = (:QAPair)-[:ANSWERED_BY]->(:Entity) "
            "RETURN way LIMIT 25",
        )
    picture = Picture(cut(one_line(query), _TITLE))
    picture.add_passages(passage for passages in behind.values() for passage in passages)
    things = {id_: Thing(node, behind.get(id_, ())) for id_, node in drawn.nodes.items()}
    arrows = []
    around: dict[str, list[str]] = defaultdict(list)  # the other ends
    for arrow in drawn.relationships.values():
        start, end = (node.element_id if node else "" for node in arrow.nodes)
        if start in things and end in things:
            arrows.append((base_name(arrow.type), start, end))
            around[start].append(end)
            around[end].append(start)
    concepts = {thing.key for thing in things.values() if thing.label == "Concept"}
    for id_, thing in things.items():
        for beside in dict.fromkeys(around[id_]) if thing.is_common and around[id_] else ("",):
            label = "Concept" if thing.key in concepts else thing.label
            node = picture.node(thing.box(beside), label, thing.caption)
            left_out = {*_HIDDEN, CAPTIONS.get(label), *(head for head, _ in node.lines)}
            node.lines += thing.lines(left_out | ({"text"} if label == "Passage" else set()))
            add_sources(node, _sentences(thing.behind, thing))
    for kind, start, end in arrows:
        source, target = things[start], things[end]
        if source.box(end) != target.box(start):  # as of an Entity and its Concept
            edge = picture.edge(source.box(end), target.box(start), kind.replace("_", " ").lower())
            others = {passage.id for passage in target.behind}
            shared = [passage for passage in source.behind if passage.id in others]
            add_sources(edge, _sentences(shared or source.behind or target.behind, source, target))
    if picture.trim() or drawn.left_out:
        total = len(drawn.nodes) + len(drawn.left_out)
        picture.notes.append(
            f"The query returned {total:,} nodes; the first are drawn, as a picture has room for {NODES}. "
            "A LIMIT or a WHERE chooses others."
        )
    return picture


def _sentences(passages: Sequence[RankedPassage], *things: Thing) -> dict[str, list[str]]:
    """Return, by the id of each passage, its sentence that says most of what some things say."""
    saying = [thing for thing in things if thing.label in SAYING]
    words = " ".join(f"{thing.caption} {thing.node.get('answer') or ''}" for thing in saying)
    name = next((thing.caption for thing in reversed(saying) if thing.label in NAMES), "")
    return {
        passage.id: [quote(cut(clean(passage.text), TEXT), words, name)] if saying else []
        for passage in passages
    }
