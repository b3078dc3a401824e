"""Plain text: one file, one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gsw_graph.loaders.encoding import refused, told
from gsw_graph.loaders.files import File, Item, line_too_long, lines
from gsw_graph.loaders.split import Block, paragraphs, split
from gsw_graph.model import Document, Failure, Passage, Skipped, content_id

UNNAMED = "the file's name is not UTF-8; rename it"
_TITLE = re.compile(r"([^\n]{1,100})\n[^\S\n]*\n\s*(?=\S)")


def read(file: File) -> Iterator[Item]:
    """The document of a text file, or the failure that keeps it out."""
    text = decoded(file)
    if isinstance(text, Failure):
        yield text
        return
    title, body = _title(text)
    yield from document(file, "text", title, [*split(paragraphs(body))], text)


def read_code(file: File) -> Iterator[Item]:
    """The document of a program or of settings: its lines stay whole, and its file's whole name is its
    title."""
    text = decoded(file)
    if isinstance(text, Failure):
        yield text
    else:
        yield from document(
            file,
            "code",
            "",
            split(Block(block.text, "lines") for block in paragraphs(text)),
            text,
            Path(file.name).name,
        )


def decoded(file: File) -> str | Failure:
    r"""The text with \n line ends and no outer white space."""
    text = whole(file)
    return text if isinstance(text, Failure) else text.strip()


def whole(file: File) -> str | Failure:
    r"""The text with \n line ends; a failure, or Skipped, where there is none."""
    parts: list[bytes] = []
    for place, line in lines(file):
        if line is None:
            return line_too_long(place)
        if b"\0" in line:
            return Failure(place, f"not text: a NUL byte at column {line.index(0) + 1}")
        parts.append(line)
    text = characters(b"".join(parts), file.name)
    if isinstance(text, Failure):
        return text
    return text.replace("\r\n", "\n") if text.strip() else Skipped(file.name, "empty")


def characters(data: bytes, name: str) -> str | Failure:
    """What the bytes of a file say, in UTF-8 or in another encoding that can be told."""
    try:
        return data.decode(told(data) or "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Failure(f"{name}:{line}", refused(error))


def document(
    file: File, loader: str, title: str, texts: list[str], content: str, name: str = ""
) -> Iterator[Item]:
    """A file's one document. Where it has no title of its own, `name` or its file's name stands there,
    which is no name of anything."""
    if (source := named(file, content)) is None:
        yield Failure(file.name, UNNAMED)
    else:
        shown = title or name or stem(file)
        yield (
            file.name,
            Document(
                source,
                shown,
                tuple(Passage(text, shown, n) for n, text in enumerate(texts)),
                loader,
                titled=bool(title),
            ),
        )


def named(file: File, content: str) -> str | None:
    """The source that a file's path is; stdin has no path, so what it said is its name. None: the path is
    not UTF-8."""
    if file.path is None:
        return f"stdin#{content_id(content)[:12]}"
    source = file.path.as_posix()
    try:
        source.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return source


def stem(file: File) -> str:
    """A readable title from a file's name."""
    if file.path is None:
        return "stdin"
    name = Path(file.name).stem or file.path.stem
    return " ".join(re.sub(r"[_-]+", " ", name).split()) or name


def _title(text: str) -> tuple[str, str]:
    """A short first line that a blank line follows and no punctuation ends, and the rest; else "" and the
    whole text."""
    match = _TITLE.match(text)
    if match and not (line := match[1].strip()).endswith((".", ",", ";", ":")) and len(line.split()) <= 15:
        return line, text[match.end() :]
    return "", text
