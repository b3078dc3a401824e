"""CSV and TSV: one file, one document. Each row is a line that names its columns, so that a passage can be
understood without the head of the table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from gsw_graph.loaders.files import File, Item
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import document, whole
from gsw_graph.loaders.workspaces.parts import LISTED
from gsw_graph.model import Failure

_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[-+]?[\d.,:/ -]+%?")


def read(file: File) -> Iterator[Item]:
    """The document of a table, then the rows that cannot be read."""
    text = whole(file)
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
    """The rows that hold anything, and what is wrong with others."""
    first = _QUOTED.sub("", text.lstrip("\n").partition("\n")[0])
    delimiter = max(_DELIMITERS, key=first.count)  # a comma where there is none of them
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


def _lines(rows: list[list[str]]) -> Iterator[str]:
    if not rows:
        return
    head, *rest = rows
    if (
        len(rows) == 1 or len(set(head)) < len(head) or any(_NUMBER.fullmatch(cell) for cell in head)
    ):  # no names of columns
        head, rest = [], rows
    for row in rest:
        cells = (
            (head[n] if n < len(head) else "") or (f"column {n + 1}" if len(row) > 1 else "")
            for n in range(len(row))
        )
        yield "; ".join(
            f"{name}: {cell}" if name else cell for name, cell in zip(cells, row, strict=True) if cell
        )
