"""The first half of a load: how many passages a window has when."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import until

from gsw_graph import feed, loaders
from gsw_graph.extract import Rules
from gsw_graph.feed import Feed
from gsw_graph.model import Document, Passage
from gsw_graph.tally import Tally

SECONDS = 30


def document(number: int) -> Document:
    return Document(f"d{number}", "", (Passage(f"Then it rained {number} times.", "", 0),), "text")


def sizes_behind(total: int) -> list[int]:
    """The windows of a load whose embedding is always behind."""
    sizes, feed_ = [], Feed(map(document, range(total)), lambda _: {}, Rules("none"), Tally())
    with feed_ as windows:
        for window in windows:
            if window is not None:
                sizes.append(window.passages)
                until(lambda: feed_._queue.full() or not feed_._thread.is_alive())
    return sizes


def test_a_window_does_not_wait_for_more_while_embedding_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "COMPARED", 1)
    held: queue.Queue[bool] = queue.Queue()

    def slow() -> Iterator[Document]:
        for number in range(feed._LEAST + 1):
            yield document(number)
        assert held.get(timeout=SECONDS), "the first window came before all was read"
        yield document(100)

    with Feed(slow(), lambda _: {}, Rules("none"), Tally()) as windows:
        found = (window for window in windows if window is not None)
        first = next(found)
        assert feed._LEAST <= first.passages < Rules.window
        held.put(True)
        rest = sum(window.passages for window in found)
    assert first.passages + rest == feed._LEAST + 2


def test_windows_are_whole_while_embedding_is_behind() -> None:
    total = 3 * Rules.window + 5
    sizes = sizes_behind(total)
    assert sum(sizes) == total
    assert max(sizes) == Rules.window
    assert len(sizes) <= 5


def test_the_total_has_the_files_that_wait(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("It rained in the town of Fennick. " * 20_000, encoding="utf-8")
    for number in range(300):
        (tmp_path / f"b{number}.txt").write_text(f"It rained {number} times. " * 100, encoding="utf-8")
    position, tally = loaders.Position(), Tally(bytes=loaders.size([str(tmp_path)]))
    feed_ = Feed(loaders.read([str(tmp_path)], position=position), lambda _: {}, Rules("none"), tally, position=lambda: position.bytes)
    work = feed_.fresh()
    large = len(next(work).document.passages)
    tally.collect()
    expected = tally.total
    assert large == tally.seen
    total = large + sum(len(one.document.passages) for one in work)
    tally.collect()
    assert tally.total == total > 1.5 * large
    assert expected is not None
    assert abs(expected - total) < 0.1 * total, "by the bytes that are not read yet"
