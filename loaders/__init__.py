"""Files to documents and ready workspaces. One module a format; `files.detect_format` and `json_files` look
at the content and say which."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from gsw_graph.loaders import (
    asciidoc,
    converter,
    delimited,
    json_files,
    markdown,
    subtitles,
    text,
    whatsapp,
)
from gsw_graph.loaders.address import Page
from gsw_graph.loaders.files import (
    File,
    Format,
    Found,
    Item,
    Items,
    UnusableError,
    detect_format,
    expand,
    opened,
    strip_bom,
    unreadable,
    walk,
)
from gsw_graph.model.documents import Document, Failure, Value, Workspace

__all__ = ["UPLOAD", "Position", "read", "size", "standard_input"]

UPLOAD = "upload:"
"""Prefix of the source of an upload, which is no file here."""


class Position:
    """How many bytes of the files `read` is done with."""

    bytes = 0


def _read_restructured(file: File) -> Iterator[Item]:
    """Yield the document of a reStructuredText file; it is read as plain text without the libraries."""
    return converter.read(file, form="rst") if converter.reads_restructured() else text.read(file)


# A new format is a module, its line here, and its sign in `detect_format`; a new shape of JSON has its line
# in `json_files`.
_READERS: dict[Format, Callable[[File], Items]] = {
    "json": json_files.read_whole,
    "jsonl": json_files.read_lines,
    "markdown": markdown.read,
    "text": text.read,
    "pdf": partial(converter.read, form="pdf"),
    "html": partial(converter.read, form="html"),
    "archive": partial(converter.read, form="archive"),
    "mail": partial(converter.read, form="mail"),
    "mailbox": converter.read_mailbox,
    "chat": whatsapp.read,
    "subtitles": subtitles.read,
    "table": delimited.read_table,
    "code": text.read_code,
    "rst": _read_restructured,
    "asciidoc": asciidoc.read,
}


def read(
    paths: Iterable[str],
    *,
    stdin: BinaryIO | None = None,
    uploads: Mapping[str, BinaryIO] | None = None,
    position: Position | None = None,
    follow_links: bool = False,
) -> Iterator[Document | Workspace | Failure]:
    """Yield the documents and workspaces of files, folders (with all files below, sorted, none hidden),
    globs, "-" and uploads.

    Reading is lazy: a single document is in memory at a time, or a JSON array or object. An unreadable file
    gives a Failure, a file without content a Skipped, and reading goes on. A broken part of a document gives
    a Failure after the document. The same source twice is one document; with different content the second is
    a Failure, as is a record that names another file as its source.

    Args:
        paths: Paths, globs or "-".
        stdin: The stream that "-" reads; by default standard input.
        uploads: Open files by name; the source of an upload is `upload:NAME`, of a `Page` the name, its
            address.
        position: Updated while reading.
        follow_links: Whether to follow links that leave a folder; else they are Skipped.

    Raises:
        InputError: No path exists and no glob has a match; raised at the call.
    """
    if isinstance(paths, str):
        paths = [paths]
    names, missing = expand(map(os.fspath, paths))
    items = _items(names, stdin, uploads or {}, position or Position(), follow_links=follow_links)
    return chain(missing, _distinct(items))


def size(
    paths: Iterable[str], *, uploads: Mapping[str, BinaryIO] | None = None, follow_links: bool = False
) -> int | None:
    """Return the bytes of the files that `read` would open; None if not known (stdin)."""
    names, _ = expand(paths)
    if "-" in names:
        return None
    try:
        total = sum(map(_length, (uploads or {}).values()))
        for path in _files(names, follow_links=follow_links):
            if isinstance(path, Path):
                total += path.stat().st_size
    except OSError:
        return None
    return total


def paths(names: Iterable[str], *, follow_links: bool = False) -> tuple[list[str], list[Failure]]:
    """Return the files that `read` would open, and failures and omissions."""
    expanded, failures = expand(names)
    files = list(_files(expanded, follow_links=follow_links))
    failures += (path for path in files if isinstance(path, Failure))
    return [path.as_posix() for path in files if isinstance(path, Path)], failures


def _files(names: dict[str, Path | None], *, follow_links: bool) -> Iterator[Path | Failure | None]:
    """Yield the files that names mean, each once, and what cannot be read of them; None for `-`."""
    seen: set[Path] = set()
    for name, root in names.items():
        if name == "-":
            yield None
        else:
            yield from walk(Path(name), seen, root, follow_links=follow_links)


def _length(stream: BinaryIO) -> int:
    return stream.seek(0, os.SEEK_END) - stream.seek(0)


def _items(
    names: dict[str, Path | None],
    stdin: BinaryIO | None,
    uploads: Mapping[str, BinaryIO],
    position: Position,
    *,
    follow_links: bool,
) -> Items:
    """Yield what files, folders, standard input and uploads hold."""
    for path in _files(names, follow_links=follow_links):
        if path is None:
            yield from _read_file("stdin", None, stdin or standard_input())
        elif isinstance(path, Failure):
            yield path
        else:
            try:
                with path.open("rb") as stream:
                    stat = os.fstat(stream.fileno())
                    whole = path.resolve()
                    source = whole.as_posix()
                    time = datetime.fromtimestamp(stat.st_mtime, timezone.utc)
                    meta = {"modified": time.strftime("%Y-%m-%dT%H:%M:%S")}
                    for item in _tracked(path.as_posix(), whole, stream, stat.st_size, position):
                        yield _placed(item, source, source, meta, is_newer=False)
            except OSError as error:
                yield unreadable(path, error)
    for name, upload in uploads.items():
        if isinstance(upload, Page):
            path = Path(f"{UPLOAD}{upload.path(name)}")
            for item in _tracked(name, path, upload, _length(upload), position):
                yield _placed(item, path.as_posix(), name, upload.meta, is_newer=True)
        else:
            yield from _tracked(name, Path(f"{UPLOAD}{name}"), upload, _length(upload), position)


def _placed(item: Item, path: str, source: str, meta: Mapping[str, Value | None], *, is_newer: bool) -> Item:
    """Return an item with the source of its file or page; a document with another source knows its file.

    Args:
        item: That was read.
        path: What it has as a source.
        source: The path of its file or the address of its page.
        meta: What a document that is all of it knows besides.
        is_newer: Whether this replaces what the document says under the same keys.
    """
    if isinstance(item, Failure):
        return item
    document = _document(item)
    if document.source == path:
        known = {**document.meta, **meta} if is_newer else {**meta, **document.meta}
        document = replace(document, source=source, meta=known)
    elif document.source.startswith(f"{path}#"):
        document = replace(document, source=source + document.source.removeprefix(path))
    else:
        document = replace(document, file=source)
    place, value = item
    return place, replace(value, document=document) if isinstance(value, Workspace) else document


def _document(item: Found) -> Document:
    _, value = item
    return value.document if isinstance(value, Workspace) else value


def _tracked(name: str, path: Path, stream: BinaryIO, length: int, position: Position) -> Items:
    """Yield what a file of `length` bytes holds, and keep the position in it."""
    before = position.bytes
    for item in _read_file(name, path, stream):
        done = length
        if not stream.closed and stream.seekable():
            done = min(stream.tell(), length)
        position.bytes = before + done
        yield item
    position.bytes = before + length


def standard_input() -> BinaryIO:
    """Return standard input of the process with a buffer of its own. An interrupted load leaves its reading
    thread behind, and Python, which closes `sys.stdin` at the end, aborts if a thread is reading it."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # a program has put another in its place
        return sys.stdin.buffer


def _read_file(name: str, path: Path | None, stream: BinaryIO) -> Items:
    """Yield what a file holds; no record takes the place of what another file says."""
    file = opened(name, path, stream)
    own = "" if path is None else path.as_posix()
    try:
        own.encode("utf-8")
        file = strip_bom(file)
        for item in _READERS[detect_format(file)](file):
            if isinstance(item, Failure) or not _is_other_file(_document(item).source, own):
                yield item
                continue
            reason = f"its source {_document(item).source!r} is another file; load that file, or give"
            yield Failure(item[0], f"{reason} the record a source of its own")
    except UnicodeEncodeError:
        yield Failure(file.name, "the file's name is not UTF-8; rename it")
    except UnusableError as error:
        yield error.failure(file.name)


def _is_other_file(source: str, own: str) -> bool:
    # os.path, as Path raises for what no file is named
    return source != own and os.path.isabs(source) and os.path.isfile(source)  # noqa: PTH113, PTH117


def _distinct(items: Items) -> Iterator[Document | Workspace | Failure]:
    """Yield each source once, and a failure where it comes again with other content. Kept of each source are
    two hashes and its place."""
    seen: dict[str, tuple[str, str, str]] = {}
    for item in items:
        if isinstance(item, Failure):
            yield item
            continue
        place, value = item
        document = _document(item)
        known = seen.get(document.source)
        if known is None:
            seen[document.source] = document.content_hash, value.content_hash, place
            yield value
            continue
        text, content, first = known
        if text != document.content_hash:
            reason = f"the source {document.source!r} has other content at {first}"
            yield Failure(place, f"{reason}; give each record its own id")
        elif content != value.content_hash:
            reason = f"the document {document.source!r} was read at {first} with other findings, or none"
            yield Failure(place, f"{reason}; load only one of the two")
