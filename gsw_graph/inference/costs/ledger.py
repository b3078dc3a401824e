"""What language models were asked and what that took: by document, stage and model."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from typing import Any

from gsw_graph.config import Settings
from gsw_graph.inference.chat.cache import FILE, Cache


@dataclass(frozen=True, slots=True)
class Entry:
    """What was asked for one document, stage and model.

    calls: what was sent to the server, repairs and replies of no use among them. failed: those that gave no
    reply that can be used. cached: replies that were there already and took no call. prompt_tokens,
    completion_tokens: as the server counted them; for `estimated` of the calls it did not, and they are
    estimates. prompt_estimate: the same prompts as `tokens.estimate` has them. seconds: of the calls.
    dollars: None where no price is known.
    """

    document: str = ""
    stage: str = ""
    model: str = ""
    calls: int = 0
    failed: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_estimate: int = 0
    estimated: int = 0
    seconds: float = 0.0
    dollars: float | None = None

    def __add__(self, other: Entry) -> Entry:
        """The sum; of a document, stage or model only what both have in common."""
        values: dict[str, Any] = {}
        for name in _NAMES:
            mine, its = getattr(self, name), getattr(other, name)
            if name in _KEY:
                values[name] = mine if mine == its else ""
            else:
                values[name] = its if mine is None else mine if its is None else mine + its
        return Entry(**values)


_NAMES = [field.name for field in fields(Entry)]
_KEY = _NAMES[:3]
_ADD = ", ".join(f"{name} = {name} + excluded.{name}" for name in _NAMES[3:-1])
_UPSERT = f"""INSERT INTO ledger ({", ".join(_NAMES)}, answered)
    VALUES ({", ".join("?" * len(_NAMES))}, ?)
    ON CONFLICT DO UPDATE SET {_ADD}, answered = answered + excluded.answered,
    dollars = CASE WHEN excluded.dollars IS NULL THEN dollars
    ELSE coalesce(dollars, 0) + excluded.dollars END"""  # noqa: S608
_SELECT = f"SELECT {', '.join(_NAMES)} FROM ledger ORDER BY document, stage, model"  # noqa: S608
_SUMS = f"""SELECT '', stage, model, sum(answered), {", ".join(f"sum({name})" for name in _NAMES[4:])}
    FROM ledger GROUP BY stage, model"""  # noqa: S608


class Ledger:
    """Counts in memory for this run and in the cache's file for good; safe for many threads."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._rows: dict[tuple[str, str, str], Entry] = {}
        self._total: Entry | None = None
        self._lock = threading.Lock()

    def add(self, entry: Entry) -> None:
        """Counts it, in memory and on disk."""
        with self._cache.writing() as db:
            db.execute(_UPSERT, (*astuple(entry), entry.calls if entry.prompt_tokens else 0))
        with self._lock:
            key = (entry.document, entry.stage, entry.model)
            self._rows[key] = self._rows[key] + entry if key in self._rows else entry
            self._total = self._total + entry if self._total else entry

    def rows(self) -> list[Entry]:
        """Of this run."""
        with self._lock:
            return [self._rows[key] for key in sorted(self._rows)]

    def total(self) -> Entry:
        """Of this run; its document, stage and model are what all rows have in common."""
        with self._lock:
            return self._total or Entry()

    def stored(self) -> list[Entry]:
        """Of all runs with this cache, this one among them."""
        with self._cache.reading() as db:
            return [Entry(*row) for row in db.execute(_SELECT)]

    def stages(self) -> list[Entry]:
        """Of all runs with this cache, summed over documents, to estimate by: calls are those alone that
        brought tokens."""
        with self._cache.reading() as db:
            return [Entry(*row) for row in db.execute(_SUMS)]


def total(rows: Iterable[Entry]) -> Entry:
    """The sum of some rows."""
    first, *others = [*rows] or [Entry()]
    for entry in others:
        first += entry
    return first


def stored(settings: Settings) -> list[Entry]:
    """Of all runs with the cache that the settings name, none where there is no cache yet. Raises
    InputError."""
    path = settings.cache_dir / FILE
    if not path.exists():
        return []
    cache = Cache(path)
    try:
        return Ledger(cache).stored()
    finally:
        cache.close()
