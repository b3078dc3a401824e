"""What the client keeps of a memory, version by version: from this process, from disk, or made anew. Plain
numpy arrays, no pickle."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from scipy import sparse

from gsw_graph.turns import held, wanted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.store.reader import Reader
    from gsw_graph.turns import Check

T = TypeVar("T")
Arrays = Mapping[str, Any]

_TRIES = 3  # to make it while nobody writes


@dataclass(frozen=True)
class Files(Generic[T]):
    """How a value is kept on disk. form: another one, or other constants that went into it, make older
    files useless."""

    folder: Path
    form: str
    pack: Callable[[T], Arrays]
    unpack: Callable[[Arrays], T]

    def save(self, value: T, version: int) -> None:
        """Keep one version; the file appears whole or not at all, and older versions go. A folder that
        cannot be written is no error."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".part")
            try:
                with os.fdopen(handle, "wb") as file:
                    np.savez(file, format=np.array(self.form), **self.pack(value))
                Path(temporary).replace(self._file(version))
            finally:
                Path(temporary).unlink(missing_ok=True)
            for old in self.folder.glob("*.npz"):
                if old != self._file(version):
                    old.unlink(missing_ok=True)

    def load(self, version: int) -> T | None:
        """This version, None where there is none that can be read."""
        return self._load(self._file(version))

    def any_version(self) -> T | None:
        """Any version that can be read."""
        return next(
            (value for file in sorted(self.folder.glob("*.npz")) if (value := self._load(file)) is not None),
            None,
        )

    def _file(self, version: int) -> Path:
        return self.folder / f"{version}.npz"

    def _load(self, file: Path) -> T | None:
        try:
            with file.open("rb") as opened, np.load(opened, allow_pickle=False) as found:
                return self.unpack(found) if str(found["format"]) == self.form else None
        except Exception:  # a file can be broken in many ways; it is made again
            return None


class Versions(Generic[T]):
    """The value of the last version asked for. make: reads it from the memory; it can ask for an earlier
    version, None where there is none."""

    def __init__(self, reader: Reader, files: Files[T], make: Callable[[Callable[[], T | None]], T]) -> None:
        self._reader, self._files, self._make = reader, files, make
        self._last: tuple[int, T] | None = None
        self._making = threading.Lock()

    def of(self, version: int, before: Callable[[], None] = lambda: None, check: Check = wanted) -> T:
        """The value of a version of the memory; of a later one where somebody wrote meanwhile. Made once,
        however many threads ask. before: called before it is made, by the thread that makes it; check: while
        another makes it."""
        last = self._last
        if last is not None and last[0] == version:
            return last[1]
        with held(self._making, check):
            return self._made(version, before)

    def _made(self, version: int, before: Callable[[], None]) -> T:
        if self._last is not None:  # others may have made it, or a later one, while this thread waited
            if self._last[0] == version:
                return self._last[1]
            if self._last[0] > version and self._reader.size()[0] == self._last[0]:
                return self._last[1]
        value = self._files.load(version)
        for _ in range(_TRIES):
            if value is not None:
                break
            before()
            made = self._make(self._earlier)
            now = self._reader.size()[0]
            if now == version:
                value = made
                self._files.save(value, version)
            version = now
        if value is None:
            return made  # somebody writes all the time: good for this question, not to be kept
        self._last = version, value
        return value

    def _earlier(self) -> T | None:
        return self._last[1] if self._last else self._files.any_version()


def packed(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Texts as an array; neither ids nor normalised names hold a line feed."""
    return np.frombuffer("\n".join(texts).encode("utf-8"), dtype=np.uint8)


def unpacked(data: NDArray[np.uint8]) -> list[str]:
    """What `packed` was given."""
    return data.tobytes().decode("utf-8").split("\n") if len(data) else []


def packed_aliases(aliases: Mapping[str, str]) -> dict[str, Any]:
    """Aliases and their canonical names as arrays."""
    return {"aliases": packed(list(aliases)), "canonicals": packed(list(aliases.values()))}


def unpacked_aliases(found: Arrays) -> dict[str, str]:
    """What `packed_aliases` was given."""
    return dict(zip(unpacked(found["aliases"]), unpacked(found["canonicals"]), strict=True))


def packed_matrix(name: str, matrix: sparse.csr_array) -> dict[str, Any]:
    """A sparse matrix as arrays called `name_data`, `name_indices` and `name_indptr`."""
    return {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}


def unpacked_matrix(name: str, found: Arrays, shape: tuple[int, int]) -> sparse.csr_array:
    """What `packed_matrix` was given."""
    return sparse.csr_array(
        tuple(found[f"{name}_{part}"] for part in ("data", "indices", "indptr")), shape=shape
    )
