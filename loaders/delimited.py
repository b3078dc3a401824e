"""Tables (CSV, TSV): one file, one document. Each row is a line that names its columns, so that a passage can
be understood without the head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from gsw_graph.loaders import records
from gsw_graph.loaders.files import (
    LISTED,
    File,
    Items,
    Record,
    UnusableError,
    shortened,
)
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import decode, document
from gsw_graph.model.documents import Failure, Skipped, typed
from gsw_graph.values import single_spaced

_DELIMITERS = ";\t|,"  # of two that part a table alike, the first: a comma may be of numbers
_LOOKED_AT = 50  # rows, for the delimiter, the width and the head
_SAMPLE = 50_000  # characters
_MOST_CELL = 128 * 1024  # characters
_NUMBER = re.compile(r"[-+]?[\d.,:/ -]+%?")
# Numbers that name columns: years, spans of years or ages.
_LABEL = re.compile(
    r"(?:1[5-9]|2[01])\d\d(?:[/-]\d{1,4})?|\d{1,3}[-–]\d{1,3}|(?:1[5-9]|2[01])\d\d[-/](?:0?[1-9]|1[0-2])"
)
_SEPARATOR = re.compile(r'\s*"?sep=(.)"?\s*?(?:\n|$)')


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table: the number of its line, and its cells without empty ones at the end."""

    line: int
    cells: list[str]
    written: int
    """How many cells there are with the empty ones."""


def read_table(file: File) -> Items:
    """Yield the document of a table, then failures of rows. If a column is named `text`, each row is a
    document, as a JSON record is, and the other columns are metadata."""
    text = decode(file)
    table = _Table(text)
    rows = [row for row in table.rows() if row.cells]
    head = [cell.lower() for cell in rows[0].cells] if rows else []
    captions = _captions(rows)
    written = "\n".join(_table_lines(rows, captions))
    if not written:
        raise UnusableError(table.faults[0] if table.faults else "a table without rows")
    if "text" in head:
        for row in rows[1:]:
            value: dict[str, object] = {}
            for number, cell in enumerate(row.cells):
                # Cells beyond the head are metadata too.
                key = head[number] if number < len(head) else f"column {number + 1}"
                if cell:
                    value[key] = cell if key in records.OWN else typed(cell)
            yield from records.read_record(Record(value, f"{file.name}: line {row.line}", file))
    else:
        yield from document(file, "csv", "", split([Block(written + "\n", "lines")]), text)
    for fault in shortened(table.faults):
        yield Failure(file.name, fault, part=True)
    for notice in _odd_rows(rows[captions:]):
        yield Skipped(file.name, notice, part=True)


def _odd_rows(rows: list[_Row]) -> Iterator[str]:
    """Yield what is said of the rows that have other numbers of cells than the head."""
    if not _is_head(rows):
        return
    head = rows[0]
    more = [str(row.line) for row in rows[1:] if len(row.cells) > head.written]
    fewer = [str(row.line) for row in rows[1:] if row.written < len(head.cells)]
    for kind, lines_of_kind in (
        ("more cells than the head, which are read without its names", more),
        ("fewer cells than the head, whose last columns are taken as empty", fewer),
    ):
        if lines_of_kind:
            shown = ", ".join(lines_of_kind[:LISTED])
            further = len(lines_of_kind) - LISTED
            if further > 0:
                shown = f"{shown} and {further} others"
            yield f"rows with {kind}: line {shown}"


class _Table:
    """The rows of a table in text (CSV).

    A quotation mark begins a cell only if another ends the cell; a stray mark is a character as any other.
    A quoted cell may have line ends. If the lines that a cell would take in are rows themselves, its mark is
    a stray one.

    Attributes:
        faults: What is wrong with rows that cannot be read.
    """

    def __init__(self, text: str) -> None:
        self.faults: list[str] = []
        self._text = text.replace("\r", "\n")
        delimiters = _DELIMITERS
        self._start = 0
        declared = _SEPARATOR.match(self._text)  # as Excel writes it
        if declared:
            delimiters = declared[1]
            self._start = declared.end()
        self._sample = self._text[self._start : self._start + _SAMPLE]
        self._learn(delimiters)

    def rows(self) -> Iterator[_Row]:
        """Yield the good rows; add faults of other rows to `faults`."""
        line = self._text.count("\n", 0, self._start) + 1
        at = self._start
        while at < len(self._text):
            cells, end = self._row(self._text, at, self._long)
            written = self._text[at:end]
            if "\n" in written and self._is_stray(written, cells):
                cells, end = self._row(self._text, at, self._short)
            if max(map(len, cells)) > _MOST_CELL:
                reason = f"a cell of more than {_MOST_CELL:,} characters"
                self.faults.append(f"line {line}: the row cannot be read ({reason})")
            else:
                count = len(cells)
                cells = [single_spaced(cell) for cell in cells]
                while cells and not cells[-1]:
                    cells.pop()
                yield _Row(line, cells, count)
            line += self._text.count("\n", at, end) + 1
            at = end + 1

    def _learn(self, delimiters: str) -> None:
        """Tell the delimiter, the mark that quotes cells, and how many cells a row has."""
        best, chosen = (0.0, 0), ";" if delimiters == ";" else ","
        for delimiter in delimiters:
            self._use(delimiter)
            shape = max(self._shape(self._long), self._shape(self._short))
            if shape > best:
                best, chosen = shape, delimiter
        self._use(chosen)
        self._width = best[1]
        self._spaced = f"{chosen} " in self._sample.partition("\n")[0]

    def _use(self, delimiter: str) -> None:
        """Set what parts and quotes cells."""
        self._delimiter = delimiter
        escaped = re.escape(delimiter)
        mark = '"'
        if mark not in self._sample:
            apostrophes = re.compile(rf"^(?:.*{escaped})?'[^'\n]*'(?:{escaped}|$)", re.MULTILINE)
            if 2 * len(apostrophes.findall(self._sample)) > self._sample.count("\n") + 1:
                mark = "'"
        self._quote = mark
        end = rf"(?=[{escaped}\n]|\Z)"
        # Within a cell a mark is doubled, or has a backslash before it.
        inner = rf"(?:(?<=\\){mark}(?! *{end})|{mark}{mark})"
        self._long = re.compile(rf" *{mark}([^{mark}]*(?:{inner}[^{mark}]*)*){mark} *{end}")
        self._short = re.compile(rf" *{mark}([^{mark}\n]*(?:{inner}[^{mark}\n]*)*){mark} *{end}")
        self._mark = re.compile(rf"[\\{mark}]({mark})")
        self._plain = re.compile(rf"[^{escaped}\n]*")

    def _shape(self, quoted: re.Pattern[str]) -> tuple[float, int]:
        """Return the commonest number of cells in the sample, above 1, and the share of rows that have it."""
        at = 0
        widths: list[int] = []
        while at < len(self._sample) and len(widths) < _LOOKED_AT:
            cells, end = self._row(self._sample, at, quoted)
            if any(cells):
                widths.append(len(cells))
            at = end + 1
        commonest = (0, 0)
        for width in {*widths} - {1}:
            commonest = max(commonest, (widths.count(width), width))
        count, width = commonest
        return count / max(len(widths), 1), width

    def _row(self, text: str, at: int, quoted: re.Pattern[str]) -> tuple[list[str], int]:
        """Return the cells of the row that begins at a place, and the place of its end."""
        line_end = text.find("\n", at)
        if line_end < 0:
            line_end = len(text)
        if self._quote not in text[at:line_end]:
            return text[at:line_end].split(self._delimiter), line_end
        cells = []
        while True:
            if match := quoted.match(text, at):
                cells.append(self._mark.sub(r"\1", match[1]))
                at = match.end()
            else:
                end = cast("re.Match[str]", self._plain.match(text, at)).end()
                cells.append(text[at:end])
                at = end
            if not text.startswith(self._delimiter, at):
                return cells, at
            at += 1

    def _is_stray(self, written: str, cells: list[str]) -> bool:
        """Return whether the quoted cells of a row of several lines are rows that stray marks enclose."""
        lines = written.split("\n")
        count = len(lines)
        rows = sum(map(self._is_row, lines))
        if self._width < 2 or rows == 0:
            return False
        if self._delimiter == "\t" and rows == count:  # no cell has a tab
            return True
        if len(cells) != self._width:
            return 2 * rows >= count
        return 2 * rows > count > 2

    def _is_row(self, line: str) -> bool:
        """Return whether a line is a row by itself. In prose a comma has a space after it."""
        if f"{self._delimiter} " in line and not self._spaced:
            return False
        cells, _ = self._row(line, 0, self._short)
        return len(cells) == self._width


def _captions(rows: list[_Row]) -> int:
    """Return how many rows of a single cell stand above the head."""
    filled = [len(list(filter(None, row.cells))) for row in rows[:_LOOKED_AT]]
    count = 0
    if max(filled, default=0) < 2:
        return count
    while len(rows) > count + 2 and filled[count : count + 1] == [1] and not _is_head(rows[count:]):
        count += 1
    return count


def _table_lines(rows: list[_Row], captions: int) -> Iterator[str]:
    """Yield captions, then a line for each row. The cells of a row that has more than the head are not under
    names, which may be wrong."""
    for row in rows[:captions]:
        yield row.cells[-1]
    rows = rows[captions:]
    head = []
    width = 0
    if _is_head(rows):
        head, width = rows[0].cells, rows[0].written
        del rows[0]
    for row in rows:
        if row.written == 1 < width:
            yield row.cells[0]
            continue
        names = head if len(row.cells) <= width else []
        parts = []
        for number, cell in enumerate(row.cells):
            name = names[number] if number < len(names) else ""
            if not name and row.written > 1:
                name = f"column {number + 1}"
            if cell:
                parts.append(f"{name}: {cell}" if name else cell)
        yield "; ".join(parts)


def _is_head(rows: list[_Row]) -> bool:
    """Return whether the first row names the columns: each differently, and not by what the column holds."""
    if len(rows) < 2:
        return False
    names = [cell for cell in rows[0].cells if cell]
    is_single = len(names) == 1 and rows[1].written > 1
    if is_single or len({*names}) < len(names):
        return False
    numbers = [n for n, cell in enumerate(rows[0].cells) if _NUMBER.fullmatch(cell)]
    return all(_is_label(rows, n) for n in numbers)


def _is_label(rows: list[_Row], column: int) -> bool:
    """Return whether a number names its column, which then holds other things."""
    below = [row.cells[column] for row in rows[1:_LOOKED_AT] if column < len(row.cells)]
    below = list(filter(None, below))
    labels = list(filter(_LABEL.fullmatch, below))
    is_label = _LABEL.fullmatch(rows[0].cells[column])
    return bool(is_label and below) and 2 * len(labels) <= len(below)
