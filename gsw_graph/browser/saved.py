"""The analyses as saved queries of Neo4j Browser."""

from __future__ import annotations

import io
import zipfile
from importlib.resources import files

_FOLDER = "gswgraph"  # as Browser shows it among the favourites
_MOMENT = (2026, 1, 1, 0, 0, 0)  # the same files make the same archive


def queries() -> dict[str, str]:
    """The text of each analysis by its name. Browser shows the first comment as the name of a query."""
    found = (files("gsw_graph.cypher") / "explore").iterdir()
    read = {file.name: file.read_text(encoding="utf-8") for file in found if file.name.endswith(".cypher")}
    return {name.removesuffix(".cypher"): read[name] for name in sorted(read)}


def archive() -> bytes:
    """A zip file that Browser imports: a folder of favourites."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, text in queries().items():
            zipped.writestr(zipfile.ZipInfo(f"{_FOLDER}/{name}.cypher", _MOMENT), text)
    return made.getvalue()
