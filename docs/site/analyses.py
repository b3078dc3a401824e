"""Write what the page of analyses says of each."""

from __future__ import annotations

from typing import Any

from gsw_graph.explore.analyses import LIMIT, analyses


def sections() -> str:
    """Write a paragraph and a table about each analysis."""
    rows = []
    for analysis in analyses().values():
        table = [
            f"| `{p.name}` | {_shown(p.default)} | {p.description} |"
            for p in analysis.parameters
            if p.name != LIMIT
        ]
        limit = analysis.parameters[-1].default
        rows += [f"## {analysis.name}", "", f"{analysis.summary} {analysis.details}".strip(), ""]
        if table:
            rows += ["| parameter | default | |", "|---|---|---|", *table, ""]
        rows += [f"At most {limit} rows.", ""]
    return "\n".join(rows)


def _shown(default: Any) -> str:
    return "" if default in (None, "") else f"`{default}`"
