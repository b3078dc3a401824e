"""Plain text and code: one file, one document; and what typesetting does to the words of any text:
superscripts, hyphens at the ends of lines, soft hyphens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType

from gsw_graph.loaders.files import (
    Converted,
    File,
    Items,
    NothingError,
    UnusableError,
    detect_encoding,
    line_too_long,
    lines,
    refusal,
)
from gsw_graph.loaders.split import Block, paragraphs, split
from gsw_graph.model.documents import Document, Passage, Value, content_id
from gsw_graph.values import word_set

_TITLE = re.compile(r"([^\n]{1,100})\n[^\S\n]*\n\s*(?=\S)")


def read(file: File) -> Items:
    """Yield the document of a text file."""
    text = decode(file)
    # A short first line that a blank line follows and no punctuation ends is the title.
    title = ""
    body = join_lines(text)
    match = _TITLE.match(body)
    if match:
        line = match[1].strip()
        if not line.endswith((".", ",", ";", ":")) and len(line.split()) <= 15:
            title = line
            body = body[match.end() :]
    yield from document(file, "text", title, split(paragraphs(body)), text)


def read_code(file: File) -> Items:
    """Yield the document of a program or of settings: its lines stay whole, and its file's whole name is its
    title."""
    text = decode(file)
    blocks = [Block(block.text, "lines") for block in paragraphs(text)]
    yield from document(file, "code", "", split(blocks), text, name=Path(file.name).name)


def write(file: File, contents: Converted, key: str = "") -> Items:
    """Yield the document of a plain text that was converted; see `document` for `key`."""
    texts = split([*about_blocks(contents.about), *paragraphs(contents.text)])
    yield from document(
        file, contents.loader, contents.title, texts, contents.text, key=key, meta=contents.meta
    )


def about_blocks(about: str) -> list[Block]:
    """Return the properties of a document, if there are any, as text for search."""
    return [Block(f"{about}\n\n", "lines")] if about else []


def decode(file: File) -> str:
    """Return the text of a file with \n line ends. Raises UnusableError if there is no text."""
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
    """Decode the bytes of a file, in UTF-8 or in another encoding that is detected.

    Args:
        data: All bytes of the file.
        name: Name of the file, for the error.

    Raises:
        UnusableError: The encoding is not clear.
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
) -> Items:
    """Yield a document of a file.

    Args:
        file: The file.
        loader: Name of the loader.
        title: The document's own title. If it is "", the title is `name` or the file's name, which does not
            count as a name.
        texts: Texts of the passages.
        content: The whole content, which names a document without a path.
        name: A title that does not count as a name.
        key: Key of the document within the file, "" for a single document.
        meta: Metadata.
        sections: Sections of the passages, if there are any.
    """
    shown = title or name or stem(file)
    passages: list[Passage] = []
    for text, section in zip_longest(texts, sections, fillvalue=""):
        passages.append(Passage(text, shown, len(passages), section))
    source = source_of(file, content)
    if key:
        source = f"{source}#{key}"
    yield file.name, Document(source, shown, tuple(passages), loader, bool(title), meta)


def source_of(file: File, content: str) -> str:
    """Return the source of a file: its path, or for stdin a name made from the content."""
    return file.path.as_posix() if file.path else f"stdin#{content_id(content)[:12]}"


def stem(file: File) -> str:
    """Return a readable title from a file's name."""
    if file.path is None:
        return "stdin"
    name = Path(file.name).stem or file.path.stem
    words = re.sub(r"[_-]+", " ", name).split()
    return " ".join(words) or name


# --- typography ---

_WINDOW = 60  # characters looked back, so that no text makes this slow


def shifted(mark: str, sign: str) -> str:
    """Write raised (sign "^") or lowered ("_") text: 10^6, x_i, H2O, 19th, [3]."""
    is_plain = mark.isalpha() if sign == "^" else mark.isdigit()
    if is_plain or not mark[:1].isalnum():
        return mark
    return f"{sign}{mark}"


_SOFT = re.compile("\u00ad(?:[ \t]*\n[ \t]*)?")
_LINE_END = re.compile(r"(?<=\w)[-\u2010]\n[ \t]*(?=(\w{1,60}))")
_LEFT = re.compile(r"[\w'’-]+$")
_WORDS = re.compile(r"\w+(?:[-\u2010]\w+)*")

# Words that keep their hyphen before another word, and ends of words that are none.
_ALWAYS_HYPHENATED = word_set("self well quasi twenty thirty forty fifty sixty seventy eighty ninety")
_SUFFIXES = word_set("ish less hood same dom ing ington ness spring fold some")


def vocabulary(text: str) -> Set[str]:
    """Return the words of a text in small letters, words with hyphens whole."""
    return {word.replace("\u2010", "-") for word in _WORDS.findall(text.lower())}


def join_lines(text: str, words: Callable[[], Set[str]] | None = None) -> str:
    """Join words that hyphens split at line ends, and remove soft hyphens.

    A hyphen that belongs to its word stays: if the text has the word with a hyphen elsewhere, and before a
    capital or a digit.

    Args:
        text: The text, with line ends.
        words: Returns the vocabulary of the whole document; by default the vocabulary of `text`.
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
    if not (left[-1].isalpha() and right[0].isalpha()):
        return "-"
    if right[0].isupper() and not left.isupper():
        return "-"
    first = left.lower()
    last = right.lower()
    if first + last in written:
        return ""
    if f"{first}-{last}" in written:
        return "-"
    is_compound = first in _ALWAYS_HYPHENATED and last not in _SUFFIXES
    return "-" if is_compound else ""
