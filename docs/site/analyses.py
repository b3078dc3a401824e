"""Write what the page of analyses says of each."""

from __future__ import annotations

from typing import Any

from gsw_graph.explore.analyses import LIMIT, analyses


def sections() -> str:
    """Write a paragraph and a table about each analysis."""
    rows = []
    for found in analyses().values():
        table = [
            f"| `{p.name}` | {_shown(p.default)} | {p.what} |" for p in found.parameters if p.name != LIMIT
        ]
        limit = found.parameters[-1].default
        plot = f" Has a plot ({found.plot[0]})." if found.plot else ""
        rows += [f"## {found.name}", "", f"{found.summary} {found.details}".strip(), ""]
        if table:
            rows += ["| parameter | default | |", "|---|---|---|", *table, ""]
        rows += [f"At most {limit} rows.{plot}", ""]
    return "\n".join(rows)


def _shown(default: Any) -> str:
    return "" if default in (None, "") else f"`{default}`"

