"""What may wait for the writer: so many bytes, and what comes after waits outside."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from gsw_graph.store import writer
from gsw_graph.store.writer import Batch, Writer

SECONDS = 30
CONNECTION: Any = SimpleNamespace(session=nullcontext, dialect=SimpleNamespace(name="none"))


def batch(number: int) -> Batch:
    return Batch(documents=[str(number)], bytes=6)


def test_what_does_not_fit_waits_until_something_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "QUEUE_BYTES", 10)
    begun, go_on, written = threading.Event(), threading.Event(), []

    def slow(session: object, one: Batch, dialect: str, on_written: object) -> None:
        begun.set()
        assert go_on.wait(SECONDS)
        written.extend(one.documents)

    monkeypatch.setattr(writer, "write", slow)
    with Writer(CONNECTION) as found:
        found.put(batch(0))
        assert begun.wait(SECONDS)
        found.put(batch(1))
        found.put(batch(2))  # 6 wait: there is room yet
        last = threading.Thread(target=found.put, args=(batch(3),))
        last.start()
        last.join(0.2)
        assert last.is_alive(), "12 wait"
        go_on.set()
        last.join(SECONDS)
        assert not last.is_alive()
    assert written == ["0", "1", "2", "3"]


def test_a_failure_frees_who_waits_and_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "QUEUE_BYTES", 1)

    def broken(session: object, one: Batch, dialect: str, on_written: object) -> None:
        raise ValueError("no disk")

    monkeypatch.setattr(writer, "write", broken)

    def load() -> None:
        with Writer(CONNECTION) as found:
            for number in range(100):
                found.put(batch(number))

    with pytest.raises(ValueError, match="no disk"):
        load()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_while_the_last_batches_are_written_waits_for_the_one_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, written, main = threading.Event(), threading.Event(), [], threading.get_ident()

    def slow(session: object, one: Batch, dialect: str, on_written: object) -> None:
        begun.set()
        assert go_on.wait(SECONDS)
        written.extend(one.documents)

    def interrupt() -> None:
        assert begun.wait(SECONDS)
        time.sleep(0.3)  # until the load waits for the writer
        signal.pthread_kill(main, signal.SIGINT)
        end = time.monotonic() + SECONDS
        while not loads[0]._dropped and time.monotonic() < end:
            time.sleep(0.01)
        go_on.set()

    monkeypatch.setattr(writer, "write", slow)
    helper = threading.Thread(target=interrupt)
    loads: list[Writer] = []

    def load() -> None:
        with Writer(CONNECTION) as found:
            loads.append(found)
            found.put(batch(0))
            found.put(batch(1))
            helper.start()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            load()
    finally:
        signal.signal(signal.SIGINT, before)
    assert written == ["0"], "the one under way is whole when the load ends, and none is begun"
    helper.join(SECONDS)
