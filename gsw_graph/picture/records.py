"""What a query returns as a picture: a node for each node, but one for each name, whatever documents and
labels say it, and one at each place for what is no name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gsw_graph.answer.evidence import quote
from gsw_graph.cli.text.output import to_json
from gsw_graph.cli.text.safe_text import clean, cut, one_line
from gsw_graph.errors import InputError
from gsw_graph.names import normalise
from gsw_graph.naming.connecting import connects
from gsw_graph.picture.colours import CAPTIONS
from gsw_graph.picture.picture import NODES, TEXT, Behind, Picture, stand_behind

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
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
    """The picture of what a query returned. behind: passages by node. Raises InputError where it returned no
    node."""
    if not drawn.nodes:
        hint = (
            "Return nodes or paths, as in MATCH way = (:QAPair)-[:ANSWERED_BY]->(:Entity) RETURN way LIMIT 25"
        )
        raise InputError(
            "the query returned nothing that can be drawn: no node, relationship or path", hint=hint
        )
    picture = Picture(cut(one_line(query), _TITLE))
    _passages(picture, behind)
    around: dict[str, list[str]] = {id_: [] for id_ in drawn.nodes}  # the other ends
    for one in drawn.relationships.values():
        if one.start in around and one.end in around:
            around[one.start].append(one.end)
            around[one.end].append(one.start)
    concepts = {_key(node) for node in drawn.nodes.values() if "Concept" in node.labels}
    for node in drawn.nodes.values():
        for at in _places(node, around[node.id]):
            _node(picture, node, at, concepts, behind.get(node.id, ()))
    for one in drawn.relationships.values():
        if one.start not in around or one.end not in around:
            continue
        start, end = drawn.nodes[one.start], drawn.nodes[one.end]
        source, target = _id(start, end.id), _id(end, start.id)
        if source == target:  # the Entity of a Concept
            continue
        edge = picture.edge(source, target, one.type.replace("_", " ").lower())
        stand_behind(edge, _said(start, end, behind))
    if picture.trim() or drawn.left_out:
        total = len(drawn.nodes) + len(drawn.left_out)
        picture.notes.append(
            f"The query returned {total:,} nodes; the first are drawn, as a picture has room for {NODES}. "
            "A LIMIT or a WHERE chooses others."
        )
    return picture


def _passages(picture: Picture, behind: Mapping[str, Sequence[RankedPassage]]) -> None:
    for passages in behind.values():
        for one in passages:
            picture.passages[one.id] = Behind.of(one.title, one.source, one.text)


def _key(node: DrawnNode) -> str | None:
    """What names of the same thing have in common, None for what is no name."""
    name = node.properties.get("name")
    return normalise(name) if isinstance(name, str) and _label(node) in NAMES else None


def _label(node: DrawnNode) -> str:
    return next((label for label in node.labels if label in CAPTIONS), (node.labels or ["?"])[0])


def _common(node: DrawnNode) -> bool:
    """Whether it is a name that joins nothing."""
    own = node.properties
    return _key(node) is not None and (own.get("from") is not None or not connects(str(own["name"])))


def _places(node: DrawnNode, around: Sequence[str]) -> list[str]:
    """Beside which other nodes it stands: a date or a common word at each anew, all else once."""
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
    told = label in SAYING
    stand_behind(made, {one.id: [_sentence(one.text, node)] if told else [] for one in behind})


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
    """The passages behind a relationship: the one that it leads to or from, or those in which both ends
    stand, else those of one."""
    of_start, of_end = behind.get(start.id, ()), behind.get(end.id, ())
    others = {one.id for one in of_end}
    shared = [one for one in of_start if one.id in others] or of_start or of_end
    told = [node for node in (start, end) if _label(node) in SAYING]
    return {one.id: [_sentence(one.text, *told)] if told else [] for one in shared}


def _sentence(text: str, *nodes: DrawnNode) -> str:
    """The sentence of a passage that says most of what nodes say."""
    words = " ".join(_words(node) for node in nodes)
    name = next((_caption(node) for node in reversed(nodes) if _label(node) in NAMES), "")
    return quote(cut(clean(text), TEXT), words, name)


def _words(node: DrawnNode) -> str:
    own: dict[str, Any] = node.properties
    return f"{_caption(node)} {own.get('answer') or ''}"
