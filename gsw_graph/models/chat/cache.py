"""Replies of language models on disk: the same request is paid for once, whichever memory and process
asks."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gsw_graph.errors import InputError, StoppedError
from gsw_graph.model.documents import content_id
from gsw_graph.models.chat.request import Request

FILE = "llm.sqlite"  # under the cache folder
FORMAT = 2  # of the file; another one is refused
KEY_FORMAT = "llm 1"  # another one makes every request a new one
BUSY = 30.0  # seconds to wait for another process that writes

_TABLES = """
CREATE TABLE reply (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, stage TEXT NOT NULL, content TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    seconds REAL NOT NULL, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID;
CREATE TABLE ledger (
    document TEXT, stage TEXT, model TEXT, calls INTEGER NOT NULL, failed INTEGER NOT NULL,
    cached INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, prompt_estimate INTEGER NOT NULL, estimated INTEGER NOT NULL,
    seconds REAL NOT NULL, dollars REAL,
    answered INTEGER NOT NULL, PRIMARY KEY (document, stage, model)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A reply as it was kept: parsed JSON, or text."""

    content: Any
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def unchecked(key: str) -> str:
    """The key of a reply that failed its check, as long as the model mends it."""
    return f"{key} rejected"


class Cache:
    """The file `llm.sqlite` under the cache folder, readable for its owner alone; safe for many threads and
    processes.

    What is written is there for good when the call returns, also after a kill -9. Keys are hashes of the
    whole request, so that documents stand in the file only as far as replies repeat them. Raises
    InputError where the file cannot be used, StoppedError where that shows later.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            self._db = self._open()
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the cache of replies cannot be opened ({error})", where=str(path), hint=self._hint(error)
            ) from error

    def key(self, model: str, request: Request) -> str:
        """By what decides about the reply; the server and the form in which it is asked do not."""
        return content_id(KEY_FORMAT, model, json.dumps(request.messages), json.dumps(request.schema))

    def get(self, key: str) -> CachedReply | None:
        """The reply kept under this key."""
        with self._safely():
            row = self._db.execute(
                "SELECT content, prompt_tokens, completion_tokens, seconds FROM reply WHERE key = ?", (key,)
            ).fetchone()
            return CachedReply(json.loads(row[0]), *row[1:]) if row else None

    def has(self, key: str) -> bool:
        with self._safely():
            return self._db.execute("SELECT 1 FROM reply WHERE key = ?", (key,)).fetchone() is not None

    def put(self, key: str, model: str, stage: str, kept: CachedReply) -> None:
        """Keeps a reply, in place of an earlier one."""
        row = (
            key,
            model,
            stage,
            json.dumps(kept.content),
            kept.prompt_tokens,
            kept.completion_tokens,
            kept.seconds,
        )
        with self.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO reply (key, model, stage, content, prompt_tokens, "
                "completion_tokens, seconds) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def drop(self, key: str) -> None:
        """Forgets the reply kept under this key, if there is one."""
        with self.writing() as db:
            db.execute("DELETE FROM reply WHERE key = ?", (key,))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; one within another is part of it."""
        with self._safely():
            if self._db.in_transaction:  # this thread's, as it has the lock
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.rollback()
                raise
            self._db.commit()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._safely():
            yield self._db

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with suppress(PermissionError):  # another's file, which we may use all the same
            self.path.chmod(0o600)
        db = sqlite3.connect(self.path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        try:
            _prepare(db)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _safely(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except (sqlite3.Error, ValueError) as error:
                raise StoppedError(
                    f"the cache of replies cannot be used ({error})",
                    where=str(self.path),
                    hint=self._hint(error),
                ) from error

    def _hint(self, error: Exception) -> str:
        if isinstance(error, sqlite3.OperationalError):
            return (
                "Free its disk, see that no other process holds it, or set another folder in GSWGRAPH_CACHE"
            )
        if isinstance(error, OSError):
            return "Set another folder in GSWGRAPH_CACHE"
        return "Remove it: replies are then asked for, and paid for, again"


def _prepare(db: sqlite3.Connection) -> None:
    end = time.monotonic() + BUSY
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            break
        except (
            sqlite3.OperationalError
        ) as error:  # two that open a new file at once: SQLite itself does not wait here
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("BEGIN IMMEDIATE")
    (found,) = db.execute("PRAGMA user_version").fetchone()
    if not found:
        for statement in _TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {FORMAT}")
    db.execute("COMMIT")
    if found not in (0, FORMAT):
        raise sqlite3.DatabaseError(f"it has format {found}, this version of gswgraph knows {FORMAT}")
