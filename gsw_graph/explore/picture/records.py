"""What a query returns as a picture: a node for each node, but one for each name, whatever documents and
labels say it. Dates, numbers and common words join nothing."""

from __future__ import annotations

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
_SAYING = (*NAMES, "QAPair", "VerbPhrase", "Proposition", "Role")  # what a sentence can say
_TITLE = 160
# Of no use to who looks at a picture.
_HIDDEN = {"id", "names", "titles", "position", "content_hash", "text_hash", "words", "embedding", "vector"}


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
    boxes: dict[str, str] = {}  # ids in the picture by those of nodes
    for id_, node in drawn.nodes.items():
        label, caption = _label(node), _caption(node)
        joins = label in NAMES and node.get("from") is None and is_distinctive(caption)
        boxes[id_] = f"name:{normalise(caption)}" if joins else f"node:{id_}"
        box = picture.node(boxes[id_], label, caption)
        box.label = "Concept" if "Concept" in (label, box.label) else box.label
        left_out = _HIDDEN | {CAPTIONS.get(label), "text" if label == "Passage" else ""}
        left_out |= {head for head, _ in box.lines}
        values = {name: plain(value) for name, value in sorted(node.items()) if name not in left_out}
        box.lines += [
            (name, value if isinstance(value, str) else to_json(value))
            for name, value in values.items()
            if value is not None
        ]
        add_sources(box, _sentences(behind.get(id_, ()), node))
    for arrow in drawn.relationships.values():
        start, end = (node.element_id if node else "" for node in arrow.nodes)
        if {start, end} <= boxes.keys() and boxes[start] != boxes[end]:  # as of an Entity and its Concept
            edge = picture.edge(boxes[start], boxes[end], base_name(arrow.type).replace("_", " ").lower())
            others = {passage.id for passage in behind.get(end, ())}
            shared = [passage for passage in behind.get(start, ()) if passage.id in others]
            passages = shared or behind.get(start) or behind.get(end, ())
            add_sources(edge, _sentences(passages, drawn.nodes[start], drawn.nodes[end]))
    if picture.trim() or drawn.left_out:
        total = len(drawn.nodes) + len(drawn.left_out)
        picture.notes.append(
            f"The query returned {total:,} nodes; the first are drawn, as a picture has room for {NODES}. "
            "A LIMIT or a WHERE chooses others."
        )
    return picture


def _label(node: Node) -> str:
    labels = sorted(map(base_name, node.labels)) or ["?"]
    return next((label for label in labels if label in CAPTIONS), labels[0])


def _caption(node: Node) -> str:
    label = _label(node)
    texts = map(node.get, (CAPTIONS.get(label, "name"), "name", "title", "source", "id"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), label)


def _sentences(passages: Sequence[RankedPassage], *nodes: Node) -> dict[str, list[str]]:
    """Return, by the id of each passage, its sentence that says most of what some nodes say."""
    saying = [node for node in nodes if _label(node) in _SAYING]
    words = " ".join(f"{_caption(node)} {node.get('answer') or ''}" for node in saying)
    name = next((_caption(node) for node in reversed(saying) if _label(node) in NAMES), "")
    return {
        passage.id: [quote(cut(clean(passage.text), TEXT), words, name)] if saying else []
        for passage in passages
    }
