"""Plain text, code and tables (CSV, TSV): one file, one document; and what typesetting does to the words of
any text: superscripts, hyphens at the ends of lines, soft hyphens.

Each row of a table is a line that names its columns, so that a passage can be understood without the head.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import cast

from gsw_graph.loaders.files import (
    LISTED,
    Converted,
    File,
    Item,
    NothingError,
    Record,
    UnusableError,
    detect_encoding,
    line_too_long,
    lines,
    refusal,
    shortened,
)
from gsw_graph.loaders.split import Block, paragraphs, split
from gsw_graph.model.documents import Document, Failure, Passage, Skipped, Value, content_id, typed

_TITLE = re.compile(r"([^\n]{1,100})\n[^\S\n]*\n\s*(?=\S)")


def read(file: File) -> Iterator[Item]:
    """Yield the document of a text file."""
    text = decode(file)
    # A short first line that a blank line follows and no punctuation ends is the title.
    title, body = "", join_lines(text)
    match = _TITLE.match(body)
    if match and not (line := match[1].strip()).endswith((".", ",", ";", ":")) and len(line.split()) <= 15:
        title, body = line, body[match.end() :]
    yield from document(file, "text", title, split(paragraphs(body)), text)


def read_code(file: File) -> Iterator[Item]:
    """Yield the document of a program or of settings: its lines stay whole, and its file's whole name is its
    title."""
    text = decode(file)
    blocks = (Block(block.text, "lines") for block in paragraphs(text))
    yield from document(file, "code", "", split(blocks), text, name=Path(file.name).name)


def write(file: File, contents: Converted, key: str = "") -> Iterator[Item]:
    """Yield the document of a plain text that was converted; see `document` for `key`."""
    texts = split([*about_blocks(contents.about), *paragraphs(contents.text)])
    yield from document(
        file, contents.loader, contents.title, texts, contents.text, key=key, meta=contents.meta
    )


def about_blocks(about: str) -> list[Block]:
    """Return the properties of a document, if it has any, as text where search finds them."""
    return [Block(f"{about}\n\n", "lines")] if about else []


def decode(file: File) -> str:
    r"""Return the text of a file with \n line ends. Raises UnusableError where it has none."""
    parts: list[bytes] = []
    for place, line in lines(file):
        if line is None:
            raise line_too_long(place)
        if b"\0" in line:
            raise UnusableError(f"not text: a NUL byte at column {line.index(0) + 1}", place)
        parts.append(line)
    text = decode_bytes(b"".join(parts), file.name).replace("\r\n", "\n").strip()
    if not text:
        raise NothingError("empty")
    return text


def decode_bytes(data: bytes, name: str) -> str:
    """Return what the bytes of a file say, in UTF-8 or in another encoding that can be told.

    Args:
        data: All of the file.
        name: Names the file where it cannot be told.

    Raises:
        UnusableError: It cannot be told.
    """
    try:
        return data.decode(detect_encoding(data) or "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnusableError(refusal(error), f"{name}:{line}") from error


def document(
    file: File,
    loader: str,
    title: str,
    texts: list[str],
    content: str,
    name: str = "",
    key: str = "",
    meta: Mapping[str, Value] = MappingProxyType({}),
    sections: Sequence[str] = (),
) -> Iterator[Item]:
    """Yield a document of a file.

    Args:
        file: That has it.
        loader: What read it.
        title: Its own title, "" for none; then `name` or its file's name is there, which is no name of
            anything.
        texts: Of its passages.
        content: All it says: the name of what has no path.
        name: A title that is no name.
        key: Which of the documents of its file it is, "" for the only one.
        meta: What is known about it.
        sections: Those of its passages, where it has any.
    """
    shown = title or name or stem(file)
    places = zip_longest(texts, sections, fillvalue="")
    passages = tuple(Passage(text, shown, n, section) for n, (text, section) in enumerate(places))
    source = source_of(file, content) + (f"#{key}" if key else "")
    yield file.name, Document(source, shown, passages, loader, bool(title), meta)


def source_of(file: File, content: str) -> str:
    """Return the source that a file's path is; stdin has no path, so what it said is its name."""
    return file.path.as_posix() if file.path else f"stdin#{content_id(content)[:12]}"


def stem(file: File) -> str:
    """Return a readable title from a file's name."""
    if file.path is None:
        return "stdin"
    name = Path(file.name).stem or file.path.stem
    return " ".join(re.sub(r"[_-]+", " ", name).split()) or name


# --- tables ---

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
    """A row of a table: the number of its line, and its cells."""

    line: int
    cells: list[str]

    @property
    def width(self) -> int:
        """Return how many cells there are, but for empty ones at the end."""
        return max((number for number, cell in enumerate(self.cells, 1) if cell), default=0)


def read_table(file: File) -> Iterator[Item]:
    """Yield the document of a table, then what is wrong with rows. Where a column is named `text`, each row
    is a document, as a record of JSON is, and its other columns are metadata."""
    from gsw_graph.loaders import records

    text = decode(file)
    table = _Table(text)
    rows = [row for row in table.rows() if row.width]
    head = [cell.lower() for cell in rows[0].cells] if rows else []
    written = "\n".join(_table_lines(rows))
    if not written:
        raise UnusableError(table.faults[0] if table.faults else "a table without rows")
    if "text" in head:
        for row in rows[1:]:
            # Cells beyond the head are metadata too.
            keys = [*head, *(f"column {number + 1}" for number in range(len(head), row.width))]
            cells = zip(keys, row.cells, strict=False)
            value = {key: cell if key in records.OWN else typed(cell) for key, cell in cells if cell}
            yield from records.read_record(Record(value, f"{file.name}: line {row.line}", file))
    else:
        yield from document(file, "csv", "", split([Block(written + "\n", "lines")]), text)
    yield from (Failure(file.name, fault, part=True) for fault in shortened(table.faults))
    yield from (Skipped(file.name, notice, part=True) for notice in _odd_rows(rows))


def _odd_rows(rows: list[_Row]) -> Iterator[str]:
    """Yield what is said of the rows that have other numbers of cells than the head."""
    rows = rows[_captions(rows) :]
    if not _is_head(rows):
        return
    head = rows[0]
    more = [row.line for row in rows[1:] if row.width > len(head.cells)]
    fewer = [row.line for row in rows[1:] if len(row.cells) < head.width]
    kinds = (
        (more, "more", ", which are read without its names"),
        (fewer, "fewer", ", whose last columns are taken as empty"),
    )
    for numbers, kind, reading in kinds:
        if numbers:
            shown = ", ".join(map(str, numbers[:LISTED]))
            shown += f" and {len(numbers) - LISTED} others" if len(numbers) > LISTED else ""
            yield f"rows with {kind} cells than the head{reading}: line {shown}"


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
        declared = _SEPARATOR.match(self._text)  # as Excel writes it
        self._start = declared.end() if declared else 0
        self._sample = self._text[self._start : self._start + _SAMPLE]
        self._learn(declared[1] if declared else _DELIMITERS)

    def rows(self) -> Iterator[_Row]:
        """Yield the rows; what is wrong with others is added to `faults`."""
        line = self._text.count("\n", 0, self._start) + 1
        at = self._start
        while at < len(self._text):
            cells, end = self._row(self._text, at, self._long)
            if "\n" in self._text[at:end] and self._is_stray(self._text[at:end], cells):
                cells, end = self._row(self._text, at, self._short)
            if any(len(cell) > _MOST_CELL for cell in cells):
                reason = f"a cell of more than {_MOST_CELL:,} characters"
                self.faults.append(f"line {line}: the row cannot be read ({reason})")
            else:
                yield _Row(line, [" ".join(cell.split()) for cell in cells])
            line += self._text.count("\n", at, end) + 1
            at = end + 1

    def _learn(self, delimiters: str) -> None:
        """Tell the delimiter, the mark that quotes cells, and how many cells a row has."""
        best, chosen = (0.0, 0), ",;"[delimiters == ";"]
        for delimiter in delimiters:
            self._use(delimiter)
            for quoted in (self._long, self._short):
                share, width = self._shape(quoted)
                if (share, width) > best:
                    best, chosen = (share, width), delimiter
        self._use(chosen)
        self._width = best[1]
        self._spaced = f"{chosen} " in self._sample.partition("\n")[0]

    def _use(self, delimiter: str) -> None:
        """Set what parts and quotes cells."""
        self._delimiter, escaped = delimiter, re.escape(delimiter)
        lines = self._sample.split("\n")
        apostrophes = re.compile(rf"(?:^|{escaped})'[^']*'(?={escaped}|$)")
        quoted = 0 if '"' in self._sample else sum(bool(apostrophes.search(line)) for line in lines)
        mark = "'" if 2 * quoted > len(lines) else '"'
        self._quote, end = mark, rf"(?=[{escaped}\n]|\Z)"
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
            widths += [len(cells)] if any(cells) else []
            at = end + 1
        counts = Counter(width for width in widths if width > 1)
        width = max(counts, key=lambda width: (counts[width], width), default=0)
        return counts[width] / max(len(widths), 1), width

    def _row(self, text: str, at: int, quoted: re.Pattern[str]) -> tuple[list[str], int]:
        """Return the cells of the row that begins at a place, and the place of its end."""
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
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
        rows = sum(self._is_row(line) for line in lines)
        if self._width < 2 or rows == 0:
            return False
        if self._delimiter == "\t" and rows == len(lines):  # no cell has a tab
            return True
        if len(cells) != self._width:
            return 2 * rows >= len(lines)
        return 2 * rows > len(lines) > 2

    def _is_row(self, line: str) -> bool:
        """Return whether a line is a row by itself. In prose a comma has a space after it."""
        prose = f"{self._delimiter} " in line and not self._spaced
        return not prose and len(self._row(line, 0, self._short)[0]) == self._width


def _captions(rows: list[_Row]) -> int:
    """Return how many rows of a single cell stand above the head."""
    widest = max((sum(map(bool, row.cells)) for row in rows[:_LOOKED_AT]), default=0)
    count = 0
    while len(rows) > count + 2 and widest > 1 and not _is_head(rows[count:]):
        if sum(map(bool, rows[count].cells)) != 1:
            break
        count += 1
    return count


def _table_lines(rows: list[_Row]) -> Iterator[str]:
    """Yield captions, then a line for each row. The cells of a row that has more than the head are not under
    names, which may be wrong."""
    captions = _captions(rows)
    yield from (next(filter(None, row.cells)) for row in rows[:captions])
    rows = rows[captions:]
    head, rest = (rows[0].cells, rows[1:]) if _is_head(rows) else ([], rows)
    for row in rest:
        if len(row.cells) == 1 < len(head):
            yield row.cells[0]
            continue
        names = [] if row.width > len(head) else head
        names = [*names, *[""] * len(row.cells)]
        yield "; ".join(
            f"{names[n] or f'column {n + 1}'}: {cell}" if names[n] or len(row.cells) > 1 else cell
            for n, cell in enumerate(row.cells)
            if cell
        )


def _is_head(rows: list[_Row]) -> bool:
    """Return whether the first row names the columns: each differently, and not by what the column holds."""
    if len(rows) < 2:
        return False
    names = [(n, cell) for n, cell in enumerate(rows[0].cells) if cell]
    single = len(names) == 1 and len(rows[1].cells) > 1
    distinct = bool(names) and len({cell for _, cell in names}) == len(names) and not single
    return distinct and all(_is_label(cell, n, rows) for n, cell in names if _NUMBER.fullmatch(cell))


def _is_label(cell: str, column: int, rows: list[_Row]) -> bool:
    """Return whether a number names its column, which then holds other things."""
    cells = [row.cells[column] for row in rows[1:_LOOKED_AT] if column < len(row.cells)]
    below = [value for value in cells if value]
    labels = sum(bool(_LABEL.fullmatch(value)) for value in below)
    return bool(_LABEL.fullmatch(cell) and below) and labels * 2 <= len(below)


# --- typography ---

_WINDOW = 60  # characters looked back, so that no text makes this slow


def shifted(mark: str, sign: str) -> str:
    """Write what is above (sign "^") or below ("_") the line: 10^6, x_i, H2O, 19th, [3]."""
    is_plain = mark.isalpha() if sign == "^" else mark.isdigit()
    return mark if is_plain or not mark[:1].isalnum() else f"{sign}{mark}"


_SOFT = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")
_LINE_END = re.compile(r"(?<=\w)[-\u2010]\n[ \t]*(?=(\w{1,60}))")
_LEFT = re.compile(r"[\w'’-]+$")
_WORDS = re.compile(r"\w+(?:[-\u2010]\w+)*")

# Words that keep their hyphen before another word, and ends of words that are none.
_ALWAYS_HYPHENATED = frozenset(
    "self well quasi twenty thirty forty fifty sixty seventy eighty ninety".split()
)
_SUFFIXES = frozenset("ish less hood same dom ing ington ness spring fold some".split())


def vocabulary(text: str) -> Set[str]:
    """Return the words of a text in small letters, those with hyphens whole."""
    return {word.replace("\u2010", "-") for word in _WORDS.findall(text.lower())}


def join_lines(text: str, words: Callable[[], Set[str]] | None = None) -> str:
    """Join the words that hyphens part at line ends, and take soft hyphens out.

    A hyphen that belongs to its word stays: where the text writes the word so elsewhere, and before a capital
    or a digit.

    Args:
        text: With line ends.
        words: Gives the vocabulary of the whole document; by default, that of `text`.
    """
    if "\u00ad" in text:
        text = _SOFT.sub("", text)
    if "-\n" not in text and "\u2010\n" not in text:
        return text
    written = words() if words else vocabulary(text)

    def join(match: re.Match[str]) -> str:
        left = _LEFT.search(text, max(0, match.start() - _WINDOW), match.start())
        return _hyphen(left[0], match[1], written) if left else match[0]

    return _LINE_END.sub(join, text)


def _hyphen(left: str, right: str, written: Set[str]) -> str:
    if not (left[-1].isalpha() and right[0].isalpha()) or (right[0].isupper() and not left.isupper()):
        return "-"
    first, last = left.lower(), right.lower()
    if first + last in written:
        return ""
    is_compound = first in _ALWAYS_HYPHENATED and last not in _SUFFIXES
    return "-" if is_compound or f"{first}-{last}" in written else ""
