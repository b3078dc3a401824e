"""Find the server that has a memory in a folder open, by the file that it leaves there."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from gsw_graph.engine.embedded_folder import FolderLock, write_private

FILE = "server.json"


@dataclass(frozen=True)
class RunningServer:
    """A server that runs; its owner's token is new at each start."""

    address: str
    token: str

    @classmethod
    @contextlib.contextmanager
    def announced(cls, memory: str, address: str, token: str) -> Iterator[None]:
        """Leave the file while this process serves a memory in a folder; only its owner can read it. A memory
        on Neo4j has none: every process reaches that."""
        if "://" in memory:
            yield
            return
        file = Path(memory) / FILE
        write_private(file, json.dumps({"address": address, "token": token, "pid": os.getpid()}))
        try:
            yield
        finally:
            file.unlink(missing_ok=True)

    @classmethod
    def find(cls, memory: str) -> RunningServer | None:
        """Return the server that has a memory in a folder open, None where none has. A file that `kill -9`
        left behind says nothing: the lock of the folder ended with its process."""
        if "://" in memory:
            return None
        folder = Path(memory).expanduser().absolute()
        try:
            data = json.loads((folder / FILE).read_text(encoding="utf-8"))
            server = cls(str(data["address"]), str(data["token"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return server if FolderLock(folder).held() and server._listens() else None

    def _listens(self) -> bool:
        """Return whether anybody does; the engine of a killed server holds the lock a moment more."""
        address = urlsplit(self.address)
        try:
            with socket.create_connection((address.hostname or "", address.port or 0), timeout=5):
                return True
        except OSError:
            return False
