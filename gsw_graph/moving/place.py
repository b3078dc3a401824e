"""Where a set of files stands: a folder of this machine, or one that fsspec reaches (`s3://`, `gs://`, `memory://`)."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gsw_graph.errors import InputError
from gsw_graph.folders import new_folder

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

FOLDERS = ("nodes", "relationships")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of a file system; it can be sent to other processes, which then reach the same one."""

    system: AbstractFileSystem
    root: str

    @classmethod
    def of(cls, folder: str | Path) -> Place:
        """The place of a path or a url. InputError: no such protocol, what it needs is not installed, or
        nobody answers there."""
        try:
            from fsspec.core import url_to_fs

            system, root = url_to_fs(os.fspath(folder))
        except Exception as error:  # each driver has errors of its own
            raise InputError(
                f"this cannot be reached ({error})",
                where=str(folder),
                hint="Give a folder, or a url such as s3://BUCKET/FOLDER with `pip install s3fs`",
            ) from error
        return cls(system, str(root).rstrip("/"))

    @property
    def local(self) -> Path | None:
        """The folder, where it is one of this machine."""
        return Path(self.root) if "file" in _protocols(self.system) else None

    @property
    def url(self) -> str:
        """Its path or url, as people write it."""
        return str(self.local or self.system.unstrip_protocol(self.root))

    def below(self, name: str) -> Place:
        return Place(self.system, f"{self.root}/{name}")

    def prepare(self) -> None:
        """Make the folders of a set of files, where a file system has folders. Workers do not: a folder that
        is not there shows them that they do not see the same disk."""
        if self.local is not None:
            for name in FOLDERS:
                (self.local / name).mkdir(parents=True, exist_ok=True)

    def names(self, folder: str) -> list[str]:
        """The files of a folder, sorted; none where there is no such folder. InputError: as of `open`."""
        try:
            with self._let_in():
                found = self.system.ls(f"{self.root}/{folder}", detail=False, refresh=True)
        except FileNotFoundError:
            return []
        return sorted(str(one).rstrip("/").rsplit("/", 1)[-1] for one in found)

    def open(self, name: str) -> Any:
        """A file to read. FileNotFoundError, OSError of a disk. InputError: a store nobody can reach."""
        with self._let_in():
            return self.system.open(f"{self.root}/{name}", "rb")

    @contextmanager
    def _let_in(self) -> Iterator[None]:
        """Drivers of stores have errors of their own, for keys that are missing or a name that is unknown."""
        try:
            yield
        except (FileNotFoundError, InputError):
            raise
        except Exception as error:
            if self.local is not None:
                raise
            raise InputError(
                f"this cannot be reached ({type(error).__name__}: {error})",
                where=self.url,
                hint="Check the address, and the keys that the store wants in the environment",
            ) from error

    @contextmanager
    def new(self, name: str) -> Iterator[BinaryIO]:
        """A file to write, there whole or, after an error, not at all, whoever writes the same one at the
        same time. Object stores show a file when it is closed; on a disk it is renamed."""
        target = f"{self.root}/{name}"
        beside = target if self.local is None else f"{target}.{secrets.token_hex(4)}"
        file = self.system.open(beside, "wb")
        try:
            yield file
        except BaseException:
            file.close()
            if self.system.exists(beside):
                self.system.rm_file(beside)
            raise
        file.close()
        if beside != target:
            os.replace(beside, target)  # noqa: PTH105

    def write(self, name: str, text: str) -> None:
        with self.new(name) as file:
            file.write(text.encode())

    def remove(self, folder: str = "") -> None:
        """All that is in a folder here, and the folder."""
        place = f"{self.root}/{folder}".rstrip("/")
        self.system.invalidate_cache()  # of lists that were made before workers wrote
        if self.system.exists(place):
            self.system.rm(place, recursive=True)


@contextmanager
def new_place(folder: str | Path) -> Iterator[Place]:
    """A place for files that is new or empty: whole or, after an error, empty. InputError: there is something
    in it."""
    place = Place.of(folder)
    if place.local is not None:
        with new_folder(place.local) as beside:
            yield Place.of(beside)
        return
    if place.names("") or place.names(FOLDERS[0]):
        raise InputError("the folder is not empty", where=place.url, hint="Name a new one")
    try:
        yield place
    except BaseException:
        for name in place.names(""):  # and not all at once: the place may be a bucket, which stays
            place.remove(name)
        raise


def _protocols(system: AbstractFileSystem) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)
