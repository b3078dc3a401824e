"""Named paths to files, and files to lines of bounded length."""

from __future__ import annotations

import glob
import io
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.model.documents import Document, Failure, Skipped, Workspace, counted

MAX_LINE = 16 * 1024 * 1024
HEAD = 64 * 1024
_OPEN = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # pipes that a shell has opened for us
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")

Item: TypeAlias = "Failure | tuple[str, Document | Workspace]"
"""What one format's reader yields: a document, or a ready workspace, with the place it was read from
(`file` or `file:line`), or a failure."""


@dataclass(frozen=True, slots=True)
class File:
    """An open file: the name it was reached by, its absolute path (None for stdin, `upload:NAME` for an
    upload), its first bytes and all its bytes."""

    name: str
    path: Path | None
    head: bytes
    stream: BinaryIO


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a JSON file, the place it stands at, and its number there ("" where it is all the file
    holds)."""

    value: dict[str, object]
    place: str
    file: File
    number: str = ""


class UnusableError(Exception):
    """Raised where nothing can be read from a file; the message says why, in words for its owner."""


class NothingError(UnusableError):
    """Raised where a file holds nothing to read, which is no fault of it."""


@dataclass
class Converted:
    """What a document says.

    Attributes:
        text: Markdown, or plain text.
        title: The title that it has of its own, "" for none.
        about: A line with its properties: author, date.
        loader: What it was: `pdf`, `docx` ...
        plain: Whether the text is plain, without marks of Markdown.
        faults: Parts of it that cannot be read.
        left_out: What was left out, counted by kind.
    """

    text: str = ""
    title: str = ""
    about: str = ""
    loader: str = ""
    plain: bool = False
    faults: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


_MOST_PROPERTIES = 4000  # characters
LISTED = 20  # faults of a document that are listed one by one


def properties(pairs: Iterable[tuple[str, str]]) -> str:
    """Write what is known about a document as a line of text, where search finds it. Its keys are in small
    letters, so that none is taken for a name."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        if (shown := " ".join(value.split())) and shown not in values.setdefault(name.lower(), []):
            values[name.lower()].append(shown)
    line = "; ".join(f"{name}: {', '.join(shown)}" for name, shown in values.items() if shown)
    return line[:_MOST_PROPERTIES]


def left_out(name: str, kinds: Mapping[str, int]) -> Iterator[Skipped]:
    """Yield what was left out of a document, counted by kind, if anything was."""
    if counts := {kind: number for kind, number in kinds.items() if number}:
        yield Skipped(name, counted(counts), part=True, kinds=tuple(sorted(counts.items())))


def shortened(faults: Iterable[str]) -> list[str]:
    """Return the first faults of a document, and how many more there are."""
    faults = list(faults)
    more = len(faults) - LISTED
    return [*faults[:LISTED], f"and {more} more faults"] if more > 0 else faults


def expand(paths: Iterable[str]) -> tuple[dict[str, Path | None], list[Failure]]:
    """Existing files and folders (and "-") for paths and globs, in the order given, each with the folder that
    its links are to stay in where a glob found it; and those that mean nothing.

    InputError: none of them means anything.
    """
    found: dict[str, Path | None] = {}
    failures: list[Failure] = []
    for path in paths:
        if path == "-" or os.path.exists(path):  # noqa: PTH110 (Path.exists raises for a name that no file can have)
            found[path] = None  # by its name, whatever a glob says of it
        elif not glob.has_magic(path):
            failures.append(Failure(_printable(path), "no such file or folder"))
        elif matches := _matches(path):
            found |= {match: root for match, root in matches.items() if match not in found}
        else:
            failures.append(Failure(_printable(path), "nothing matches this pattern"))
    if failures and not found:
        others = f", nor do {len(failures) - 1} others" if failures[1:] else ""
        raise InputError(
            f"{failures[0].reason}{others}",
            where=failures[0].source,
            hint="Check the path and what may be read; ** stands for all folders below",
        )
    return found, failures


def _matches(pattern: str) -> dict[str, Path | None]:
    # pathlib rather than glob: its ** does not follow links, so a loop of links ends.
    parts = Path(pattern).parts
    fixed = next(n for n, part in enumerate(parts) if glob.has_magic(part))
    base = Path(*parts[:fixed])
    try:
        found = [
            path
            for path in base.glob(str(Path(*parts[fixed:])))
            if not any(part.startswith(".") for part in path.relative_to(base).parts)
        ]
    except ValueError as error:  # such as "a**b" before Python 3.13
        raise InputError(str(error), where=_printable(pattern)) from error
    return dict.fromkeys(map(str, sorted(found)), base.resolve())


def walk(
    path: Path, seen: set[Path], within: Path | None = None, *, follow_links: bool = False
) -> Iterator[Path | Failure]:
    """The files under a folder, sorted by name, each once; hidden names are left out. `seen` are resolved
    paths and grows.

    A link that leads out of `within`, which is the folder itself where none is given, is left out unless
    `follow_links`.
    """
    try:
        real = path.resolve()
        if within is not None and not follow_links and not real.is_relative_to(within):
            yield Skipped(
                _printable(path.as_posix()),
                "a link that leads out of the folder; load what it leads to by its name, or with "
                "--follow-links",
            )
            return
        if real in seen:  # named twice, or a loop of links
            return
        seen.add(real)
        mode = path.stat().st_mode
        if not stat.S_ISDIR(mode):
            name = path.as_posix()
            yield (
                path
                if stat.S_ISREG(mode) or name.startswith(_OPEN)
                else Failure(
                    _printable(name),
                    "a pipe or a device, which may keep a load waiting for ever: send what it says to "
                    f"standard input: gswgraph load - < {_printable(name)}",
                )
            )
            return
        within = within or real
        children = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        readable = [child.is_dir() or child.is_file() for child in children]
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself, before Python 3.13
        yield unreadable(path, error)
        return
    if not children:
        yield Skipped(_printable(path.as_posix()), "an empty folder")
    for child, good in zip(children, readable, strict=True):
        if good:
            yield from walk(child, seen, within, follow_links=follow_links)
        else:
            yield Failure(_printable(child.as_posix()), "not a regular file, or a link that leads nowhere")


def unreadable(path: Path, error: Exception) -> Failure:
    """The failure for a file or folder the system would not give."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return Failure(_printable(path.as_posix()), f"cannot be read: {reason}")


def opened(name: str, path: Path | None, stream: BinaryIO) -> File:
    """A File whose head is read ahead; works for pipes too, which cannot go back."""
    head = stream.read(HEAD)
    return File(_printable(name), path, head, io.BufferedReader(_Joined(head, stream), HEAD))


class _Joined(io.RawIOBase):
    """Bytes read already, then the rest of the stream they came from. Closing it leaves that stream open."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def lines(file: File) -> Iterator[tuple[str, bytes | None]]:
    """Each line with its place `file:line`; None for a line above 16 MiB, which is passed over without
    being held."""
    number = 0
    while line := file.stream.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if too_long := len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = file.stream.readline(MAX_LINE)
        yield f"{file.name}:{number}", None if too_long else line


def line_too_long(place: str) -> Failure:
    """The failure for a line that `lines` passed over."""
    return Failure(place, f"a line of more than {MAX_LINE // 2**20} MiB")


def storable(text: str) -> bool:
    """Whether a database can hold the text: no NUL and no half of a surrogate pair."""
    return _UNSTORABLE.search(text) is None


def _printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
