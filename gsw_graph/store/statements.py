"""Statements by name: each stands in a file of its own under `cypher/`, so that it can be read, pasted and explained alone."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import LiteralString


class Unlogged(list[Any]):
    """A list as a parameter of a statement. The driver makes a line for its debug log of every parameter, wanted or not, and for vectors that takes
    twenty times as long as sending them (docs/performance.md); of this one it shows how long it is.
    """

    def __repr__(self) -> str:
        return f"<{len(self)} items>"


@cache
def statement(name: str, dialect: str | None = None) -> LiteralString:
    """The text of `cypher/NAME.cypher`, or of `NAME.DIALECT.cypher` or `.sql` where servers differ. `name` is a path such as `read/dense`."""
    folder, _, stem = name.partition("/")
    place = files("gsw_graph.cypher") / folder
    candidates = [f"{stem}.cypher", *([f"{stem}.{dialect}.cypher", f"{stem}.{dialect}.sql"] if dialect else [])]
    for candidate in candidates:
        if (file := place / candidate).is_file():
            return file.read_text(encoding="utf-8")
    raise KeyError(f"no statement {name} for {dialect or 'every engine'}")
