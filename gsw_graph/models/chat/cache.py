"""Keep replies of language models on disk, with a ledger of their costs: the same request is paid for once,
whichever memory and process asks."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from filelock import FileLock

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelUnavailableError
from gsw_graph.model.documents import content_id
from gsw_graph.model.ledger import Entry
from gsw_graph.models.chat.request import Request

FILE = "llm.sqlite"  # under the cache folder
FORMAT = 2  # of the file; another one is refused
KEY_FORMAT = "llm 1"  # another one makes every request a new one
BUSY = 30.0  # seconds to wait for another process that writes
_HINT = (
    "Free its disk, see that no other process holds it, or set another folder in GSWGRAPH_CACHE. Without the "
    "file replies are asked for, and paid for, again"
)

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
    """Hold a cached reply: parsed JSON, or text."""

    content: Any
    prompt_tokens: int
    completion_tokens: int
    seconds: float


def unchecked(key: str) -> str:
    """Return the key of a reply that failed its check, until the model has repaired it."""
    return f"{key} rejected"


class Cache:
    """Keep replies in `llm.sqlite` under the cache folder, readable by its owner only; safe for many threads
    and processes.

    Writes survive a kill -9 once the call returns. Keys are hashes of the whole request, so the file has no
    text of documents beyond the words that replies repeat.

    Raises:
        InputError: The file cannot be used. If this shows only later: ModelUnavailableError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite itself does not wait if two processes make the same file.
            with FileLock(f"{path}.lock", timeout=BUSY, mode=0o600):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                with suppress(PermissionError):  # another's file, which we may use all the same
                    path.chmod(0o600)
                self._db = sqlite3.connect(path, BUSY, isolation_level=None, check_same_thread=False)
                _prepare(self._db)
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the cache of replies cannot be opened ({error})", where=str(path), hint=_HINT
            ) from error

    def key(self, model: str, request: Request) -> str:
        """Return the key of all that decides about the reply, which the server and the form in which it is
        asked do not."""
        return content_id(KEY_FORMAT, model, json.dumps(request.messages), json.dumps(request.schema))

    def get(self, key: str) -> CachedReply | None:
        """Return the reply of a key."""
        with self.using():
            row = self._db.execute(
                "SELECT content, prompt_tokens, completion_tokens, seconds FROM reply WHERE key = ?", (key,)
            ).fetchone()
            return CachedReply(json.loads(row[0]), *row[1:]) if row else None

    def put(self, key: str, model: str, stage: str, kept: CachedReply) -> None:
        """Keep a reply, in place of an earlier one."""
        content, *counts = astuple(kept)
        row = (key, model, stage, json.dumps(content), *counts)
        names = "key, model, stage, content, prompt_tokens, completion_tokens, seconds"
        with self.writing() as db:
            db.execute(f"INSERT OR REPLACE INTO reply ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608

    def drop(self, key: str) -> None:
        """Forget the reply of a key, if there is one."""
        with self.writing() as db:
            db.execute("DELETE FROM reply WHERE key = ?", (key,))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Begin a transaction. A transaction within another is part of it."""
        with self.using():
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

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to this thread alone. Raises ModelUnavailableError if the file is unusable."""
        with self._lock:
            try:
                yield self._db
            except (sqlite3.Error, ValueError) as error:
                raise ModelUnavailableError(
                    f"the cache of replies cannot be used ({error})", where=str(self.path), hint=_HINT
                ) from error


def _prepare(db: sqlite3.Connection) -> None:
    """Make the tables of a new file. Raises sqlite3.DatabaseError if another version made it."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if not version:
        db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {FORMAT}; COMMIT;")
    elif version != FORMAT:
        raise sqlite3.DatabaseError(f"it has format {version}, this version of gswgraph knows {FORMAT}")


_NAMES = [field.name for field in fields(Entry)]
_ADD = ", ".join(f"{name} = {name} + excluded.{name}" for name in _NAMES[3:-1])
_UPSERT = f"""INSERT INTO ledger ({", ".join(_NAMES)}, answered)
    VALUES ({", ".join("?" * len(_NAMES))}, 0)
    ON CONFLICT DO UPDATE SET {_ADD},
    dollars = CASE WHEN excluded.dollars IS NULL THEN dollars
    ELSE coalesce(dollars, 0) + excluded.dollars END"""  # noqa: S608
_SELECT = f"SELECT {', '.join(_NAMES)} FROM ledger ORDER BY document, stage, model"  # noqa: S608


class Ledger:
    """Counts calls, in memory for this run and in the cache file for good; safe for many threads."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._rows: dict[tuple[str, str, str], Entry] = {}
        self._lock = threading.Lock()

    def add(self, entry: Entry) -> None:
        """Count calls, in memory and on disk."""
        with self._cache.writing() as db:
            db.execute(_UPSERT, astuple(entry))
        key = entry.document, entry.stage, entry.model
        with self._lock:
            row = self._rows.get(key)
            self._rows[key] = row + entry if row else entry

    def rows(self) -> list[Entry]:
        """Return the entries of this run."""
        with self._lock:
            return [self._rows[key] for key in sorted(self._rows)]

    def total(self) -> Entry:
        """Return the sum of this run."""
        return total(self.rows())

    def stored(self) -> list[Entry]:
        """Return the entries of all runs with this cache."""
        with self._cache.using() as db:
            return [Entry(*row) for row in db.execute(_SELECT)]

    def has_replies(self, model: str) -> bool:
        """Return whether some call of a model brought a reply, in this run or another."""
        query = "SELECT 1 FROM ledger WHERE model = ? AND prompt_tokens > 0"
        with self._cache.using() as db:
            return db.execute(query, (model,)).fetchone() is not None


def total(rows: Iterable[Entry]) -> Entry:
    """Return the sum of some entries."""
    entries = list(rows)
    return sum(entries[1:], entries[0]) if entries else Entry()


def stored(settings: Settings) -> list[Entry]:
    """Read the ledger of the cache that the settings name; empty if there is no cache. Raises
    InputError."""
    path = settings.cache_dir / FILE
    if not path.exists():
        return []
    cache = Cache(path)
    try:
        return Ledger(cache).stored()
    finally:
        cache.close()
