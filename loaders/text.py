"""Plain text, code and tables (CSV, TSV): one file, one document.

Each row of a table is a line that names its columns, so that a passage can be understood without the head.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gsw_graph.loaders.detect import detect_encoding, refusal
from gsw_graph.loaders.files import Converted, File, Item, line_too_long, lines, shortened
from gsw_graph.loaders.split import Block, paragraphs, split
from gsw_graph.loaders.typography import join_lines
from gsw_graph.model.documents import Document, Failure, Passage, Skipped, content_id

UNNAMED = "the file's name is not UTF-8; rename it"
_TITLE = re.compile(r"([^\n]{1,100})\n[^\S\n]*\n\s*(?=\S)")


def read(file: File) -> Iterator[Item]:
    """Yield the document of a text file, or the failure that keeps it out."""
    text = decode(file)
    if isinstance(text, Failure):
        yield text
        return
    text = text.strip()
    title, body = _title(join_lines(text))
    yield from document(file, "text", title, [*split(paragraphs(body))], text)


def read_code(file: File) -> Iterator[Item]:
    """Yield the document of a program or of settings: its lines stay whole, and its file's whole name is its
    title."""
    text = decode(file)
    if isinstance(text, Failure):
        yield text
    else:
        text = text.strip()
        blocks = (Block(block.text, "lines") for block in paragraphs(text))
        yield from document(file, "code", "", split(blocks), text, Path(file.name).name)


def write(file: File, found: Converted, key: str = "") -> Iterator[Item]:
    """Yield the document of a plain text that was converted."""
    about = [about_block(found.about)] if found.about else []
    texts = split([*about, *paragraphs(found.text)])
    yield from document(file, found.loader, found.title, texts, found.text, key=key)


def about_block(about: str) -> Block:
    """Return the properties of a document, as text where search finds them."""
    return Block(f"{about}\n\n", "lines")


def decode(file: File) -> str | Failure:
    r"""Return the text of a file with \n line ends; a failure, or Skipped, where there is none."""
    parts: list[bytes] = []
    for place, line in lines(file):
        if line is None:
            return line_too_long(place)
        if b"\0" in line:
            return Failure(place, f"not text: a NUL byte at column {line.index(0) + 1}")
        parts.append(line)
    text = decode_bytes(b"".join(parts), file.name)
    if isinstance(text, Failure):
        return text
    return text.replace("\r\n", "\n") if text.strip() else Skipped(file.name, "empty")


def decode_bytes(data: bytes, name: str) -> str | Failure:
    """Return what the bytes of a file say, in UTF-8 or in another encoding that can be told."""
    try:
        return data.decode(detect_encoding(data) or "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Failure(f"{name}:{line}", refusal(error))


def document(
    file: File, loader: str, title: str, texts: list[str], content: str, name: str = "", key: str = ""
) -> Iterator[Item]:
    """Yield a document of a file.

    Args:
        file: Where it stands.
        loader: What read it.
        title: Its own title, "" for none; then `name` or its file's name stands there, which is no name of
            anything.
        texts: Of its passages.
        content: All it says: the name of what has no path.
        name: A title that is no name.
        key: Which of the documents of its file it is, "" for the only one.
    """
    if (source := source_of(file, content)) is None:
        yield Failure(file.name, UNNAMED)
    else:
        shown = title or name or stem(file)
        passages = tuple(Passage(text, shown, n) for n, text in enumerate(texts))
        source = f"{source}#{key}" if key else source
        yield file.name, Document(source, shown, passages, loader, titled=bool(title))


def source_of(file: File, content: str) -> str | None:
    """Return the source that a file's path is; stdin has no path, so what it said is its name. None: the path
    is not UTF-8."""
    if file.path is None:
        return f"stdin#{content_id(content)[:12]}"
    source = file.path.as_posix()
    try:
        source.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return source


def stem(file: File) -> str:
    """Return a readable title from a file's name."""
    if file.path is None:
        return "stdin"
    name = Path(file.name).stem or file.path.stem
    return " ".join(re.sub(r"[_-]+", " ", name).split()) or name


def _title(text: str) -> tuple[str, str]:
    """Return a short first line that a blank line follows and no punctuation ends, and the rest; else "" and
    the whole text."""
    match = _TITLE.match(text)
    if match and not (line := match[1].strip()).endswith((".", ",", ";", ":")) and len(line.split()) <= 15:
        return line, text[match.end() :]
    return "", text


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
    """Yield the document of a table, then the rows that cannot be read."""
    text = decode(file)
    if isinstance(text, Failure):
        yield text
        return
    rows, faults = _table_rows(text)
    lines = list(_table_lines(rows))
    if not lines:
        yield Failure(file.name, "a table without rows" if not faults else faults[0])
        return
    yield from document(file, "csv", "", split([Block("\n".join(lines) + "\n", "lines")]), text)
    yield from (Failure(file.name, fault, part=True) for fault in shortened(faults))


def _table_rows(text: str) -> tuple[list[list[str]], list[str]]:
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


def _table_lines(rows: list[list[str]]) -> Iterator[str]:
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
