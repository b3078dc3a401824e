"""Files to documents and ready workspaces. One module a format; `detect` and `json_files` say which
by looking at the content."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gsw_graph.errors import InputError
from gsw_graph.loaders import converter, json_files, markdown, text
from gsw_graph.loaders.detect import BrokenTextError, Format, detect_format, strip_bom
from gsw_graph.loaders.files import File, Item, expand, opened, unreadable, walk
from gsw_graph.model import Document, Failure, Workspace

__all__ = [
    "UPLOAD",
    "Identity",
    "Position",
    "Sources",
    "paths",
    "read",
    "read_file",
    "size",
    "standard_input",
]

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


def paths(names: Iterable[str], *, follow_links: bool = False) -> Iterator[Path | Failure]:
    """The files that `read` would open, in its order, and what it would list instead. InputError as of
    `read`, or where standard input is among them."""
    found, missing = expand(names)
    if "-" in found:
        raise InputError(
            "a cluster cannot read standard input", hint="Put it into a file on a disk that all nodes share"
        )
    seen: set[Path] = set()
    files = (
        path
        for name, root in found.items()
        for path in walk(Path(name), seen, root, follow_links=follow_links)
    )
    return chain(missing, files)


def read_file(name: str, path: Path) -> Iterator[Item]:
    """What one file holds. name: by which it was reached. path: resolved."""
    try:
        with path.open("rb") as stream:
            yield from _read_file(name, path, stream)
    except OSError as error:
        yield unreadable(Path(name), error)


def _items(
    names: dict[str, Path | None], stdin: BinaryIO | None, position: Position, *, follow_links: bool
) -> Iterator[Item]:
    seen: set[Path] = set()
    before = 0  # bytes of the files that are done
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
                    for item in _read_file(path.as_posix(), path.resolve(), stream):
                        position.bytes = before + (
                            size if stream.closed or not stream.seekable() else min(stream.tell(), size)
                        )
                        yield item
                    before += size
                    position.bytes = before
            except OSError as error:
                yield unreadable(path, error)


def _uploaded(uploads: Mapping[str, BinaryIO], position: Position) -> Iterator[Item]:
    before = position.bytes
    for name, stream in uploads.items():
        for item in _read_file(name, Path(f"{UPLOAD}{name}"), stream):
            position.bytes = before + stream.tell()
            yield item
        before = position.bytes = before + stream.seek(0, os.SEEK_END)


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


class Identity(NamedTuple):
    """Where a document was read, and what tells whether it was read before: its source, hashes of its text
    and of its content. passages: how many."""

    place: str
    source: str
    text: str
    content: str
    passages: int

    @classmethod
    def of(cls, place: str, found: Document | Workspace) -> Identity:
        document = found.document if isinstance(found, Workspace) else found
        return cls(place, document.source, document.content_hash, found.content_hash, len(document.passages))


class Sources:
    """The sources that were read; kept of each are two hashes and its place."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, str, str]] = {}

    def fresh(self, one: Identity) -> bool | Failure:
        """Whether a document is the first of its source; a failure where it says something else."""
        text, content, where = self._seen.setdefault(one.source, (one.text, one.content, one.place))
        if where == one.place and content == one.content:
            return True
        if text != one.text:
            return Failure(
                one.place,
                f"the source {one.source!r} has other content at {where}; give each record its own id",
            )
        if content != one.content:
            return Failure(
                one.place,
                f"the document {one.source!r} was read at {where} with other findings, or none; load "
                "only one of the two",
            )
        return False


def _distinct(items: Iterator[Item]) -> Iterator[Document | Workspace | Failure]:
    """Each source once."""
    sources = Sources()
    for item in items:
        if isinstance(item, Failure):
            yield item
            continue
        fresh = sources.fresh(Identity.of(*item))
        if isinstance(fresh, Failure):
            yield fresh
        elif fresh:
            yield item[1]
