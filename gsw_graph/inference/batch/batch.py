"""Requests by OpenAI's Batch API: half the price, within a day. What was sent and what came back is kept,
so that a later run goes on waiting."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import Any, TypeVar

from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.inference.batch.log import BatchLog
from gsw_graph.inference.batch.state import BatchState, lines, read_batch, read_list
from gsw_graph.inference.bodies import BodyError
from gsw_graph.inference.chat.cache import Cache, rejected
from gsw_graph.inference.chat.errors import AgainError, meaning
from gsw_graph.inference.chat.request import Request
from gsw_graph.inference.chat.tokens import Estimator, estimate_messages, with_counts
from gsw_graph.inference.chat.wire import Received, Wire, read_completion
from gsw_graph.inference.costs.budget import Budget
from gsw_graph.inference.costs.ledger import Entry, Ledger
from gsw_graph.inference.costs.prices import Price, dollars
from gsw_graph.model import content_id

log = logging.getLogger(__name__)

REQUESTS, BYTES = 50_000, 150_000_000  # of one batch; the API takes 50,000 and 200 MB
POLL, LONGEST_POLL = 1.0, 60.0  # seconds between looks, doubled each time
IN_VAIN = 10  # looks in a row that failed: given up
LOOKS = 4  # of a load without --batch, which has threads that wait
MARK = "gswgraph"  # of our batches at the server, with a hash of what is in them
ENDED = ("completed", "failed", "expired", "cancelled")
SOUND = ("validating", "in_progress", "finalizing", "completed")
AGAIN = "The batch goes on at the server: run the same command again to fetch it"
WITHOUT = "Load without --batch"
WITH = "Load with --batch to wait for it: the server bills it whether or not its replies are fetched"
GONE = (
    "It may be running, and paid for: use the key and the project that it was sent with. If it is "
    "gone "
    "for good, load without --batch, which asks anew"
)

T = TypeVar("T")
Check = Callable[[Any], Any]  # as `Chat.ask` takes it
Rows = Mapping[str, tuple[Request, Check]]  # by key


class Batches:
    """Batches of one model at one server. ask: as `Chat.ask`. price: None where it is not known. budget: what
    is sent counts against it. rest: waits so many seconds, and raises StoppedError when all is to stop."""

    def __init__(
        self,
        ask: Callable[[Request, Check], object],
        wire: Wire,
        cache: Cache,
        log: BatchLog,
        ledger: Ledger,
        estimator: Estimator,
        price: Price | None,
        budget: Budget | None,
        rest: Callable[[float], None],
    ) -> None:
        self._ask, self._wire, self._cache, self._log, self._ledger = ask, wire, cache, log, ledger
        self._estimator, self._price, self._budget, self._rest = estimator, price, budget, rest
        self._asked = False
        self._charged: dict[str, float] = {}  # to the budget, by key
        self._lost = ""  # a batch that the server does not show
        self._wrong = ""  # with a batch that ended, as a whole

    def fetch(self, requests: Iterable[tuple[Request, Check]], waiting: Callable[[int, int], None]) -> None:
        """Send what is neither known nor under way, and wait until all is back; `waiting` gets how many are
        done and how many were sent.

        The first request is asked by an ordinary call, with its check: what the server refuses in it is left
        out of the batch. What a batch leaves out is left to ordinary calls. What does not fit the budget
        is not sent. Raises StoppedError.
        """
        with self._with_plain_errors():
            self._wait(self._send_all(requests), waiting)

    def settle(self, id_: str) -> None:
        """Before requests of a batch are asked by ordinary calls: what it brought is kept. Raises
        StoppedError where it is under way, as they would be paid twice, or cannot be looked at; one that
        the server does not show is given up."""
        with self._with_plain_errors():
            done, over = self._patiently(lambda: self._look(id_))
        if not over:
            raise StoppedError(
                f"the batch {id_} holds this request and is under way ({done:,} done)",
                where=self._wire.end.host,
                hint=WITH,
            )
        if self._lost:
            log.warning(
                "%s does not show the batch %s, or its replies; its requests are asked anew",
                self._wire.end.host,
                id_,
            )
        if self._wrong:
            log.warning("%s: %s; its requests are asked anew", self._wire.end.host, self._wrong)

    def _patiently(self, look: Callable[[], T]) -> T:
        """What a look finds; one that fails for a moment is repeated."""
        import openai

        pause = POLL
        for _ in range(LOOKS - 1):
            try:
                return look()
            except openai.OpenAIError as error:
                if not isinstance(found := meaning(error, self._wire.end), AgainError):
                    raise
                self._rest(max(pause, found.wait))
                pause = min(2 * pause, LONGEST_POLL)
        return look()

    def _send_all(self, requests: Iterable[tuple[Request, Check]]) -> set[str]:
        """The batches that hold these requests."""
        rows: dict[str, tuple[Request, Check]] = {}
        held: set[str] = set()
        size = 0
        for request, check in requests:
            key = self._cache.key(self._wire.model, request)
            if key in rows or self._cache.has(key) or self._cache.has(rejected(key)):
                continue
            if under_way := self._log.batch(key, self._wire.end.host):
                held.add(under_way)
                continue
            rows[key] = request, check
            size += len(self._line(key, request))
            if len(rows) == REQUESTS or size > BYTES:
                held |= self._send(rows)
                rows, size = {}, 0
        return held | self._send(rows)

    def _line(self, key: str, request: Request) -> bytes:
        body = self._wire.body(request.messages, request.schema, request.stage, request.limit)
        return (
            json.dumps(
                {"custom_id": key, "method": "POST", "url": "/v1/chat/completions", "body": body}
            ).encode()
            + b"\n"
        )

    def _send(self, rows: Rows) -> set[str]:
        """One batch, or none; one that was sent by a run which did not live to write it down is taken
        over."""
        client = self._wire.client()
        found = self._find(client, rows)
        if found is None:
            rows = dict(
                takewhile(lambda row: self._affordable(row[0], row[1][0]), self._without_first(rows).items())
            )
            found = self._find(client, rows)
        if not rows:
            return set()
        if found is None:
            lines = b"".join(self._line(key, request) for key, (request, _) in rows.items())
            file = client.files.create(file=("gswgraph.jsonl", lines), purpose="batch")
            mark = {MARK: content_id(*sorted(rows))}
            made = client.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata=mark
            )
            found = read_batch(made, self._wire.end).id
        sent = [
            (key, request.stage, request.document, estimate_messages(request.messages))
            for key, (request, _) in rows.items()
        ]
        self._log.sent(found, self._wire.end.host, self._wire.model, sent)
        return {found}

    def _find(self, client: Any, rows: Rows) -> str | None:
        """A batch of just these requests that brings replies."""
        mark = content_id(*sorted(rows))
        for batch in read_list(client.batches.list(limit=100), self._wire.end) if rows else ():
            if (
                batch.marks.get(MARK) == mark
                and batch.status in SOUND
                and (batch.status != "completed" or batch.output)
            ):
                return batch.id
        return None

    def _without_first(self, rows: Rows) -> Rows:
        """The rows but for one that is asked now: a server that refuses a parameter would refuse it in
        every line."""
        if self._asked or not rows:
            return rows
        self._asked = True
        (_, first), *others = rows.items()
        with suppress(ReplyError):  # the load asks it again, and lists it
            self._ask(*first)
        return dict(others)

    def _affordable(self, key: str, request: Request) -> bool:
        if self._budget is not None:
            try:
                self._charged[key] = self._budget.charge(
                    self._estimator.prompt(request), self._estimator.completion(request.stage)
                )
            except StoppedError:
                return False
        return True

    def _wait(self, held: set[str], waiting: Callable[[int, int], None]) -> None:
        import openai

        pause, in_vain, ended = POLL, 0, False
        while not ended and (
            open_ := {
                id_: size
                for id_, size in self._log.open(self._wire.end.host, self._wire.model).items()
                if id_ in held
            }
        ):
            rest = pause
            try:
                done = [self._look(batch) for batch in open_]
            except openai.OpenAIError as error:
                found = meaning(error, self._wire.end)
                in_vain += 1
                if not isinstance(found, AgainError) or in_vain == IN_VAIN:
                    raise
                rest = max(pause, found.wait)
            else:
                in_vain = 0
                waiting(sum(number for number, _ in done), sum(open_.values()))
                if ended := self._wrong != "" or all(over for _, over in done):
                    continue
            self._rest(rest)
            pause = min(2 * pause, LONGEST_POLL)
        if self._wrong:
            raise StoppedError(self._wrong, where=self._wire.end.host, hint=WITHOUT)
        if self._lost:  # said when the others have brought what they bring
            raise StoppedError(
                f"the server knows nothing of the batch {self._lost}, or of its replies",
                where=self._wire.end.host,
                hint=GONE,
            )

    def _look(self, id_: str) -> tuple[int, bool]:
        """How many requests of a batch are done, and whether it has ended; then what came back is kept and
        counted."""
        import openai

        client = self._wire.client()
        try:
            batch = read_batch(client.batches.retrieve(id_), self._wire.end)
            if batch.status not in ENDED:
                return batch.done, False
            replies, unread = self._replies(client, batch)
            complaint = self._complaint(client, batch, replies, unread)
        except (openai.NotFoundError, openai.PermissionDeniedError):  # sent with another key, or deleted
            self._lost = id_
            return 0, True
        self._keep(id_, replies)
        self._wrong = self._wrong or complaint
        if unread and not complaint:
            log.warning(
                "%d lines that the batch %s brought cannot be read; their requests are asked anew",
                unread,
                id_,
            )
        return len(replies), True

    def _keep(self, id_: str, replies: Mapping[str, Received]) -> None:
        """What a batch brought, once: kept, counted, and settled with the budget."""
        with self._cache.writing():
            requests = self._log.requests(id_)
            came = {key: with_counts(replies[key], own) for key, _, _, own in requests if key in replies}
            if not self._log.ended(id_, {key: received for key, (received, _) in came.items()}):
                return
            for key, stage, document, own in requests:
                if key in came:
                    received, missing = came[key]
                    told = {
                        "prompt_tokens": received.prompt_tokens,
                        "completion_tokens": received.completion_tokens,
                    }
                    money = None if self._price is None else dollars(self._price, **told, batch=True)
                    entry = Entry(
                        document,
                        stage,
                        self._wire.model,
                        calls=1,
                        prompt_estimate=own,
                        estimated=int(missing),
                        dollars=money,
                        **told,
                    )
                    self._ledger.add(entry)
        if self._budget is not None:
            for key, *_ in requests:
                took = came[key][0] if key in came else Received("")
                self._budget.correct(self._charged.pop(key, 0.0), took.prompt_tokens, took.completion_tokens)

    def _complaint(self, client: Any, batch: BatchState, replies: Mapping[str, Received], unread: int) -> str:
        """What is wrong with a batch as a whole."""
        if batch.status == "failed":
            return f"the batch failed ({self._wire.end.short(batch.reasons)})"
        if batch.status == "completed" and not replies:
            for line in filter(None, lines(client, batch.errors, len(self._log.requests(batch.id)))):
                said: Any = line
                for name in ("response", "body", "error", "message"):
                    said = said[name] if isinstance(said, dict) and said.get(name) else said
                return f"the batch brought no reply ({self._wire.end.short(str(said))})"
            if unread:
                return f"the batch brought no reply (its {unread} lines cannot be read)"
        return ""

    def _replies(self, client: Any, batch: BatchState) -> tuple[dict[str, Received], int]:
        """The replies of a batch by key, where a request that failed has none; and how many of its lines
        cannot be read."""
        found: dict[str, Received] = {}
        unread = 0
        sent = {key for key, *_ in self._log.requests(batch.id)}
        for answer in lines(client, batch.output, len(sent)):
            key, response = (answer.get("custom_id"), answer.get("response")) if answer else (None, None)
            if not isinstance(key, str) or not isinstance(response, dict | None):
                unread += 1
            elif key in sent and response and response.get("status_code") == 200:
                with suppress(AgainError, ReplyError):
                    found[key] = read_completion(response.get("body"), self._wire.end)
        return found, unread

    @contextmanager
    def _with_plain_errors(self) -> Iterator[None]:
        import openai

        try:
            yield
        except openai.NotFoundError as error:
            raise StoppedError(
                "the server has no Batch API", where=self._wire.end.host, hint=WITHOUT
            ) from error
        except BodyError as error:
            raise StoppedError(
                f"the server's answer cannot be used: {error}", where=self._wire.end.host, hint=WITHOUT
            ) from error
        except openai.OpenAIError as error:
            found = meaning(error, self._wire.end)
            hint = AGAIN if isinstance(found, AgainError) else found.hint or AGAIN
            raise StoppedError(found.message, where=self._wire.end.host, hint=hint) from error
