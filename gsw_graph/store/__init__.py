"""Store the graph: its schema, its writer and its readers."""

from __future__ import annotations

from datetime import datetime, timezone


def now(timespec: str = "seconds") -> str:
    """Return the time in UTC in the form of the graph, such as 2026-03-09T14:00:00+00:00."""
    return datetime.now(timezone.utc).isoformat(timespec=timespec)
