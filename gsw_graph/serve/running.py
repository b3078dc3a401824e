"""The file by which the command line finds the server that has an embedded memory open."""

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
class Running:
    """A server that runs. token: that of the owner, new at each start."""

    address: str
    token: str

    @classmethod
    @contextlib.contextmanager
    def here(cls, memory: str, address: str, token: str) -> Iterator[None]:
        """Leave the file while this process serves a memory in a folder; only its owner can read it. A
        memory on a server has none: everybody reaches that."""
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
    def of(cls, memory: str) -> Running | None:
        """The server of the memory in a folder, None where none has it open. A file that `kill -9` left
        behind says nothing: the lock of the folder ended with its process."""
        if "://" in memory:
            return None
        folder = Path(memory).expanduser().absolute()
        try:
            found = json.loads((folder / FILE).read_text(encoding="utf-8"))
            running = cls(str(found["address"]), str(found["token"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return running if FolderLock(folder).held() and running._listens() else None

    def _listens(self) -> bool:
        """Whether anybody does: the engine of a server that was killed holds the lock for a moment more."""
        place = urlsplit(self.address)
        try:
            with socket.create_connection((place.hostname or "", place.port or 0), timeout=5):
                return True
        except OSError:
            return False
