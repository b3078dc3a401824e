"""Documents through a language model, many passages at once, and what that will take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gsw_graph.concurrency import map_unordered
from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.extract import Work, with_names
from gsw_graph.extract.llm import Extraction, assemble, check, issues_of, mend_request
from gsw_graph.extract.profiles import PROFILES, Positions, Profile
from gsw_graph.model.documents import Document, Failure
from gsw_graph.model.results import Estimate
from gsw_graph.models.chat.limits import BATCH_SHARE

if TYPE_CHECKING:
    from gsw_graph.models.chat.cache import Cache, CachedReply
    from gsw_graph.models.chat.chat import Chat

_AHEAD = 2  # passages that wait for each that is asked about


@dataclass(slots=True)
class _Open:
    """A document whose passages are asked about."""

    work: Work
    left: int
    extractions: dict[int, Extraction] = field(default_factory=dict)
    errors: dict[int, ReplyError] = field(default_factory=dict)


_Result = tuple[_Open, Positions, "dict[int, Extraction] | ReplyError | StoppedError"]


class ByModel:
    """Ask a language model about `concurrency` groups of passages at once; a document is done with its last.

    A passage without a usable reply is listed. Its document is kept where another passage got one, unless the
    memory has a complete result of the same text. When the model will not answer any more, what is complete
    is kept and every other document is listed.

    Args:
        chat: The model.
        concurrency: Calls at once.
        profile: What it is asked for: a name of `PROFILES`.
        second_pass: Have it repair what lint reports.
        on_passage: Gets, from other threads, None for each passage that is done, or why there was no reply.
    """

    window = 256  # passages embedded together: of more texts more have the same length

    def __init__(
        self,
        chat: Chat,
        concurrency: int,
        profile: str = "llm",
        *,
        second_pass: bool = False,
        on_passage: Callable[[str | None], None] = lambda _: None,
    ) -> None:
        self.model: str | None = chat.model
        self.name, self.profile = profile, PROFILES[profile]()
        self._chat, self._concurrency = chat, concurrency
        self.profile.second_pass, self._on_passage = second_pass, on_passage
        self._stopped: StoppedError | None = None

    def run(self, work: Iterable[Work]) -> Iterator[Work]:
        """Yield the documents as they are done."""
        for result in map_unordered(self._ask, self._groups(work), self._concurrency, _AHEAD):
            yield from self._add(*result)

    def _groups(self, work: Iterable[Work]) -> Iterator[tuple[_Open, Positions]]:
        """Yield each group of passages to ask about; a document without any with an empty one."""
        for task in work:
            groups = list(self.profile.groups(task.document)) if task.workspace is None else []
            document = _Open(task, max(len(groups), 1))
            yield from ((document, positions) for positions in groups or [()])

    def _ask(self, task: tuple[_Open, Positions]) -> _Result:
        document, positions = task
        result: dict[int, Extraction] | ReplyError | StoppedError = {}
        try:
            if positions:
                result = self._stopped or self.profile.extract(document.work.document, positions, self._chat)
        except (ReplyError, StoppedError) as error:
            result = error
        for _ in positions:
            self._on_passage(None if isinstance(result, dict) else str(result))
        return document, positions, result

    def _add(
        self, document: _Open, positions: Positions, result: dict[int, Extraction] | Exception
    ) -> Iterator[Work]:
        document.left -= 1
        if isinstance(result, StoppedError):
            self._stopped = self._stopped or result
            document.work.failures = [Failure(document.work.document.source, str(self._stopped))]
        elif isinstance(result, ReplyError):
            document.errors |= dict.fromkeys(positions, result)
        elif isinstance(result, dict):
            document.extractions |= result
        if document.left <= 0:
            if document.work.workspace is None and not document.work.failures:
                self._assemble(document)
            yield document.work

    def _assemble(self, document: _Open) -> None:
        work, source = document.work, document.work.document.source
        if document.errors and (reason := _why_not_kept(document)):
            work.failures = [Failure(source, reason)]
            return
        workspace, left_out = assemble(work.document, document.extractions, self.model, self.name)
        work.workspace = replace(with_names(workspace), unread=tuple(sorted(document.errors)))
        problems = {position: str(error) for position, error in document.errors.items()}
        again = "load with --replace --second-pass to try again"
        for position, extraction in document.extractions.items():
            if error := extraction.repair_error:
                problems[position] = f"the second pass failed: {error} ({again})"
        for position, problem in sorted(problems.items()):
            work.failures.append(Failure(f"{source}, passage {position + 1}", problem, part=True))
        work.faults = [Failure(source, what, part=True) for what in left_out]


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


def estimate(work: Iterable[Work], chat: Chat, cache: Cache, profile: Profile, *, batch: bool) -> Estimate:
    """Estimate calls and tokens of a load, each request as it would be sent; cached replies cost nothing.

    Where a second request depends on the first reply, which is not cached, a reply of the usual length is
    counted.

    Args:
        work: Documents.
        chat: The model.
        cache: Read beside the chat, whose ledger would note each look.
        profile: What the model is asked for.
        batch: Whether the first requests go through the Batch API.
    """
    calls = cached = 0
    first, second = [0, 0], [0, 0]  # prompt and completion tokens of first and second requests
    documents = (task.document for task in work if task.workspace is None)
    for document, positions in ((each, group) for each in documents for group in profile.groups(each)):
        asked, usual = chat.chosen(profile.request(document, positions)), chat.expect("extract")
        known = cache.get(chat.key(asked))
        calls, cached = calls + (known is None), cached + (known is not None)
        if known is None:
            usual = chat.expect(asked.stage)
            first = [first[0] + chat.estimate(asked), first[1] + usual]
        if profile.calls > 1 and known is None:
            calls, second = calls + 1, [second[0] + chat.estimate(asked) + usual, second[1] + usual]
        if profile.second_pass:
            found = _cached(document, positions[0], known)
            issues = issues_of(document, positions[0], found) if found else ()
            mend = mend_request(document, positions[0], found or Extraction(), issues)
            if found and chat.known(mend):
                cached += 1
            else:
                calls, unseen = calls + 1, 0 if found else usual
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
