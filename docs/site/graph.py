"""The schema as tables and as a picture, from the classes of `gsw_graph.store.nodes` and the statements in `cypher/schema/`.

`tests/test_nodes.py` checks that the classes say what the statements and a loaded graph say.
"""

from __future__ import annotations

import re
from html import escape

from neomodel import BooleanProperty, FloatProperty, IntegerProperty, StringProperty
from neomodel.properties import Property

from gsw_graph.explore.picture.picture import COLOURS, TEXT_COLOUR
from gsw_graph.store import nodes

_CLASSES = {cls.__label__: cls for cls in nodes.NODES}
# Centre of each label in the picture: passages left, entities right, what holds between them above and below.
_PLACES = {
    "Question": (90, 290),
    "Document": (280, 520),
    "Passage": (280, 290),
    "VerbPhrase": (250, 60),
    "QAPair": (500, 60),
    "Proposition": (500, 520),
    "Entity": (720, 290),
    "Role": (930, 150),
    "Concept": (930, 430),
    "Run": (90, 60),
    "Relation": (700, 60),
    "Memory": (930, 50),
    "Correction": (90, 520),
}
_TYPES = {
    StringProperty: "string",
    IntegerProperty: "whole number",
    FloatProperty: "number",
    BooleanProperty: "flag",
    nodes.BytesProperty: "bytes",
}
_WIDE, _HIGH, _HALF_WIDTH, _HALF_HEIGHT = 1120, 570, 62, 22


def node_tables() -> str:
    """A part for each label: what it is, and its properties."""
    parts = []
    for label, cls in _CLASSES.items():
        rows = [
            f"| `{name}` | {_type(field)} | {_keys(field)} |" for name, field in nodes.properties(cls).items()
        ]
        parts.append(
            "\n".join(
                [f"### {label}", "", _said(cls), "", "| property | type | |", "|---|---|---|", *rows, ""]
            )
        )
    return "\n".join(parts)


def relationship_table() -> str:
    """All relationships, with their properties."""
    rows = ["| from | type | to | properties | |", "|---|---|---|---|---|"]
    for (begin, kind, end), model in nodes.declared().items():
        names = (
            ", ".join(f"`{name}` {_type(field)}" for name, field in nodes.properties(model).items())
            if model
            else ""
        )
        rows.append(f"| {begin} | `{kind}` | {end} | {names} | {_said(model) if model else ''} |")
    return "\n".join(rows)


def index_table() -> str:
    """Constraints and indexes, as the statements that make them say."""
    rows = ["| name | what for |", "|---|---|"]
    for index in nodes.indexes():
        meaning = {
            "unique": "one node each",
            "range": "in order",
            "vector": "nearest by cosine",
            "text": "words (BM25)",
        }[index.kind]
        rows.append(f"| `{index.name}` | {index.label}: {', '.join(index.properties)}, {meaning} |")
    return "\n".join(rows)


def drawing() -> str:
    """The schema as SVG, in the colours of the page's text."""
    joined: dict[tuple[str, str], list[str]] = {}
    for begin, kind, end in nodes.declared():
        joined.setdefault((begin, end), []).append(kind)
    edges = [
        _loop(begin, kinds) if begin == end else _edge(begin, end, kinds)
        for (begin, end), kinds in joined.items()
    ]
    return "\n".join(
        [
            f'<svg class="graph" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-label="Labels and relationships of a memory" '
            'style="width:100%;font:13px sans-serif" fill="currentColor">',
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0L10 5L0 10z" fill="currentColor"/></marker></defs>',
            *(line for line, _ in edges),
            *(_box(label) for label in _CLASSES),
            *(text for _, text in edges),
            "</svg>",
        ]
    )


def _box(label: str) -> str:
    x, y = _PLACES[label]
    return (
        f'<rect x="{x - _HALF_WIDTH}" y="{y - _HALF_HEIGHT}" width="{2 * _HALF_WIDTH}" height="{2 * _HALF_HEIGHT}" rx="22" '
        f'fill="{COLOURS[label]}"/><text x="{x}" y="{y + 5}" text-anchor="middle" font-weight="bold" fill="{TEXT_COLOUR}">{label}</text>'
    )


def _edge(begin: str, end: str, kinds: list[str]) -> tuple[str, str]:
    (x1, y1), (x2, y2) = (_border(begin, end), _border(end, begin))
    line = f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="currentColor" marker-end="url(#tip)"/>'
    part = 0.3 if begin == "Question" else 0.5  # its lines cross others at their middle
    return line, _name(x1 + (x2 - x1) * part, y1 + (y2 - y1) * part + 4, ", ".join(kinds), "middle")


def _loop(label: str, kinds: list[str]) -> tuple[str, str]:
    x, y = _PLACES[label]
    path = f"M{x + 46} {y + _HALF_HEIGHT - 3}C{x + 70} {y + 65} {x + 140} {y + 45} {x + _HALF_WIDTH} {y + 6}"
    line = f'<path d="{path}" fill="none" stroke="currentColor" marker-end="url(#tip)"/>'
    return line, "".join(_name(x + 105, y + 46 + 17 * row, kind, "start") for row, kind in enumerate(kinds))


def _name(x: float, y: float, text: str, anchor: str) -> str:
    halo = "paint-order:stroke;stroke:var(--color-background-primary,#fff);stroke-width:5px"
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" style="{halo}">{escape(text)}</text>'


def _border(label: str, towards: str) -> tuple[float, float]:
    """Where the line to another label leaves the box of this one."""
    (x, y), (u, v) = _PLACES[label], _PLACES[towards]
    dx, dy = u - x, v - y
    part = min(_HALF_WIDTH / abs(dx) if dx else 9e9, _HALF_HEIGHT / abs(dy) if dy else 9e9)
    return x + dx * part, y + dy * part


def _type(field: Property) -> str:
    base = getattr(field, "base_property", None)
    return f"list of {_type(base)}s" if base is not None else _TYPES[type(field)]


def _keys(field: Property) -> str:
    return "unique" if field.unique_index else "indexed" if field.index else ""


def _said(cls: type) -> str:
    return _cell(re.sub(r"\s+", " ", (cls.__doc__ or "").strip()))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
