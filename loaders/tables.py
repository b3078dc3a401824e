"""CSV and TSV: one file, one document. Each row is a line that names its columns, so that a passage can be
understood without the head of the table."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator

from gsw_graph.loaders.files import LISTED, File, Item
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import decode, document
from gsw_graph.model import Failure

_DELIMITERS = ",;\t|"
_LOOKED_AT = 50  # lines, for the delimiter and the head
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[-+]?[\d.,:/ -]+%?")
# Numbers that name columns: years, spans of years or ages.
_LABEL = re.compile(
    r"(?:1[5-9]|2[01])\d\d(?:[/-]\d{1,4})?|\d{1,3}[-–]\d{1,3}|(?:1[5-9]|2[01])\d\d[-/](?:0?[1-9]|1[0-2])"
)
_SEPARATOR = re.compile(r'\s*"?sep=(.)"?\s*?(?:\n|$)')


def read(file: File) -> Iterator[Item]:
    """Yield the document of a table, then the rows that cannot be read."""
    text = decode(file)
    if isinstance(text, Failure):
        yield text
        return
    rows, faults = _rows(text)
    lines = list(_lines(rows))
    if not lines:
        yield Failure(file.name, "a table without rows" if not faults else faults[0])
        return
    yield from document(file, "csv", "", split([Block("\n".join(lines) + "\n", "lines")]), text)
    for fault in faults[:LISTED]:
        yield Failure(file.name, fault, part=True)
    if len(faults) > LISTED:
        yield Failure(file.name, f"and {len(faults) - LISTED} more rows that cannot be read", part=True)


def _rows(text: str) -> tuple[list[list[str]], list[str]]:
    """Return the rows that hold anything, and what is wrong with others."""
    if declared := _SEPARATOR.match(text):  # as Excel writes it
        text = text[declared.end() :]
    delimiter = declared[1] if declared else _delimiter(text)
    # not splitlines, which ends a row at characters that stand within cells (U+2028, U+0085, form feed)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    faults: list[str] = []
    while True:
        try:
            row = [" ".join(cell.split()) for cell in next(reader)]
        except StopIteration:
            return rows, faults
        except csv.Error as error:
            faults.append(f"line {reader.line_num}: the row cannot be read ({error})")
            continue
        if any(row):
            rows.append(row)


def _delimiter(text: str) -> str:
    """Return the delimiter that parts most lines alike; a comma where none does."""
    sample = _QUOTED.sub("", text[: _LOOKED_AT * 1000]).strip("\n").split("\n")[:_LOOKED_AT]

    def alike(delimiter: str) -> tuple[int, int]:
        counts = Counter(count for line in sample if (count := line.count(delimiter)))
        return max(((times, count) for count, times in counts.items()), default=(0, 0))

    return max(_DELIMITERS, key=alike)


def _lines(rows: list[list[str]]) -> Iterator[str]:
    """Yield captions, then a line for each row."""
    widest = max((sum(map(bool, row)) for row in rows[:_LOOKED_AT]), default=0)
    while len(rows) > 2 and widest > 1 and sum(map(bool, rows[0])) == 1 and not _is_head(rows):
        yield next(filter(None, rows[0]))
        rows = rows[1:]
    head, rest = (rows[0], rows[1:]) if _is_head(rows) else ([], rows)
    for row in rest:
        names = (
            (head[n] if n < len(head) else "") or (f"column {n + 1}" if len(row) > 1 else "")
            for n in range(len(row))
        )
        yield "; ".join(
            f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=True) if cell
        )


def _is_head(rows: list[list[str]]) -> bool:
    """Return whether the first row names the columns: each differently, and not by what the column holds."""
    if len(rows) < 2:
        return False
    named = [(n, cell) for n, cell in enumerate(rows[0]) if cell]
    if len({cell for _, cell in named}) < len(named) or (len(named) == 1 and len(rows[1]) > 1):
        return False
    return all(_is_label(cell, n, rows) for n, cell in named if _NUMBER.fullmatch(cell))


def _is_label(cell: str, column: int, rows: list[list[str]]) -> bool:
    """Return whether a number names its column, which then holds other things."""
    if not _LABEL.fullmatch(cell):
        return False
    below = [row[column] for row in rows[1:_LOOKED_AT] if column < len(row) and row[column]]
    return bool(below) and sum(bool(_LABEL.fullmatch(value)) for value in below) * 2 <= len(below)
