"""What a query returns as a graph: its nodes and relationships, also those in paths, lists and maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gsw_graph.concurrency import Check, never_cancelled
from gsw_graph.store.adhoc import plain, read
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from neo4j import Result
    from neo4j.graph import Node, Relationship

    from gsw_graph.engine import Connection
    from gsw_graph.model.results import RankedPassage

_HIDDEN = frozenset({"embedding", "vector"})
_REFUSED = "Change it first, and draw it then"
_PASSAGES = 3  # behind one entity
_EACH = 10  # relationships that are kept for each node that is drawn: a query may return all of a memory
_LABELS = {
    "Entity": "entities",
    "Passage": "passages",
    "QAPair": "pairs",
    "VerbPhrase": "phrases",
    "Proposition": "propositions",
}


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node; `id` is the engine's, properties are of JSON and without vectors."""

    id: str
    labels: list[str]
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DrawnRelationship:
    """A relationship between two nodes, by the engine's ids."""

    type: str
    start: str
    end: str
    properties: dict[str, Any]


@dataclass
class Drawn:
    """Nodes and relationships by the engine's ids. left_out: ids of nodes beyond the limit."""

    nodes: dict[str, DrawnNode] = field(default_factory=dict)
    relationships: dict[str, DrawnRelationship] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)


def drawn(
    connection: Connection,
    query: str,
    parameters: Mapping[str, Any],
    *,
    most: int,
    timeout: float | None,
    check: Check = never_cancelled,
) -> Drawn:
    """What a query that only reads returns, with the ends of its relationships; of more than `most` nodes
    the first. Raises InputError as `adhoc.run` does."""
    found = read(
        connection,
        query,
        parameters,
        lambda result: _take(result, most),
        timeout=timeout,
        check=check,
        refused=_REFUSED,
    )
    ends = dict.fromkeys(end for one in found.relationships.values() for end in (one.start, one.end))
    missing = [end for end in ends if end not in found.nodes and end not in found.left_out]
    for row in DrawnReader(connection).nodes_by_element(missing[:most]) if missing else ():
        _add(found, row, most)
    return found


class DrawnReader(Reader):
    """What stands behind drawn nodes."""

    def nodes_by_element(self, ids: Sequence[str]) -> list[Node]:
        """Nodes by the engine's ids."""
        return [row["n"] for row in self._run("read/nodes_by_element", ids=list(ids))]

    def behind(self, nodes: Sequence[DrawnNode]) -> dict[str, list[RankedPassage]]:
        """The passages in which nodes stand, by the engine's id of the node; of an entity a few."""
        ids: dict[str, list[str]] = {name: [] for name in _LABELS.values()}
        by_id: dict[str, list[str]] = {}
        for node in nodes:
            for label in node.labels:
                if label in _LABELS and isinstance(own := node.properties.get("id"), str):
                    ids[_LABELS[label]].append(own)
                    by_id.setdefault(own, []).append(node.id)
        found: dict[str, list[RankedPassage]] = {}
        for row in self._run("read/behind", **ids, most=_PASSAGES) if by_id else ():
            for node_id in by_id[row["id"]]:
                found.setdefault(node_id, []).append(_ranked(row))
        return found


def _take(result: Result, most: int) -> Drawn:
    from neo4j.graph import Node, Relationship

    found = Drawn()
    for record in result:
        for value in _entities(record.values()):
            if isinstance(value, Node):
                _add(found, value, most)
            elif isinstance(value, Relationship):
                _relate(found, value, _EACH * most)
    return found


def _entities(value: Any) -> Iterator[Any]:
    """Nodes and relationships in a value, in their order."""
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node | Relationship):
        yield value
    elif isinstance(value, Path):
        yield from (*value.nodes, *value.relationships)
    elif isinstance(value, Mapping):
        yield from _entities(list(value.values()))
    elif isinstance(value, list | tuple | set):
        for one in value:
            yield from _entities(one)


def _add(found: Drawn, node: Node, most: int) -> None:
    if node.element_id in found.nodes:
        return
    if len(found.nodes) >= most:
        found.left_out.add(node.element_id)
        return
    properties = {key: plain(value) for key, value in node.items() if key not in _HIDDEN}
    found.nodes[node.element_id] = DrawnNode(node.element_id, sorted(node.labels), properties)


def _relate(found: Drawn, one: Relationship, most: int) -> None:
    start, end = one.start_node, one.end_node
    if start is None or end is None or len(found.relationships) >= most:
        return
    if not {start.element_id, end.element_id} & found.left_out:
        properties = {key: plain(value) for key, value in one.items()}
        found.relationships[one.element_id] = DrawnRelationship(
            one.type, start.element_id, end.element_id, properties
        )


def _ranked(row: Mapping[str, Any]) -> RankedPassage:
    from gsw_graph.model.results import RankedPassage

    return RankedPassage(row["passage"], row["title"], row["text"], row["source"], "", 0.0)
