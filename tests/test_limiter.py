"""One limit for all threads: calls at once, requests and tokens a minute, pauses, and an end to waiting."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from gsw_graph.errors import StoppedError
from gsw_graph.inference.chat.limiter import Limiter


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def wait(self, _: threading.Condition, seconds: float | None) -> None:
        assert seconds is not None, "nobody else could end this wait"
        self.waits.append(seconds)
        self.now += seconds


def limiter(clock: Clock, at_once: int = 8, rpm: int | None = None, tpm: int | None = None) -> Limiter:
    return Limiter(at_once, rpm, tpm, clock=clock, wait=clock.wait)


def test_requests_a_minute() -> None:
    clock = Clock()
    limit, starts = limiter(clock, rpm=3), []
    for _ in range(10):
        with limit.slot(5):
            starts.append(clock.now - 1000)
    assert starts == [0, 0, 0, 60, 60, 60, 120, 120, 120, 180]


def test_tokens_a_minute() -> None:
    clock = Clock()
    limit, starts = limiter(clock, tpm=100), []
    for tokens in (60, 40, 10, 90, 500, 1):
        with limit.slot(tokens):
            starts.append(clock.now - 1000)
            clock.now += 1
    assert starts == [0, 1, 60, 61, 121, 181]  # what is more than a minute's worth goes alone


def test_tokens_that_were_not_taken_are_given_back() -> None:
    clock = Clock()
    limit = limiter(clock, tpm=100)
    with limit.slot(100) as slot:
        limit.answered(slot, 10)
    with limit.slot(90):
        assert clock.now == 1000
    with limit.slot(1):
        assert clock.now == 1060


def test_a_pause_holds_everybody() -> None:
    clock = Clock()
    limit = limiter(clock)
    limit.pause(7)
    limit.pause(3)  # the longer one counts
    with limit.slot(1):
        assert clock.now == 1007
    limit.rest(2)
    assert clock.now == 1009


def test_never_more_at_once_and_first_come_first_served() -> None:
    limit, lock = Limiter(3), threading.Lock()
    now = most = 0
    order: list[int] = []

    def work(number: int) -> None:
        nonlocal now, most
        with limit.slot(1):
            with lock:
                now += 1
                most = max(most, now)
                order.append(number)
            time.sleep(0.005)
            with lock:
                now -= 1

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(40)))
    assert most == 3
    assert sorted(order) == list(range(40))


def test_a_slot_is_free_again_after_an_error() -> None:
    limit = Limiter(1)
    for _ in range(3):
        with pytest.raises(KeyError), limit.slot(1):
            raise KeyError
    with limit.slot(1):
        pass


def test_refusals_make_fewer_at_once_and_replies_more() -> None:
    clock = Clock()
    limit, slots = limiter(clock), []

    def room() -> int:
        """How many calls may be under way: as many as get a slot before one would have to wait for another's end."""
        with ExitStack() as stack:
            for count in range(9):
                try:
                    stack.enter_context(limit.slot(1))
                except AssertionError:
                    return count
        raise AssertionError("more than there may ever be")

    for _ in range(8):
        with limit.slot(1) as slot:
            slots.append(slot)
    for slot in slots:
        limit.refused(slot)
    assert room() == 6, "eight refusals of calls that went together are one"
    for _ in range(20):
        with limit.slot(1) as slot:
            limit.refused(slot)
    assert room() == 1
    for _ in range(100):
        with limit.slot(1) as slot:
            limit.answered(slot, 1)
    assert room() == 8


def test_stop_ends_all_waiting() -> None:
    limit = Limiter(1, rpm=1)
    raised = []

    def wait_for_slot() -> None:
        try:
            with limit.slot(1):
                raise AssertionError("the minute is not over")
        except StoppedError as error:
            raised.append(error)

    def rest() -> None:
        try:
            limit.rest(600)
        except StoppedError as error:
            raised.append(error)

    with limit.slot(1):
        pass
    threads = [threading.Thread(target=target) for target in (wait_for_slot, wait_for_slot, rest)]
    for thread in threads:
        thread.start()
    limit.stop(StoppedError("enough", where="here", hint="Go on"))
    limit.stop(StoppedError("a later reason"))
    for thread in threads:
        thread.join(10)
    assert [str(error) for error in raised] == ["here: enough. Go on"] * 3
    assert len(set(map(id, raised))) == 3  # no thread adds to the traceback of another
    with pytest.raises(StoppedError, match="enough"), limit.slot(1):
        pass
