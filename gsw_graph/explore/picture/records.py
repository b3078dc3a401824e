"""What a query returns as a picture: a node for each node, but one for each name, whatever documents and
labels say it, and one at each place for what is no name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.evidence import quote
from gsw_graph.errors import InputError
from gsw_graph.explore.picture.colours import CAPTIONS
from gsw_graph.explore.picture.picture import NODES, TEXT, Picture, Source, add_sources
from gsw_graph.text.dates import is_distinctive
from gsw_graph.text.names import normalise
from gsw_graph.text.safe_text import clean, cut, one_line, to_json

if TYPE_CHECKING:
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.drawn import Drawn, DrawnNode

NAMES = ("Concept", "Entity")
SAYING = (*NAMES, "QAPair", "VerbPhrase", "Proposition", "Role")  # what a sentence can say
_TITLE = 160
_OURS = {
    "id",
    "names",
    "titles",
    "position",
    "content_hash",
    "text_hash",
}  # of no use to who looks at a picture


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
        hint = (
            "Return nodes or paths, as in MATCH way = (:QAPair)-[:ANSWERED_BY]->(:Entity) RETURN way LIMIT 25"
        )
        raise InputError(
            "the query returned nothing that can be drawn: no node, relationship or path", hint=hint
        )
    picture = Picture(cut(one_line(query), _TITLE))
    for passages in behind.values():
        for passage in passages:
            picture.passages[passage.id] = Source.of(passage.title, passage.source, passage.text)
    around: dict[str, list[str]] = {id_: [] for id_ in drawn.nodes}  # the other ends
    for arrow in drawn.relationships.values():
        if arrow.start in around and arrow.end in around:
            around[arrow.start].append(arrow.end)
            around[arrow.end].append(arrow.start)
    concepts = {_key(node) for node in drawn.nodes.values() if "Concept" in node.labels}
    for node in drawn.nodes.values():
        for at in _places(node, around[node.id]):
            _node(picture, node, at, concepts, behind.get(node.id, ()))
    for arrow in drawn.relationships.values():
        if arrow.start not in around or arrow.end not in around:
            continue
        start, end = drawn.nodes[arrow.start], drawn.nodes[arrow.end]
        source, target = _id(start, end.id), _id(end, start.id)
        if source == target:  # the Entity of a Concept
            continue
        edge = picture.edge(source, target, arrow.type.replace("_", " ").lower())
        add_sources(edge, _said(start, end, behind))
    if picture.trim() or drawn.left_out:
        total = len(drawn.nodes) + len(drawn.left_out)
        picture.notes.append(
            f"The query returned {total:,} nodes; the first are drawn, as a picture has room for {NODES}. "
            "A LIMIT or a WHERE chooses others."
        )
    return picture


def _key(node: DrawnNode) -> str | None:
    """Return what names of the same thing have in common, None for what is no name."""
    name = node.properties.get("name")
    return normalise(name) if isinstance(name, str) and _label(node) in NAMES else None


def _label(node: DrawnNode) -> str:
    return next((label for label in node.labels if label in CAPTIONS), (node.labels or ["?"])[0])


def _common(node: DrawnNode) -> bool:
    """Tell whether it is a name that joins nothing."""
    own = node.properties
    return _key(node) is not None and (own.get("from") is not None or not is_distinctive(str(own["name"])))


def _places(node: DrawnNode, around: Sequence[str]) -> list[str]:
    """Return beside which other nodes it stands: a date or a common word at each anew, all else once."""
    return list(dict.fromkeys(around)) if around and _common(node) else [""]


def _id(node: DrawnNode, beside: str) -> str:
    key = _key(node)
    if key is None:
        return f"node:{node.id}"
    return f"name:{key}:{beside}" if _common(node) else f"name:{key}"


def _node(
    picture: Picture, node: DrawnNode, at: str, concepts: set[str | None], behind: Sequence[RankedPassage]
) -> None:
    label = "Concept" if _key(node) in concepts else _label(node)
    made = picture.node(_id(node, at), label, _caption(node))
    left_out = {*_OURS, CAPTIONS.get(label), *(head for head, _ in made.lines)}
    left_out |= {"text"} if label == "Passage" else set()
    for head, value in sorted(node.properties.items()):
        if value is not None and head not in left_out:
            made.lines.append((head, value if isinstance(value, str) else to_json(value)))
    says = label in SAYING
    add_sources(made, {passage.id: [_sentence(passage.text, node)] if says else [] for passage in behind})


def _caption(node: DrawnNode) -> str:
    own = node.properties
    known = own.get(CAPTIONS.get(_label(node), "name"))
    for value in (known, own.get("name"), own.get("title"), own.get("source"), own.get("id")):
        if isinstance(value, str) and value.strip():
            return value
    return _label(node)


def _said(
    start: DrawnNode, end: DrawnNode, behind: Mapping[str, Sequence[RankedPassage]]
) -> dict[str, list[str]]:
    """Return the passages behind a relationship: those in which both ends stand, else those of one."""
    of_start, of_end = behind.get(start.id, ()), behind.get(end.id, ())
    others = {passage.id for passage in of_end}
    shared = [passage for passage in of_start if passage.id in others] or of_start or of_end
    says = [node for node in (start, end) if _label(node) in SAYING]
    return {passage.id: [_sentence(passage.text, *says)] if says else [] for passage in shared}


def _sentence(text: str, *nodes: DrawnNode) -> str:
    """Return the sentence of a passage that says most of what nodes say."""
    words = " ".join(_words(node) for node in nodes)
    name = next((_caption(node) for node in reversed(nodes) if _label(node) in NAMES), "")
    return quote(cut(clean(text), TEXT), words, name)


def _words(node: DrawnNode) -> str:
    own: dict[str, Any] = node.properties
    return f"{_caption(node)} {own.get('answer') or ''}"
