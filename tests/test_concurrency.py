"""`gsw_graph.concurrency`: threads that read ahead and work at once, and end with whoever asked for them."""

from __future__ import annotations

import threading
import time

import pytest

from gsw_graph.concurrency import Cancel, map_unordered, prefetch
from gsw_graph.errors import WorkCancelledError


def _ended(name):
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if not any(thread.name == name and thread.is_alive() for thread in threading.enumerate()):
            return True
        time.sleep(0.02)
    return False


def test_prefetch_keeps_the_order_and_stays_within_its_bound():
    produced = []

    def items():
        for n in range(20):
            produced.append(n)
            yield n

    stream = prefetch(items(), 2)
    assert next(stream) == 0
    time.sleep(0.1)
    assert len(produced) <= 4  # the one taken, two that wait, one in hand
    assert list(stream) == list(range(1, 20))


def test_prefetch_counts_by_size_and_lets_one_large_item_wait():
    assert list(prefetch([100, 1, 200, 3], 5, size=float)) == [100, 1, 200, 3]


def test_prefetch_raises_what_the_items_raise_and_calls_on_wait():
    waits = []

    def items():
        yield 1
        time.sleep(0.5)
        raise KeyError("gone")

    stream = prefetch(items(), on_wait=lambda: waits.append(1))
    assert next(stream) == 1
    with pytest.raises(KeyError, match="gone"):
        next(stream)
    assert waits


def test_closing_prefetch_stops_the_producer():
    stream = prefetch(iter(int, 1), 1)
    assert next(stream) == 0
    stream.close()
    assert _ended("gswgraph-prefetch")


def test_map_unordered_gives_every_result_and_bounds_what_is_read():
    read = []

    def items():
        for n in range(50):
            read.append(n)
            yield n

    stream = map_unordered(lambda n: n * n, items(), 3)
    first = next(stream)
    assert len(read) <= 7
    assert sorted([first, *stream]) == [n * n for n in range(50)]


def test_map_unordered_runs_at_once_raises_and_ends():
    barrier = threading.Barrier(3, timeout=5)

    def work(n):
        barrier.wait()
        return n

    assert sorted(map_unordered(work, range(3), 3)) == [0, 1, 2]
    with pytest.raises(ZeroDivisionError):
        list(map_unordered(lambda n: 1 // n, [1, 0, 1], 2))
    assert _ended("gswgraph-worker")


def test_cancel_raises_from_the_next_check_on():
    cancel = Cancel()
    cancel.check()
    cancel.cancel("nobody waits")
    with pytest.raises(WorkCancelledError, match="nobody waits"):
        cancel.check()
