"""Documents through a language model, many passages at once; a document is done when its last passage is,
whatever came before or after."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.extract import Work, with_names
from gsw_graph.extract.llm import Found, assemble, extract_passage
from gsw_graph.model import Failure

if TYPE_CHECKING:
    from gsw_graph.inference.chat.chat import Chat

_AHEAD = 2  # passages that wait for each that is asked about
_AGAIN = "load with --replace --second-pass to try again"
_STAYS = "so its older result stays (load with --replace to take what was read)"
_WINDOW = (
    256  # passages embedded together, where embedding is behind: of more texts more have the same length
)


@dataclass(slots=True)
class _Open:
    """A document whose passages are asked about."""

    work: Work
    left: int
    found: dict[int, Found] = field(default_factory=dict)
    errors: dict[int, ReplyError] = field(default_factory=dict)


_Task = tuple[_Open, int]
_Result = tuple[_Open, int, "Found | BaseException"]


class ByModel:
    """Asks `concurrency` questions at once. A passage that gets no usable reply is listed; its document is
    kept where another passage got one, unless a complete result of the same text is there. on_passage: see
    `by_model`.

    When the model will not answer any more, what is complete is kept and every other document is listed.
    """

    name = "llm"
    window = _WINDOW

    def __init__(
        self,
        chat: Chat,
        concurrency: int,
        *,
        second_pass: bool = False,
        on_passage: Callable[[str | None], None] | None = None,
    ) -> None:
        self.model: str | None = chat.model
        self._chat, self._concurrency, self._second_pass, self._on_passage = (
            chat,
            concurrency,
            second_pass,
            on_passage,
        )
        self._stopped: StoppedError | None = None

    def run(self, work: Iterable[Work]) -> Iterator[Work]:
        tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        results: queue.SimpleQueue[_Result] = queue.SimpleQueue()
        # Threads of our own: those of an executor would keep an interrupted program alive until the last
        # reply.
        threads = [
            threading.Thread(target=self._ask, args=(tasks, results), name="gswgraph-chat", daemon=True)
            for _ in range(self._concurrency)
        ]
        for thread in threads:
            thread.start()
        waiting = 0
        try:
            for one in work:
                if one.workspace is not None:
                    yield one
                    continue
                if self._stopped is not None:
                    yield _failed(one, self._stopped)
                    continue
                document = _Open(one, len(one.document.passages))
                if not document.left:
                    yield self._done(document)
                for position in range(document.left):
                    while waiting >= (1 + _AHEAD) * self._concurrency:
                        waiting -= 1
                        yield from self._taken(results.get())
                    tasks.put((document, position))
                    waiting += 1
                while not results.empty():
                    waiting -= 1
                    yield from self._taken(results.get())
            for _ in range(waiting):
                yield from self._taken(results.get())
        finally:
            for _ in threads:
                tasks.put(None)

    def _ask(self, tasks: queue.SimpleQueue[_Task | None], results: queue.SimpleQueue[_Result]) -> None:
        while (task := tasks.get()) is not None:
            document, position = task
            found: Found | BaseException
            try:
                found = self._stopped or extract_passage(
                    document.work.document, position, self._chat, second_pass=self._second_pass
                )
            except BaseException as error:  # raised, or listed, in the thread that waits
                found = error
            if self._on_passage is not None:
                self._on_passage(str(found) if isinstance(found, BaseException) else None)
            results.put((document, position, found))

    def _taken(self, result: _Result) -> Iterator[Work]:
        document, position, found = result
        document.left -= 1
        if isinstance(found, StoppedError):
            self._stopped = self._stopped or found
            document.work.failures = [_failure(document.work, str(self._stopped))]
        elif isinstance(found, ReplyError):
            document.errors[position] = found
        elif isinstance(found, BaseException):
            raise found
        else:
            document.found[position] = found
        if not document.left:
            yield self._done(document)

    def _done(self, document: _Open) -> Work:
        work = document.work
        source = work.document.source
        if work.failures:
            return work
        if document.errors and (reason := self._kept_out(document)):
            work.failures = [_failure(work, reason)]
            return work
        workspace, faults = assemble(work.document, document.found, self._chat.model)
        work.workspace = replace(with_names(workspace), unread=tuple(sorted(document.errors)))
        work.failures += (
            Failure(f"{source}, passage {position + 1}", str(error), part=True)
            for position, error in sorted(document.errors.items())
        )
        work.failures += (
            Failure(
                f"{source}, passage {position + 1}",
                f"the second pass failed: {found.unmended} ({_AGAIN})",
                part=True,
            )
            for position, found in sorted(document.found.items())
            if found.unmended
        )
        work.faults = [Failure(source, fault, part=True) for fault in faults]
        return work

    def _kept_out(self, document: _Open) -> str | None:
        """Why a document is not written at all that has passages without a reply; None where it is written
        with those gaps."""
        passages, first = len(document.work.document.passages), document.errors[min(document.errors)]
        if not document.found:
            return str(first) if passages == 1 else f"none of its {passages} passages: {first}"
        if self._has_whole(document.work):
            return f"{len(document.errors)} of its {passages} passages could not be read, {_STAYS}: {first}"
        return None

    def _has_whole(self, work: Work) -> bool:
        """Whether the memory has a whole result of the same text, which one with gaps would put out."""
        state = work.state
        return work.mode == "renew" and state is not None and state.status == "ready" and not state.unread


def _failed(work: Work, error: StoppedError) -> Work:
    work.failures = [_failure(work, str(error))]
    return work


def _failure(work: Work, reason: str) -> Failure:
    return Failure(work.document.source, reason)
