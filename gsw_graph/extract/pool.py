"""Documents through a language model, many passages at once, and what that will take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gsw_graph.concurrency import map_unordered
from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.extract import Work, with_names
from gsw_graph.extract.llm import (
    Extraction,
    assemble,
    check,
    extract_passage,
    issues_of,
    mend_request,
    request,
)
from gsw_graph.model.documents import Document, Failure
from gsw_graph.model.results import Estimate
from gsw_graph.models.chat.limits import BATCH_SHARE

if TYPE_CHECKING:
    from gsw_graph.models.chat.cache import Cache, CachedReply
    from gsw_graph.models.chat.chat import Chat

_AHEAD = 2  # passages that wait for each that is asked about
_WINDOW = 256  # passages embedded together: of more texts more have the same length


@dataclass(slots=True)
class _Open:
    """A document whose passages are asked about."""

    work: Work
    left: int
    extractions: dict[int, Extraction] = field(default_factory=dict)
    errors: dict[int, ReplyError] = field(default_factory=dict)


_Result = tuple[_Open, int, "Extraction | ReplyError | StoppedError | None"]


class ByModel:
    """Asks about `concurrency` passages at once; a document is done when its last passage is.

    A passage without a usable reply is listed. Its document is kept where another passage got one, unless the
    memory has a complete result of the same text. When the model will not answer any more, what is complete
    is
    kept and every other document is listed. on_passage: see `by_model`.
    """

    name = "llm"
    window = _WINDOW

    def __init__(
        self,
        chat: Chat,
        concurrency: int,
        *,
        second_pass: bool = False,
        on_passage: Callable[[str | None], None] = lambda _: None,
    ) -> None:
        self.model: str | None = chat.model
        self._chat, self._concurrency = chat, concurrency
        self._second_pass, self._on_passage = second_pass, on_passage
        self._stopped: StoppedError | None = None

    def run(self, work: Iterable[Work]) -> Iterator[Work]:
        """Yield the documents as they are done."""
        for result in map_unordered(self._ask, _passages(work), self._concurrency, _AHEAD):
            yield from self._add(*result)

    def _ask(self, task: tuple[_Open, int]) -> _Result:
        document, position = task
        if position < 0:
            return document, position, None
        result: Extraction | ReplyError | StoppedError
        try:
            result = self._stopped or extract_passage(
                document.work.document, position, self._chat, second_pass=self._second_pass
            )
        except (ReplyError, StoppedError) as error:
            result = error
        self._on_passage(None if isinstance(result, Extraction) else str(result))
        return document, position, result

    def _add(self, document: _Open, position: int, result: Extraction | Exception | None) -> Iterator[Work]:
        document.left -= 1
        if isinstance(result, StoppedError):
            self._stopped = self._stopped or result
            document.work.failures = [_failure(document.work, str(self._stopped))]
        elif isinstance(result, ReplyError):
            document.errors[position] = result
        elif isinstance(result, Extraction):
            document.extractions[position] = result
        if document.left <= 0:
            if document.work.workspace is None and not document.work.failures:
                self._assemble(document)
            yield document.work

    def _assemble(self, document: _Open) -> None:
        work, source = document.work, document.work.document.source
        if document.errors and (reason := _why_not_kept(document)):
            work.failures = [_failure(work, reason)]
            return
        workspace, left_out = assemble(work.document, document.extractions, self.model)
        work.workspace = replace(with_names(workspace), unread=tuple(sorted(document.errors)))
        problems = {position: str(error) for position, error in document.errors.items()}
        again = "load with --replace --second-pass to try again"
        problems |= {
            position: f"the second pass failed: {extraction.repair_error} ({again})"
            for position, extraction in document.extractions.items()
            if extraction.repair_error
        }
        for position, problem in sorted(problems.items()):
            work.failures.append(Failure(f"{source}, passage {position + 1}", problem, part=True))
        work.faults = [Failure(source, what, part=True) for what in left_out]


def _passages(work: Iterable[Work]) -> Iterator[tuple[_Open, int]]:
    """Yield each passage to ask about; a document without any at position -1."""
    for task in work:
        count = len(task.document.passages) if task.workspace is None else 0
        document = _Open(task, count)
        for position in range(count) if count else (-1,):
            yield document, position


def _why_not_kept(document: _Open) -> str | None:
    """Return why a document with errors is not written; None where it is, with gaps."""
    passages, first = len(document.work.document.passages), document.errors[min(document.errors)]
    if not document.extractions:
        return str(first) if passages == 1 else f"none of its {passages} passages: {first}"
    state = document.work.state
    if document.work.mode == "renew" and state is not None and state.status == "ready" and not state.unread:
        stays = "so its older result stays (load with --replace to take what was read)"
        return f"{len(document.errors)} of its {passages} passages could not be read, {stays}: {first}"
    return None


def _failure(work: Work, reason: str) -> Failure:
    return Failure(work.document.source, reason)


def estimate(work: Iterable[Work], chat: Chat, cache: Cache, *, second_pass: bool, batch: bool) -> Estimate:
    """Estimate calls and tokens of a load, each request as it would be sent; cached replies cost nothing.

    A second pass is one more call a passage, which also sends the first reply: where that is not cached, a
    reply of the usual length is counted. `cache` is read beside the chat, whose ledger would note each look.
    """
    calls = cached = 0
    first, second = [0, 0], [0, 0]  # prompt and completion tokens of the two passes
    for document in (task.document for task in work if task.workspace is None):
        for position in range(len(document.passages)):
            asked = chat.chosen(request(document, position))
            if chat.known(asked):
                cached += 1
            else:
                calls += 1
                first = [first[0] + chat.estimate(asked), first[1] + chat.expect("extract")]
            if not second_pass:
                continue
            known = _cached(document, position, cache.get(chat.key(asked)))
            issues = issues_of(document, position, known) if known else ()
            mend = mend_request(document, position, known or Extraction(), issues)
            if known and chat.known(mend):
                cached += 1
            else:
                calls += 1
                unseen = 0 if known else chat.expect("extract")  # of the first reply
                second = [second[0] + chat.estimate(mend) + unseen, second[1] + chat.expect("mend")]
    prices = chat.dollars(*first), chat.dollars(*second)
    share = BATCH_SHARE if batch else 1
    dollars = None if None in prices else (prices[0] or 0.0) * share + (prices[1] or 0.0)
    return Estimate(chat.model, calls, cached, first[0] + second[0], first[1] + second[1], dollars)


def _cached(document: Document, position: int, reply: CachedReply | None) -> Extraction | None:
    """Return what a cached reply about a passage found; None where it cannot be used."""
    try:
        return check(document, position)(reply.content) if reply else None
    except ValueError:
        return None
