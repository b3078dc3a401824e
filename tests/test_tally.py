"""The record of a load: what others hand over, one thread adds; a language model's replies count as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from waiting import until

from gsw_graph.errors import ReplyError
from gsw_graph.extract import Work, by_model
from gsw_graph.extract.llm import Extraction
from gsw_graph.inference.costs import Entry
from gsw_graph.model import Document, Passage
from gsw_graph.tally import Tally

SECONDS = 30


class Model:
    """Gives no reply to the first that asks, and to the last only when it is told to."""

    model = "m"

    def __init__(self, passages: int) -> None:
        self.last, self._left, self._lock = threading.Event(), passages, threading.Lock()

    def ask(self, request: Any, check: Callable[[Any], Any], **_: Any) -> Any:
        with self._lock:
            self._left -= 1
            left = self._left
        if left == 0:
            assert self.last.wait(SECONDS)
        if left == 6:
            raise ReplyError("the model refused")
        return SimpleNamespace(value=Extraction())


def test_replies_count_as_they_come_not_when_a_document_is_done() -> None:
    document = Document("d", "", tuple(Passage(f"Text {n}.", "", n) for n in range(7)), "text")
    model, tally = Model(7), Tally(asked=lambda: Entry(calls=9, failed=3, cached=1))
    done: list[Work] = []

    def answered(problem: str | None) -> None:
        tally.post(answered=1, **({} if problem is None else {"problem": problem}))

    extractor = by_model(model, 1, second_pass=False, on_passage=answered)  # type: ignore[arg-type]
    load = threading.Thread(target=lambda: done.extend(extractor.run([Work(document, "new")])))
    load.start()
    until(lambda: tally.progress("loading").answered == 6)
    said = tally.progress("loading")
    assert (done, said.passages, said.replies, said.failed_calls, said.problem) == ([], 0, 7, 3, "the model refused")
    model.last.set()
    load.join(SECONDS)
    assert len(done) == 1
    assert tally.progress("loading").answered == 7


def test_what_is_counted_is_added_by_one_thread() -> None:
    tally = Tally()
    others = [threading.Thread(target=lambda: [tally.post(written=1, embed=0.5) for _ in range(1000)]) for _ in range(4)]
    for other in others:
        other.start()
    for other in others:
        other.join(SECONDS)
    assert (tally.written, tally.seconds["embed"]) == (0, 0.0), "nothing is added by those who hand over"
    tally.collect()
    assert (tally.written, tally.seconds["embed"]) == (4000, 2000.0)
