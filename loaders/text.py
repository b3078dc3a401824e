"""Plain text, code and tables (CSV, TSV): one file, one document; and what typesetting does to the words of
any text: superscripts, hyphens at the ends of lines, soft hyphens.

Each row of a table is a line that names its columns, so that a passage can be understood without the head.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType

from gsw_graph.loaders.files import (
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
from gsw_graph.model.documents import Document, Failure, Passage, Value, content_id, typed

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

_DELIMITERS = ",;\t|"
_LOOKED_AT = 50  # lines, for the delimiter and the head
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[-+]?[\d.,:/ -]+%?")
# Numbers that name columns: years, spans of years or ages.
_LABEL = re.compile(
    r"(?:1[5-9]|2[01])\d\d(?:[/-]\d{1,4})?|\d{1,3}[-–]\d{1,3}|(?:1[5-9]|2[01])\d\d[-/](?:0?[1-9]|1[0-2])"
)
_SEPARATOR = re.compile(r'\s*"?sep=(.)"?\s*?(?:\n|$)')


def read_table(file: File) -> Iterator[Item]:
    """Yield the document of a table, then the rows that cannot be read. Where a column is named `text`, each
    row is a document, as a record of JSON is, and its other columns are metadata."""
    from gsw_graph.loaders import records

    text = decode(file)
    faults: list[str] = []
    rows = [row for row in _table_rows(text, faults) if any(row)]
    head = [cell.lower() for cell in rows[0]] if rows else []
    table = "\n".join(_table_lines(rows))
    if not table:
        raise UnusableError(faults[0] if faults else "a table without rows")
    if "text" in head:
        for number, row in enumerate(rows[1:], 2):
            cells = zip(head, row, strict=False)
            value = {key: cell if key in records.OWN else typed(cell) for key, cell in cells if cell}
            yield from records.read_record(Record(value, f"{file.name}: row {number}", file))
    else:
        yield from document(file, "csv", "", split([Block(table + "\n", "lines")]), text)
    yield from (Failure(file.name, fault, part=True) for fault in shortened(faults))


def _table_rows(text: str, faults: list[str]) -> Iterator[list[str]]:
    """Yield the rows; what is wrong with others is added to `faults`."""
    if declared := _SEPARATOR.match(text):  # as Excel writes it
        text = text[declared.end() :]
    delimiter = declared[1] if declared else _delimiter(text)
    # not splitlines, which ends a row at characters that occur within cells (U+2028, U+0085, form feed)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    row: list[str] | None = []
    while row is not None:
        try:
            row = next(reader, None)
        except csv.Error as error:
            faults.append(f"line {reader.line_num}: the row cannot be read ({error})")
        else:
            yield [" ".join(cell.split()) for cell in row or ()]


def _delimiter(text: str) -> str:
    """Return the delimiter that parts most lines alike; a comma where none does."""
    sample = _QUOTED.sub("", text[: _LOOKED_AT * 1000]).strip("\n").split("\n")[:_LOOKED_AT]
    counts = Counter((line.count(sign), sign) for line in sample for sign in _DELIMITERS if sign in line)
    return max(counts, key=lambda count: (counts[count], count[0], count[1] == ","), default=(0, ","))[1]


def _table_lines(rows: list[list[str]]) -> Iterator[str]:
    """Yield captions, then a line for each row."""
    widest = max((sum(map(bool, row)) for row in rows[:_LOOKED_AT]), default=0)
    while len(rows) > 2 and widest > 1 and sum(map(bool, rows[0])) == 1 and not _is_head(rows):
        yield next(filter(None, rows[0]))
        rows = rows[1:]
    head, rest = (rows[0], rows[1:]) if _is_head(rows) else ([], rows)
    for row in rest:
        names = [*head, *[""] * len(row)]
        yield "; ".join(
            f"{names[n] or f'column {n + 1}'}: {cell}" if names[n] or len(row) > 1 else cell
            for n, cell in enumerate(row)
            if cell
        )


def _is_head(rows: list[list[str]]) -> bool:
    """Return whether the first row names the columns: each differently, and not by what the column holds."""
    if len(rows) < 2:
        return False
    names = [(n, cell) for n, cell in enumerate(rows[0]) if cell]
    distinct = len({cell for _, cell in names}) == len(names) and (len(names) > 1 or len(rows[1]) < 2)
    return distinct and all(_is_label(cell, n, rows) for n, cell in names if _NUMBER.fullmatch(cell))


def _is_label(cell: str, column: int, rows: list[list[str]]) -> bool:
    """Return whether a number names its column, which then holds other things."""
    below = [row[column] for row in rows[1:_LOOKED_AT] if column < len(row) and row[column]]
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
