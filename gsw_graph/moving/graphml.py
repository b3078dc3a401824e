"""GraphML, which networkx, Gephi, yEd and igraph open. Lists are JSON texts, as GraphML has none; vectors are
left out, which no such program reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from gsw_graph.store.graph import Kind, Label, labels, relationships

_TYPES = {
    "string": "string",
    "long": "long",
    "double": "double",
    "boolean": "boolean",
}  # all others are texts
_LEFT_OUT = ("float[]", "bytes")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def graphml(things: Iterable[tuple[Kind, dict[str, Any]]]) -> Iterator[str]:
    """The text of a file, piece by piece. things: kinds with rows of `transfer.read`, nodes before
    relationships. A node is known as `Label:key`; its `label` is what Gephi shows, its `kind` the label."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield '<key id="label" for="node" attr.name="label" attr.type="string"/>\n'
    yield '<key id="kind" for="node" attr.name="kind" attr.type="string"/>\n'
    yield '<key id="type" for="edge" attr.name="type" attr.type="string"/>\n'
    for domain, kinds in (("node", labels().values()), ("edge", relationships())):
        for name, type_ in _attributes(kinds).items():
            yield f'<key id="{domain}.{name}" for="{domain}" attr.name="{name}" attr.type="{type_}"/>\n'
    yield '<graph id="gswgraph" edgedefault="directed">\n'
    number = 0
    for kind, row in things:
        if isinstance(kind, Label):
            seen = _data("label", _shown(row)) + _data("kind", kind.name)
            yield f"<node id={_name(kind, row['key'])}>{seen}{_properties('node', kind, row)}</node>\n"
        else:
            number += 1
            ends = f"source={_name(kind.begin, row['key'])} target={_name(kind.end, row['end'])}"
            data = _data("type", kind.type) + _properties("edge", kind, row)
            yield f'<edge id="{number}" {ends}>{data}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _attributes(kinds: Iterable[Kind]) -> dict[str, str]:
    """The type of each property; one that is not the same for all kinds is a text."""
    found: dict[str, str] = {}
    for kind in kinds:
        for name, type_ in kind.properties.items():
            if type_ not in _LEFT_OUT:
                written = _TYPES.get(type_, "string")
                found[name] = written if found.setdefault(name, written) == written else "string"
    return found


def _shown(row: dict[str, Any]) -> str:
    """As Neo4j Browser shows it."""
    properties = row["properties"]
    return str(properties.get("name") or properties.get("title") or row["key"])


def _name(label: Label, key: str) -> str:
    return quoteattr(_plain(f"{label.name}:{key}"), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _properties(domain: str, kind: Kind, row: dict[str, Any]) -> str:
    return "".join(
        _data(f"{domain}.{name}", _text(row["properties"][name]))
        for name, type_ in kind.properties.items()
        if type_ not in _LEFT_OUT and row["properties"].get(name) is not None
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def _data(key: str, text: str) -> str:
    return f'<data key="{key}">{escape(_plain(text), {chr(13): "&#13;"})}</data>'


def _plain(text: str) -> str:
    """XML has no place for some characters; U+FFFD stands for them."""
    return _NOT_XML.sub("\ufffd", text)
