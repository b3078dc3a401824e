"""Who asks a language model that others ask at the same time: one question, with what it may spend and what
it took."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from gsw_graph.inference.costs.ledger import Entry
from gsw_graph.turns import Check, wanted

if TYPE_CHECKING:
    from gsw_graph.inference.costs.budget import QuestionBudget


class Asker:
    """One question, safe for many threads. budget: what it may spend. check: called while a call waits;
    raises where it is not wanted any more. on_trouble: told, from the thread that asks, of each call that
    brought nothing."""

    def __init__(self, budget: QuestionBudget | None = None, check: Check = wanted) -> None:
        self.budget, self.check = budget, check
        self.on_trouble: Callable[[str], None] = lambda _: None
        self._total: Entry | None = None
        self._lock = threading.Lock()

    def add(self, entry: Entry) -> None:
        """Count what was asked for it."""
        with self._lock:
            self._total = self._total + entry if self._total else entry

    def total(self) -> Entry:
        """What was asked for it."""
        with self._lock:
            return self._total or Entry()
