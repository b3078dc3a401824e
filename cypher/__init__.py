"""Every statement that gswgraph runs, one a file, so that it can be read, pasted and explained alone."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import LiteralString


class Unlogged(list[Any]):
    """A list as a parameter of a statement. The driver makes a line for its debug log of every parameter,
    wanted or not, and for vectors that takes twenty times as long as sending them; of this one it shows how
    long it is."""

    def __repr__(self) -> str:
        return f"<{len(self)} items>"


_FILES: dict[str, str] = {}  # of the statements that were read, by their text
# What a memory is made of; `store/nodes.py` declares it.
LABELS = tuple(
    "Memory Document Passage Role Concept Entity VerbPhrase QAPair Proposition Relation Run Question "
    "Correction".split()
)
TYPES = tuple(
    "PART_OF NEXT IN NAMES PLAYS REFERS_TO ASKS ANSWERED_BY ABOUT MENTIONS RELATES_BY HOLDS ALIAS_OF USED "
    "REUSED REMOVED_FROM SUPERSEDED_IN".split()
)
_BASES = "|".join(LABELS + TYPES)
_INDEX = "(?:passage|entity|qa_pair|proposition|question)_(?:embedding|text)"
_OURS = re.compile(
    rf"""(?P<quote>['"])(?P<index>{_INDEX})(?P=quote)"""
    r"""|//[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
    rf"|[:|&!]\s*`?(?P<name>{_BASES})\b",
    re.DOTALL,
)


@cache
def statement(name: str, dialect: str | None = None) -> LiteralString:
    """The text of `cypher/NAME.cypher`, or of `NAME.DIALECT.cypher` or `.sql` where servers differ. `name`
    is a path such as `read/dense`."""
    place = files("gsw_graph.cypher")
    endings = [".cypher"]
    if dialect:
        endings += [f".{dialect}.cypher", f".{dialect}.sql"]
    for ending in endings:
        file = place / f"{name}{ending}"
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            _FILES[text] = f"{name}{ending}"
            return text
    raise KeyError(f"no statement {name} for {dialect or 'every engine'}")


def definitions(name: str, dialect: str, /, **literals: str) -> list[str]:
    """DDL with `$NAME` replaced by literals, which takes no parameters; SQL in its single statements."""
    filled: str = statement(name, dialect)
    file = _FILES[filled]
    for key, value in literals.items():
        filled = filled.replace(f"${key}", value)
    parts = filled.split(";\n") if file.endswith(".sql") else [filled]
    _FILES.update(dict.fromkeys(parts, file))
    return parts


@lru_cache(maxsize=2048)
def of_memory(text: str, memory: str) -> str:
    """Return a statement for a named memory: our labels, types and search indexes in it end in `__NAME`, so
    that each memory of a database has its own. Other strings and comments stay as they are."""

    if not memory:
        return text

    def renamed(match: re.Match[str]) -> str:
        quote, index, name = match.group("quote", "index", "name")
        if index:
            return f"{quote}{index}__{memory}{quote}"
        return f"{match[0]}__{memory}" if name else match[0]

    return _OURS.sub(renamed, text)


def base_name(name: str) -> str:
    """Return a label or type of a named memory as it is in the default one; any other as it is."""
    base = name.partition("__")[0]
    return base if base in LABELS or base in TYPES else name


def file_of(text: str) -> str | None:
    """The file that a statement was read from, as `read/dense.cypher`; None for one that people wrote."""
    return _FILES.get(text)
