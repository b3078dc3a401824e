"""The routes of the HTTP API, from what the application says of itself."""

from __future__ import annotations

from gsw_graph.serve.app import described
from gsw_graph.serve.routes import Told, routes


def sections() -> str:
    """A section for each route: what it does, what it is told."""
    parts: list[str] = []
    for one in routes(described()):
        parts += [f"## {one.method} {one.path}", "", f"{one.summary}. {one.about}", ""]
        if one.told:
            parts += ["| | | |", "|---|---|---|", *map(_row, one.told), ""]
    return "\n".join(parts)


def _row(one: Told) -> str:
    default = "needed" if one.needed else f"`{one.default}`" if one.default is not None else ""
    return f"| `{one.name}` | {one.about} | {default} |"
