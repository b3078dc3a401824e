"""The folder of an embedded memory: made, recognised, given a password, held by one process at a time, and
asked through the server that has it open, which leaves a file there."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from gsw_graph.config import expanded
from gsw_graph.engine.address import LOG, MARKER, split_address
from gsw_graph.errors import EngineError
from gsw_graph.values import Fields

FORMAT = 1
PASSWORD = "password"  # noqa: S105 - a file name
SERVER = "server.json"
_LOCK, _OWNER = "lock", "owner.json"


def prepare(folder: Path) -> Path:
    """Make `folder` (0700) or check that it holds a memory; returns it as an absolute path."""
    folder = expanded(folder).absolute()
    try:
        os.fsencode(folder).decode("utf-8")
    except UnicodeDecodeError as error:
        raise EngineError(
            "the name of this folder is not in UTF-8, in which the engine names files",
            where=str(folder),
            hint="Rename it, or give another folder with --memory",
        ) from error
    try:
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True)
        if not folder.is_dir():
            raise EngineError(
                "this is a file and no folder",
                where=str(folder),
                hint="Give a folder or a bolt:// url with --memory",
            )
        _check_marker(folder)
        _check_password(folder)
        with contextlib.closing(os.scandir(folder)), (folder / LOG).open("a"):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise EngineError(
            f"the memory cannot be opened ({reason})",
            where=str(error.filename or folder),
            hint="Give a folder you may write to with --memory",
        ) from error
    return folder


def _check_marker(folder: Path) -> None:
    marker = folder / MARKER
    if not marker.exists():
        # a first start that was killed leaves a part
        if any(entry.suffix != ".part" for entry in folder.iterdir()):
            raise EngineError(
                "this folder holds other files and no gswgraph memory",
                where=str(folder),
                hint="Give a new or an empty folder with --memory",
            )
        write_private(marker, json.dumps({"format": FORMAT, "engine": "arcadedb"}) + "\n")
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")  # a memory in a repository is not source
    try:
        number = json.loads(marker.read_text(encoding="utf-8"))["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise EngineError(
            "this file is broken", where=str(marker), hint=f'It should read {{"format": {FORMAT}}}'
        ) from error
    if number != FORMAT:
        raise EngineError(
            f"the memory has format {number}, this gswgraph reads {FORMAT}",
            where=str(folder),
            hint="Update gswgraph",
        )


def _check_password(folder: Path) -> None:
    file = folder / PASSWORD
    if not file.exists() and not (folder / "databases").exists():  # what is there knows the old one
        write_private(file, secrets.token_urlsafe(24))
    if not file.exists() or not read_password(folder):
        raise EngineError(
            "the password file of this memory is lost or empty",
            where=str(file),
            hint="Restore it from a backup of the memory",
        )


def read_password(folder: Path) -> str:
    """Return the password that `prepare` made."""
    return (folder / PASSWORD).read_text(encoding="utf-8").strip()


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:  # noqa: PTH123 - opens a descriptor
        stream.write(text)
    part.replace(file)


def listens(host: str, port: int) -> bool:
    """Tell whether anybody listens on a port."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=5):
        return True
    return False


class FolderLock:
    """Let a single process open a memory. The operating system holds the lock, so that a file left by `kill
    -9` never blocks.

    `owner.json` names the holder for people. A stopping holder removes this file first, so a lock without it
    is about to be free.
    """

    def __init__(self, folder: Path) -> None:
        self._owner = folder / _OWNER
        self._lock = FileLock(folder / _LOCK, timeout=0, thread_local=False)

    def acquire(self, owner: Fields, patience: float = 70.0) -> Fields | None:
        """Take the lock, and wait up to `patience` seconds for a holder that is stopping.

        Returns:
            None if this process has the lock now, else the holder.
        """
        end = time.monotonic() + patience
        seen = None
        while not self._taken():
            holder = self.holder()
            # a killed parent's engine needs a moment to notice, so look twice before believing
            if (holder and holder == seen) or time.monotonic() > end:
                return holder or {}
            seen = holder
            time.sleep(0.3 if holder else 0.05)
        write_private(self._owner, json.dumps(owner))
        return None

    def holder(self) -> Fields | None:
        """Return the text that the holder wrote about itself; None if there is none."""
        try:
            holder: Fields = json.loads(self._owner.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return holder

    def is_held(self) -> bool:
        """Tell whether another process has the memory open now."""
        if not self._taken():
            return True
        self.release()
        return False

    def announce_stop(self) -> None:
        """Tell waiting processes that the lock will be free soon; the lock itself ends with the process."""
        self._owner.unlink(missing_ok=True)

    def release(self) -> None:
        """Free the lock before the process ends."""
        self._lock.release()

    def _taken(self) -> bool:
        try:
            self._lock.acquire()
        except Timeout:
            return False
        return True


@dataclass(frozen=True)
class RunningServer:
    """Hold the address of a running server and its owner's token, which is new at each start."""

    address: str
    token: str

    @classmethod
    @contextlib.contextmanager
    def announced(cls, memory: str, address: str, token: str) -> Iterator[None]:
        """Keep a file that announces the server of a memory in a folder, readable by its owner only. A memory
        on Neo4j needs no file, as every process reaches it."""
        if "://" in memory:
            yield
            return
        file = Path(memory) / SERVER
        write_private(file, json.dumps({"address": address, "token": token, "pid": os.getpid()}))
        try:
            yield
        finally:
            file.unlink(missing_ok=True)

    @classmethod
    def find(cls, memory: str) -> RunningServer | None:
        """Return the server that has a memory in a folder open; None without one. A file left by `kill -9`
        does not count, as the lock of the folder ended with its process."""
        place, _ = split_address(memory)
        if "://" in place:
            return None
        folder = expanded(place).absolute()
        try:
            data = json.loads((folder / SERVER).read_text(encoding="utf-8"))
            server = cls(str(data["address"]), str(data["token"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        # the engine of a killed server holds the lock a moment more
        address = urlsplit(server.address)
        is_open = FolderLock(folder).is_held() and listens(address.hostname or "", address.port or 0)
        return server if is_open else None
