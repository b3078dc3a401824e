"""Limits that all threads share: calls at once, requests and tokens a minute, pauses that a server asks
for."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy

from gsw_graph.concurrency import Check, never_cancelled

MINUTE = 60.0
POLL_SECONDS = 0.25  # between checks whether a call is still wanted


class Permit:
    """The right to make one call. tokens: what it is expected to take, later what it took."""

    __slots__ = ("tokens", "when")

    def __init__(self, tokens: float) -> None:
        self.when, self.tokens = time.monotonic(), tokens


class Limiter:
    """Lets calls through: `concurrency` at once, `rpm` requests and `tpm` tokens in any 60 seconds.

    A server that is too busy gets half as many calls at once, and more again as it answers. A call of more
    than `tpm` tokens goes alone.
    """

    def __init__(self, concurrency: int, rpm: int | None = None, tpm: int | None = None) -> None:
        self._rpm, self._tpm, self._most = rpm, tpm, float(max(concurrency, 1))
        self._limit = self._most
        self._changed = threading.Condition()
        self._recent: deque[Permit] = deque()
        self._active = 0
        self._paused_until = 0.0
        self._stopped: Exception | None = None

    @property
    def concurrency(self) -> int:
        """Calls that may now be under way at once."""
        return int(self._limit)

    @contextmanager
    def permit(self, tokens: float, check: Check = never_cancelled) -> Iterator[Permit]:
        """Wait until a call of so many tokens may go. Raises what `stop` was given, and what `check`
        raises."""
        with self._changed:
            while (delay := self._delay(tokens)) > 0:
                self._wait(delay, check)
            permit = Permit(tokens)
            self._recent.append(permit)
            self._active += 1
        try:
            yield permit
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def sleep(self, seconds: float, check: Check = never_cancelled) -> None:
        """Keep this thread waiting. Raises as `permit`."""
        end = time.monotonic() + seconds
        with self._changed:
            self._raise_if_stopped()
            while (left := end - time.monotonic()) > 0:
                self._wait(left, check)

    def pause(self, seconds: float) -> None:
        """Begin no call for so long."""
        with self._changed:
            self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def slow_down(self) -> None:
        """Halve the calls at once: the server has too many."""
        with self._changed:
            self._limit = max(1.0, self._limit / 2)

    def speed_up(self) -> None:
        """Allow a little more: the server answered."""
        with self._changed:
            self._limit = min(self._most, self._limit + 0.25)

    def stop(self, error: Exception) -> None:
        """Raise this in all who wait, and all who come."""
        with self._changed:
            self._stopped = self._stopped or error
            self._changed.notify_all()

    def _wait(self, seconds: float, check: Check) -> None:
        self._changed.wait(min(seconds, POLL_SECONDS))
        self._raise_if_stopped()
        check()

    def _delay(self, tokens: float) -> float:
        """Return the seconds until a call may go, as it looks now."""
        self._raise_if_stopped()
        now = time.monotonic()
        while self._recent and self._recent[0].when <= now - MINUTE:
            self._recent.popleft()
        delays = [self._paused_until - now, MINUTE if self._active >= self.concurrency else 0.0]
        if self._rpm and len(self._recent) >= self._rpm:
            delays.append(self._recent[-self._rpm].when + MINUTE - now)
        over = sum(permit.tokens for permit in self._recent) + tokens - (self._tpm or float("inf"))
        for permit in self._recent if over > 0 else ():
            if over > 0:
                over -= permit.tokens
                delays.append(permit.when + MINUTE - now)
        return max(delays)

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            raise copy(self._stopped)  # for each thread its own: a traceback grows where it is raised
