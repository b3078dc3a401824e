"""Files to documents and ready workspaces. One module a format; `detect` and `json_files` say which by looking at the content."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from gsw_graph.loaders import documents, encoding, json_files, markdown, text
from gsw_graph.loaders.detect import Format, detect
from gsw_graph.loaders.files import File, Item, expand, opened, unreadable, walk
from gsw_graph.model import Document, Failure, Workspace

__all__ = ["read", "size"]

# A new format is a module, its line here, and its sign in `detect`; what is JSON has its line in `json_files`.
_READERS: dict[Format, Callable[[File], Iterator[Item]]] = {
    "json": json_files.read_whole,
    "jsonl": json_files.read_lines,
    "markdown": markdown.read,
    "text": text.read,
    "pdf": documents.read_pdf,
    "html": documents.read_html,
    "archive": documents.read_archive,
}


def read(paths: Iterable[str], *, stdin: BinaryIO | None = None) -> Iterator[Document | Workspace | Failure]:
    """The documents and workspaces of files, folders (with all below, sorted, no hidden ones), globs and "-" (stdin, by default the process's).

    Lazy: one document is in memory at a time, but for a JSON array or object, which is read whole. What cannot be read is a Failure in its
    place and the rest goes on; what is wrong with a part of a workspace is a Failure of its own, after the workspace without that part.
    The same source twice is one document; with different content the second is a Failure.
    InputError, at the call and before anything is read: not one of the paths exists, no glob has a match.
    """
    names, missing = expand([paths] if isinstance(paths, str) else [os.fspath(path) for path in paths])
    return chain(missing, _distinct(_items(names, stdin)))


def size(paths: Iterable[str]) -> int | None:
    """Bytes of the files that `read` would open, None where it is not known (stdin)."""
    names, _ = expand(paths)
    if "-" in names:
        return None
    seen: set[Path] = set()
    with contextlib.suppress(OSError):
        return sum(path.stat().st_size for name in names for path in walk(Path(name), seen) if not isinstance(path, Failure))
    return None


def _items(names: list[str], stdin: BinaryIO | None) -> Iterator[Item]:
    seen: set[Path] = set()
    for name in dict.fromkeys(names):
        if name == "-":
            yield from _read_file("stdin", None, stdin or _standard_input())
            continue
        for path in walk(Path(name), seen):
            if isinstance(path, Failure):
                yield path
                continue
            try:
                with path.open("rb") as stream:
                    yield from _read_file(path.as_posix(), path.resolve(), stream)
            except OSError as error:
                yield unreadable(path, error)


def _standard_input() -> BinaryIO:
    """The process's, by a buffer of its own: a load that is interrupted leaves the thread behind that reads it, and Python, which closes `sys.stdin` at the
    end of a program, aborts where a thread is in the midst of reading that."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # one that a program has put in its place
        return sys.stdin.buffer


def _read_file(name: str, path: Path | None, stream: BinaryIO) -> Iterator[Item]:
    try:
        file = encoding.marked(opened(name, path, stream))
        form = detect(file)
        if isinstance(form, Failure):
            yield form
        else:
            yield from _READERS[form](file)
    except encoding.BrokenTextError as error:
        yield Failure(name, f"{error.message}: {error.hint}")


def _distinct(items: Iterator[Item]) -> Iterator[Document | Workspace | Failure]:
    """Each source once; kept of each are two hashes and its place."""
    seen: dict[str, tuple[str, str, str]] = {}
    for item in items:
        if isinstance(item, Failure):
            yield item
            continue
        place, found = item
        text = (found.document if isinstance(found, Workspace) else found).content_hash
        content = found.content_hash
        first_text, first, where = seen.setdefault(found.source, (text, content, place))
        if where == place and first == content:
            yield found
        elif first_text != text:
            yield Failure(place, f"the source {found.source!r} has other content at {where}; give each record its own id")
        elif first != content:
            yield Failure(place, f"the document {found.source!r} was read at {where} with other findings, or none; load only one of the two")
