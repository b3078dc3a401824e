"""Ends from another thread what was begun: a question, a load, a query."""

from __future__ import annotations

import threading

from gsw_graph.errors import EndedError


class Cancel:
    """Given to what should be ended when nobody waits for it any more; `cancel` ends it, from any thread."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._reason = "ended"

    def cancel(self, reason: str = "ended") -> None:
        """End it: what waits or works raises EndedError at its next look, within a second as a rule."""
        self._reason = reason
        self._ended.set()

    def check(self) -> None:
        """Raise EndedError if it was ended."""
        if self._ended.is_set():
            raise EndedError(self._reason)
