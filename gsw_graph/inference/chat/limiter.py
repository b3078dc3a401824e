"""One limit for all threads: calls at once, requests and tokens a minute, and the pauses that a server
asks for."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy

MINUTE = 60.0
FEWER, MORE = (
    0.75,
    0.25,
)  # a refusal takes a quarter of the calls at once, each reply gives a quarter of a call back
LOOK = 0.25  # seconds between looks whether a call is still wanted
SLOWER = 0.25  # of that, after each time-out: a server that has one slot does not get a second


class Slot:
    """The right to make one call. `tokens`: what it is thought to take; set it to what it took, for the calls
    after it. `refusals`, `answers`: of all calls when it began."""

    __slots__ = ("answers", "refusals", "tokens", "when")

    def __init__(self, when: float, tokens: float, refusals: int, answers: int) -> None:
        self.when, self.tokens, self.refusals, self.answers = when, tokens, refusals, answers


class Limiter:
    """Lets calls through in the order in which they came.

    at_once: calls under way. rpm, tpm: requests and tokens in any 60 seconds, None for no limit; a call of
    more than `tpm` tokens goes alone.
    A server that refuses calls gets fewer at once, and more again as it answers. clock and wait are for
    tests: `wait(condition, seconds)` sleeps, up to `seconds` where given, until the condition is notified.
    """

    def __init__(
        self,
        at_once: int,
        rpm: int | None = None,
        tpm: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Condition, float | None], object] = threading.Condition.wait,
    ) -> None:
        self._rpm, self._tpm, self._most = rpm, tpm, max(at_once, 1)
        self._clock, self._wait = clock, wait
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self._recent: deque[Slot] = deque()  # of the last minute
        self._under_way = 0
        self._at_once = float(self._most)
        self._more = MORE
        self._refusals = self._answers = 0
        self._paused_until = 0.0
        self.stopped: Exception | None = None

    @contextmanager
    def slot(self, tokens: float, check: Callable[[], None] | None = None) -> Iterator[Slot]:
        """Waits until a call of so many tokens may go. Raises what `stop` was given, and what `check`, which
        is called meanwhile, raises."""
        me = object()
        with self._changed:
            self._queue.append(me)
            try:
                while (delay := self._delay(me, tokens)) != 0:
                    self._look(delay, check)
                self._raise_if_stopped()
            finally:
                self._queue.remove(me)
                self._changed.notify_all()
            slot = Slot(self._clock(), tokens, self._refusals, self._answers)
            self._recent.append(slot)
            self._under_way += 1
        try:
            yield slot
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def rest(self, seconds: float, check: Callable[[], None] | None = None) -> None:
        """Keeps this thread waiting so long. Raises what `stop` was given, as soon as it is, and what `check`
        raises."""
        until = self._clock() + seconds
        with self._changed:
            while (left := until - self._clock()) > 0 and not self.stopped:
                self._look(left, check)
            self._raise_if_stopped()

    def pause(self, seconds: float) -> None:
        """Nobody calls for so long."""
        with self._changed:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def refused(self, slot: Slot) -> None:
        """The server had too many calls: fewer at once. Calls that went before the last refusal was known
        tell nothing new."""
        with self._changed:
            if slot.refusals == self._refusals:
                self._refusals += 1
                self._at_once = max(1.0, self._at_once * FEWER)

    def late(self, slot: Slot) -> None:
        """A call was not answered in its time: calls at once wait for each other in the server, so there are
        no more than it answered in that time, and at most half as many as before."""
        with self._changed:
            if slot.refusals == self._refusals:
                self._refusals += 1
                self._more *= SLOWER
                self._at_once = max(1.0, min(self._at_once / 2, self._answers - slot.answers))

    @property
    def at_once(self) -> int:
        """How many calls may now be under way."""
        return int(self._at_once)

    def answered(self, slot: Slot, tokens: float) -> None:
        """The server answered, and counted so many tokens."""
        with self._changed:
            slot.tokens = tokens
            self._answers += 1
            self._at_once = min(float(self._most), self._at_once + self._more)
            self._changed.notify_all()

    def stop(self, reason: Exception) -> None:
        """All who wait, and all who come, get this raised."""
        with self._changed:
            self.stopped = self.stopped or reason
            self._changed.notify_all()

    def _look(self, seconds: float | None, check: Callable[[], None] | None) -> None:
        """Wait once, no longer than until the next look where there is a check."""
        if check is None:
            self._wait(self._changed, seconds)
        else:
            self._wait(self._changed, LOOK if seconds is None else min(seconds, LOOK))
            check()

    def _delay(self, me: object, tokens: float) -> float | None:
        """Seconds until this call may go, as it looks now; None where only another's end can tell."""
        if self.stopped:
            return 0
        if self._queue[0] is not me or self._under_way >= int(self._at_once):
            return None
        now = self._clock()
        while self._recent and self._recent[0].when <= now - MINUTE:
            self._recent.popleft()
        delays = [0.0, self._paused_until - now]
        if self._rpm and len(self._recent) >= self._rpm:
            delays.append(self._recent[-self._rpm].when + MINUTE - now)
        if self._tpm:
            over = sum(slot.tokens for slot in self._recent) + tokens - self._tpm
            for slot in self._recent:
                if over <= 0:
                    break
                over -= slot.tokens
                delays.append(slot.when + MINUTE - now)
        return max(delays)

    def _raise_if_stopped(self) -> None:
        if self.stopped:
            raise copy(self.stopped)  # each thread its own: a traceback grows where it is raised
