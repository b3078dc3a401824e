"""Plain text and code: one file, one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gsw_graph.loaders.encoding import detect_encoding, refusal
from gsw_graph.loaders.files import Converted, File, Item, line_too_long, lines
from gsw_graph.loaders.split import Block, paragraphs, split
from gsw_graph.loaders.typography import join_lines
from gsw_graph.model import Document, Failure, Passage, Skipped, content_id

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
