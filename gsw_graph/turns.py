"""Who may do what at once in a memory: questions side by side, what writes one after another, and nobody asks
while an index is built."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_TICK = 0.25  # seconds between looks whether a wait is still wanted

Check = Callable[[], None]
"""Called while something waits or works; raises where that is not wanted any more."""


def wanted() -> None:
    """The check of what nobody ends."""


@contextmanager
def held(lock: threading.Lock | threading.RLock, check: Check = wanted) -> Iterator[None]:
    """Hold a lock; while it is waited for, `check` is called again and again."""
    while not lock.acquire(timeout=_TICK):
        check()
    try:
        yield
    finally:
        lock.release()


class InTurn:
    """A lock that is had in the order of asking: one who takes it again and again, as a load does, leaves
    others their turn. A context manager."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._mutex:
            if not self._taken:
                self._taken = True
                return
            mine = threading.Lock()
            mine.acquire()
            self._waiting.append(mine)
        try:
            mine.acquire()  # released by who hands it over
        except BaseException:  # Ctrl-C
            with self._mutex:
                handed_over = mine not in self._waiting
                if not handed_over:
                    self._waiting.remove(mine)
            if handed_over:
                self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


class Turns:
    """The turns of one memory, for all its threads."""

    def __init__(self) -> None:
        self._writer = threading.RLock()  # mending loads
        self._changed = threading.Condition()
        self._asking = self._alone = 0

    @contextmanager
    def asking(self, check: Check = wanted) -> Iterator[None]:
        """While a question is asked: beside others, and beside a load until that builds an index."""
        with self._changed:
            while self._alone:
                self._changed.wait(_TICK)
                check()
            self._asking += 1
        try:
            yield
        finally:
            with self._changed:
                self._asking -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self, check: Check = wanted) -> Iterator[None]:
        """While something is written: one after another."""
        with held(self._writer, check):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While the one who writes takes indexes away: waits for the questions under way, and later ones
        wait for it."""
        with self._changed:
            self._alone += 1
        try:
            with self._changed:
                while self._asking:
                    self._changed.wait(_TICK)
            yield
        finally:
            with self._changed:
                self._alone -= 1
                self._changed.notify_all()
