"""Files to documents and ready workspaces. One module a format; `detect` and `json_files` say which
by looking at the content."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from gsw_graph.loaders import converter, json_files, markdown, text
from gsw_graph.loaders.detect import BrokenTextError, Format, detect_format, strip_bom
from gsw_graph.loaders.files import File, Item, expand, opened, unreadable, walk
from gsw_graph.model.documents import Document, Failure, Workspace

__all__ = ["UPLOAD", "Position", "read", "size", "standard_input"]

UPLOAD = "upload:"
"""What the source of an upload begins with: it is no file here."""


class Position:
    """How many bytes of the files `read` is done with."""

    bytes = 0


# A new format is a module, its line here, and its sign in `detect_format`; what is JSON has its line in
# `json_files`.
_READERS: dict[Format, Callable[[File], Iterator[Item]]] = {
    "json": json_files.read_whole,
    "jsonl": json_files.read_lines,
    "markdown": markdown.read,
    "text": text.read,
    "pdf": lambda file: converter.read(file, "pdf"),
    "html": lambda file: converter.read(file, "html"),
    "archive": lambda file: converter.read(file, "archive"),
    "mail": lambda file: converter.read(file, "mail"),
    "mailbox": converter.read_mailbox,
    "table": text.read_table,
    "code": text.read_code,
}


def read(
    paths: Iterable[str],
    *,
    stdin: BinaryIO | None = None,
    uploads: Mapping[str, BinaryIO] | None = None,
    position: Position | None = None,
    follow_links: bool = False,
) -> Iterator[Document | Workspace | Failure]:
    """The documents and workspaces of files, folders (with all below, sorted, no hidden ones), globs and "-"
    (stdin, by default the process's), and of uploads, by their names, whose source is `upload:NAME`.

    Lazy: one document is in memory at a time, but for a JSON array or object, which is read whole. What
    cannot be read is a Failure in its
    place and the rest goes on, and what holds nothing to read is a Skipped; what is wrong with a part of a
    document is a Failure of its own, after the document without that part.
    The same source twice is one document; with different content the second is a Failure. A record that names
    another file as its source is one too. Links that lead out of a folder are Skipped unless `follow_links`.
    `position` is kept as it goes.
    InputError, at the call and before anything is read: not one of the paths exists, no glob has a match.
    """
    names, missing = expand([paths] if isinstance(paths, str) else [os.fspath(path) for path in paths])
    position = position or Position()
    items = chain(
        _items(names, stdin, position, follow_links=follow_links), _uploaded(uploads or {}, position)
    )
    return chain(missing, _distinct(items))


def size(
    paths: Iterable[str], *, uploads: Mapping[str, BinaryIO] | None = None, follow_links: bool = False
) -> int | None:
    """Bytes of the files that `read` would open, None where it is not known (stdin)."""
    names, _ = expand(paths)
    if "-" in names:
        return None
    seen: set[Path] = set()
    with contextlib.suppress(OSError):
        found = (
            path
            for name, root in names.items()
            for path in walk(Path(name), seen, root, follow_links=follow_links)
        )
        return sum(path.stat().st_size for path in found if not isinstance(path, Failure)) + sum(
            stream.seek(0, os.SEEK_END) - stream.seek(0) for stream in (uploads or {}).values()
        )
    return None


def _items(
    names: dict[str, Path | None], stdin: BinaryIO | None, position: Position, *, follow_links: bool
) -> Iterator[Item]:
    """Yield what files, folders and standard input hold."""
    seen: set[Path] = set()
    for name, root in names.items():
        if name == "-":
            yield from _read_file("stdin", None, stdin or standard_input())
            continue
        for path in walk(Path(name), seen, root, follow_links=follow_links):
            if isinstance(path, Failure):
                yield path
                continue
            try:
                with path.open("rb") as stream:
                    size = os.fstat(stream.fileno()).st_size
                    yield from _followed(path.as_posix(), path.resolve(), stream, size, position)
            except OSError as error:
                yield unreadable(path, error)


def _uploaded(uploads: Mapping[str, BinaryIO], position: Position) -> Iterator[Item]:
    """Yield what uploads hold."""
    for name, stream in uploads.items():
        size = stream.seek(0, os.SEEK_END) - stream.seek(0)
        yield from _followed(name, Path(f"{UPLOAD}{name}"), stream, size, position)


def _followed(name: str, path: Path, stream: BinaryIO, size: int, position: Position) -> Iterator[Item]:
    """Yield what a file of `size` bytes holds, and keep the position in it."""
    before = position.bytes
    for item in _read_file(name, path, stream):
        known = not stream.closed and stream.seekable()
        position.bytes = before + (min(stream.tell(), size) if known else size)
        yield item
    position.bytes = before + size


def standard_input() -> BinaryIO:
    """Standard input of the process, by a buffer of its own: a load that is interrupted leaves the thread
    behind that reads it, and Python, which closes `sys.stdin` at the end of a program, aborts where a
    thread is in the midst of reading that."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # one that a program has put in its place
        return sys.stdin.buffer


def _read_file(name: str, path: Path | None, stream: BinaryIO) -> Iterator[Item]:
    try:
        file = strip_bom(opened(name, path, stream))
        form = detect_format(file)
        if isinstance(form, Failure):
            yield form
        else:
            yield from (_own(item, file) for item in _READERS[form](file))
    except BrokenTextError as error:
        yield Failure(name, f"{error.message}: {error.hint}")


def _own(item: Item, file: File) -> Item:
    """The item, unless it says that it is another file: no record takes the place of what that file says."""
    if isinstance(item, Failure):
        return item
    place, found = item
    own = file.path is not None and found.source == file.path.as_posix()
    # os.path, as Path raises for what no file is named
    if own or not (os.path.isabs(found.source) and os.path.isfile(found.source)):  # noqa: PTH113, PTH117
        return item
    return Failure(
        place,
        f"its source {found.source!r} is another file; load that file, or give the record a source of its "
        "own",
    )


def _distinct(items: Iterator[Item]) -> Iterator[Document | Workspace | Failure]:
    """Yield each source once, and a failure where it comes again with other content. Kept of each source are
    two hashes and its place."""
    seen: dict[str, tuple[str, str, str]] = {}
    for item in items:
        if isinstance(item, Failure):
            yield item
            continue
        place, value = item
        document = value.document if isinstance(value, Workspace) else value
        source, text, content = document.source, document.content_hash, value.content_hash
        if source not in seen:
            seen[source] = text, content, place
            yield value
        elif text != seen[source][0]:
            yield Failure(
                place,
                f"the source {source!r} has other content at {seen[source][2]}; give each record its own id",
            )
        elif content != seen[source][1]:
            yield Failure(
                place,
                f"the document {source!r} was read at {seen[source][2]} with other findings, or none; load "
                "only one of the two",
            )
