"""The graph: its schema, what writes it and what reads it."""

from __future__ import annotations

from datetime import datetime, timezone


def now(timespec: str = "seconds") -> str:
    """Return the time in UTC as the graph holds it, such as 2026-03-09T14:00:00+00:00."""
    return datetime.now(timezone.utc).isoformat(timespec=timespec)
