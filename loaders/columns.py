"""The reading order of a page whose columns were written line by line.

A gutter is a strip of white that goes through several rows of a page. Rows that share a gutter are a band.
The columns of a band are read after each other if they hold prose, whose lines go on in small letters; cells
of a table begin anew, and a table stays in rows. A row that crosses the gutter (a headline, a page number)
ends the band. Columns may have columns within, so each is ordered in the same way.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeAlias

_MOST_ROWS = 500  # of a page that is put in order
# Shares of the height of a line.
_GUTTER = 0.7
_SAME_ROW = 0.65
_ALIGNED = 0.5
_INDENT = 1.5
# Shares of the usual distance of rows.
_FAR = 2.2
_APART = 1.3
# Of the prose of columns.
_LONGEST, _SHORTEST = 3, 2  # lines, of the longest column and of any
_CHARACTERS = 10  # of a line
_FILLED = 0.55  # of the width of its column that a line takes
_GOES_ON = 0.25  # of the lines begin within a sentence


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a page: its text, the box around it, and its number in the order of writing."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    number: int

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


Row: TypeAlias = list[Word]
Rows: TypeAlias = list[Row]
Strips: TypeAlias = list[tuple[float, float]]
Box: TypeAlias = tuple[float, float, float, float]
"""Left, bottom, right, top."""
Boxes: TypeAlias = Callable[[], list[Box]]


@dataclass(slots=True)
class Band:
    """Rows that share gutters."""

    rows: Rows
    gutters: Strips

    def columns(self) -> Rows:
        """Return the words of each column, from left to right."""
        columns: list[Row] = [[] for _ in range(len(self.gutters) + 1)]
        for word in _words(self.rows):
            columns[self.column(word)].append(word)
        return columns

    def column(self, word: Word) -> int:
        """Return the number of the column that holds a word."""
        return sum(word.left >= right for _, right in self.gutters)


def read_columns(words: Row, boxes: Boxes) -> list[str] | None:
    """Return the lines of a page in the order in which people read them.

    Args:
        words: Words in the order of writing.
        boxes: Returns the boxes of drawings on the page; lines between rows make a table.

    Returns:
        The lines; None if no columns are written line by line, so that the order of writing is right.
    """
    if any(unicodedata.bidirectional(word.text[0]) in ("R", "AL") for word in words):
        return None  # lines from right to left are not put in order
    if len(_rows(words)) > _MOST_ROWS:
        return None
    shown: list[str] = []
    has_columns = False
    for line, is_of_column in _lines(words, boxes):
        shown.append(line)
        has_columns |= is_of_column
    return shown if has_columns else None


def _lines(words: Row, boxes: Boxes) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a part of a page, and whether each is of a column."""
    rows = _rows(words)
    usual = _usual_distance(rows)
    start = 0
    while start < len(rows):
        band = _band(rows, start, usual)
        if band is None or not _is_mixed(band) or not _is_prose(band) or _is_table(band, usual, boxes):
            yield _text(rows[start]), False
            start += 1
            continue
        for column in band.columns():
            for line, _ in _lines(column, boxes):
                yield line, True
        start += len(band.rows)


def _text(row: Row) -> str:
    return " ".join(word.text for word in row)


def _words(rows: Rows) -> Row:
    return [word for row in rows for word in row]


def _rows(words: Row) -> Rows:
    """Return the rows of words, from top to bottom, each from left to right."""
    rows: Rows = []
    for word in sorted(words, key=lambda word: -word.middle):
        if rows:
            first = rows[-1][0]
            if first.middle - word.middle < _SAME_ROW * min(first.height, word.height):
                rows[-1].append(word)
                continue
        rows.append([word])
    return [sorted(row, key=lambda word: word.left) for row in rows]


def _distance(above: Row, below: Row) -> float:
    return max(word.middle for word in above) - max(word.middle for word in below)


def _usual_distance(rows: Rows) -> float:
    distances = [_distance(above, below) for above, below in pairwise(rows)]
    return median(distances) if distances else 0.0


# --- bands ---


def _band(rows: Rows, start: int, usual: float) -> Band | None:
    """Return the band that begins at a row, if the row or the rows after it have a gutter."""
    first = start
    while not _gaps(rows[first]):  # a column may begin above the others
        first += 1
        if first == len(rows) or _distance(rows[first - 1], rows[first]) > _FAR * usual:
            return None
    gutters = _gaps(rows[first])
    for row in rows[start:first]:
        gutters = _common(gutters, row)
    end = first
    bands: list[Band] = []
    while gutters:
        end += 1
        bands.append(Band(rows[start:end], gutters))
        if end == len(rows) or _distance(rows[end - 1], rows[end]) > _FAR * usual:
            break
        gutters = _common(gutters, rows[end])
    while len(bands) > 1 and _ends_alone(bands[-1], usual):
        bands.pop()
    return bands[-1] if bands else None


def _gaps(row: Row) -> Strips:
    """Return the wide gaps between the words of a row."""
    strips = []
    end = row[0].right
    for word in row[1:]:
        if word.left - end >= _GUTTER * word.height:
            strips.append((end, word.left))
        end = max(end, word.right)
    return strips


def _free(row: Row) -> Strips:
    """Return the white of a row: its wide gaps, and what is on both sides of it."""
    return [
        (float("-inf"), row[0].left),
        *_gaps(row),
        (max(word.right for word in row), float("inf")),
    ]


def _common(gutters: Strips, row: Row) -> Strips:
    """Return what is left of gutters in another row. A sliver is none, and the column on the right begins
    where it began above, but for an indent."""
    common: Strips = []
    height = row[0].height
    for begin, end in gutters:
        for free_begin, free_end in _free(row):
            strip = max(begin, free_begin), min(end, free_end)
            if strip[1] - strip[0] >= _GUTTER * height / 2 and strip[1] >= end - _INDENT * height:
                common.append(strip)
    return common


def _ends_alone(band: Band, usual: float) -> bool:
    """Return whether the last row of a band is on one side, and apart from the rest, as a heading is."""
    before, last = band.rows[-2:]
    sides = {band.column(word) for word in last}
    return len(sides) == 1 and _distance(before, last) > _APART * usual


# --- what a band holds ---


def _is_mixed(band: Band) -> bool:
    """Return whether the columns were written by turns."""
    written = sorted(_words(band.rows), key=lambda word: word.number)
    columns = [band.column(word) for word in written]
    return sum(after < before for before, after in pairwise(columns)) >= 2


def _is_prose(band: Band) -> bool:
    """Return whether every column holds lines of running text."""
    columns = [_rows(words) for words in band.columns()]
    if max(map(len, columns)) < _LONGEST:
        return False
    going = following = 0
    for column in columns:
        if len(column) < _SHORTEST or not _is_filled(column):
            return False
        going_on = sum(_is_within(row[0].text) for row in column[1:])
        if going_on == 0 and len(column) > _SHORTEST:  # each line begins anew
            return False
        going += going_on
        following += len(column) - 1
    return going >= _GOES_ON * following


def _is_filled(column: Rows) -> bool:
    """Return whether the lines of a column begin below each other, and fill its width."""
    left = min(row[0].left for row in column)
    right = max(row[-1].right for row in column)
    firsts = [row[0] for row in column]
    aligned = sum(word.left - left <= _ALIGNED * word.height for word in firsts)
    width = median(row[-1].right - row[0].left for row in column)
    length = median(len(_text(row)) for row in column)
    is_full = width >= _FILLED * (right - left)
    return is_full and length >= _CHARACTERS and aligned * 2 >= len(column)


def _is_within(word: str) -> bool:
    """Return whether a word that begins a line may stand within a sentence: no capital, no number."""
    first = next((character for character in word if character.isalnum()), "")
    return first.isalpha() and not first.isupper() and not first.istitle()


def _is_table(band: Band, usual: float, boxes: Boxes) -> bool:
    """Return whether rows are kept apart: by white through all columns, twice at least, or by drawn lines."""
    pauses = sum(_distance(above, below) > _APART * usual for above, below in pairwise(band.rows))
    if pauses >= 2:
        return True
    bottom = min(word.middle for word in band.rows[-1])
    top = max(word.middle for word in band.rows[0])
    for box_left, box_bottom, box_right, box_top in boxes():
        crosses = any(box_left < left and box_right > right for left, right in band.gutters)
        if crosses and (bottom < box_bottom < top or bottom < box_top < top):
            return True
    return False
