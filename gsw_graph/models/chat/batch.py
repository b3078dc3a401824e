"""Feed the cache of replies by OpenAI's Batch API: half the price, within a day.

Batches are recorded, so that a later run waits for the same batch. Their replies go into the cache unchecked;
`Chat.ask` checks them, and repairs them by an ordinary call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InvalidReplyError, ModelUnavailableError
from gsw_graph.model.documents import content_id
from gsw_graph.model.ledger import Entry
from gsw_graph.models.chat.cache import Cache, CachedReply, unchecked
from gsw_graph.models.chat.limits import BATCH_SHARE, Budget, Limiter
from gsw_graph.models.chat.request import Request, estimate_messages
from gsw_graph.models.chat.transport import RetryableError, Transport, read_completion, to_error

if TYPE_CHECKING:
    from gsw_graph.models.chat.chat import Chat

MAX_REQUESTS, MAX_BYTES = 50_000, 150_000_000  # of one batch; the API takes 50,000 and 200 MB
POLL_SECONDS, LONGEST_POLL = 1.0, 60.0  # doubled each time
RETRIES = 8  # of the SDK
ENDPOINT = "/v1/chat/completions"
MARK = "gswgraph"  # of our batches at the server, with a hash of what is in them
LOST = ("failed", "expired", "cancelled")
AGAIN_HINT = "The batch goes on at the server: run the same command again to fetch it"
WITHOUT_HINT = "Load without --batch, which asks anew"

_TABLE = """CREATE TABLE IF NOT EXISTS batch_request (key TEXT PRIMARY KEY, batch TEXT NOT NULL,
    host TEXT NOT NULL, model TEXT NOT NULL, stage TEXT NOT NULL, document TEXT NOT NULL,
    prompt_estimate INTEGER NOT NULL) WITHOUT ROWID"""

_UNDER_WAY = "SELECT batch FROM batch_request WHERE key = ? AND host = ?"

Asked = tuple[Request, Callable[[Any], Any]]  # a request with its check, as `Chat.ask` takes it
Rows = dict[str, Asked]  # by key
Progress = Callable[[int, int], None]


@dataclass
class BatchFeeder:
    """Batches of one model at one server, for one thread."""

    _chat: Chat
    _transport: Transport
    _cache: Cache
    _limiter: Limiter
    _budget: Budget | None
    _tried: bool = False
    _charged: dict[str, float] = field(default_factory=dict)  # to the budget, by key

    def __post_init__(self) -> None:
        self._host = self._transport.endpoint.host
        with self._cache.writing() as db:
            db.execute(_TABLE)

    def fetch(self, requests: Iterable[Asked], progress: Progress) -> None:
        """Send the requests that are neither cached nor under way, and wait for all replies.

        The first request is an ordinary call; options that the server refuses there are left out of the
        batch. Requests without a reply are left to ordinary calls. Requests above the budget are not sent.

        Args:
            requests: Requests with their checks.
            progress: Gets the numbers of finished and of sent requests.

        Raises:
            ModelUnavailableError: The server has no batches, a batch failed or is gone.
        """
        with self._translated_errors():
            self._wait(self._send_all(requests), progress)

    def _send_all(self, requests: Iterable[Asked]) -> set[str]:
        """Return the ids of the batches that hold these requests."""
        rows: Rows = {}
        ids: set[str] = set()
        size = 0
        for request, check in requests:
            key = self._chat.key(request)
            if key in rows or self._cache.get(key) or self._cache.get(unchecked(key)):
                continue
            with self._cache.using() as db:
                under_way = db.execute(_UNDER_WAY, (key, self._host)).fetchone()
            if under_way:
                ids.add(under_way[0])
                continue
            rows[key] = request, check
            size += len(self._line(key, request))
            if len(rows) == MAX_REQUESTS or size > MAX_BYTES:
                ids |= self._send(rows)
                rows, size = {}, 0
        return ids | self._send(rows)

    def _send(self, rows: Rows) -> set[str]:
        """Send one batch, or none; take over one that an earlier run sent and did not live to write down."""
        id_ = self._find(rows)
        if id_ is None:
            if rows and not self._tried:
                self._tried = True
                with suppress(InvalidReplyError):  # the load asks it again, and lists it
                    self._chat.ask(*rows.pop(next(iter(rows))))
            rows = {key: row for key, row in rows.items() if self._affordable(key, row[0])}
            id_ = self._find(rows)
        if not rows:
            return set()
        if id_ is None:
            lines = b"".join(self._line(key, request) for key, (request, _) in rows.items())
            file = self._client().files.create(file=("gswgraph.jsonl", lines), purpose="batch")
            batch = self._client().batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={MARK: content_id(*sorted(rows))},
            )
            id_ = str(batch.id)
        head = id_, self._host, self._chat.model
        with self._cache.writing() as db:
            for key, (request, _) in rows.items():
                row = (key, *head, request.stage, request.document, estimate_messages(request.messages))
                db.execute("INSERT OR REPLACE INTO batch_request VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return {id_}

    def _find(self, rows: Rows) -> str | None:
        """Return the id of a batch of just these requests."""
        mark = content_id(*sorted(rows))
        for batch in self._client().batches.list(limit=100) if rows else ():
            if (batch.metadata or {}).get(MARK) == mark and batch.status not in LOST:
                return str(batch.id)
        return None

    def _affordable(self, key: str, request: Request) -> bool:
        amount = self._cost(request.prompt_tokens, request.usual_reply)
        with suppress(ModelUnavailableError):
            if self._budget is not None:
                self._budget.charge(amount)
            self._charged[key] = amount
        return key in self._charged

    def _wait(self, ids: set[str], progress: Progress) -> None:
        """Poll the batches, and keep what each brings as soon as it ends."""
        pause = POLL_SECONDS
        while ids:
            batches = [self._client().batches.retrieve(id_) for id_ in sorted(ids)]
            counts = [batch.request_counts for batch in batches if batch.request_counts]
            progress(sum(count.completed for count in counts), sum(count.total for count in counts))
            for batch in batches:
                if batch.status in ("completed", *LOST):
                    ids.discard(batch.id)
                    self._keep(batch)
            if ids:
                self._limiter.sleep(pause)
                pause = min(2 * pause, LONGEST_POLL)

    def _keep(self, batch: Any) -> None:
        """Cache and count what a batch brought. Raises ModelUnavailableError if it failed as a whole."""
        replies = dict(self._replies(batch.output_file_id))
        model = self._chat.model
        with self._cache.writing() as db:
            query = "SELECT key, stage, document, prompt_estimate FROM batch_request WHERE batch = ?"
            for key, stage, document, prompt_estimate in db.execute(query, (batch.id,)).fetchall():
                cost = 0.0
                if raw := replies.get(key):
                    tokens = raw.prompt_tokens, raw.completion_tokens
                    cost = self._cost(*tokens)
                    dollars = self._chat.dollars(*tokens)
                    if dollars is not None:
                        dollars *= BATCH_SHARE
                    self._chat.ledger.add(
                        Entry(document, stage, model, 1, 0, 0, *tokens, prompt_estimate, dollars=dollars)
                    )
                    if raw.finish in ("stop", "") and raw.text.strip():
                        self._cache.put(unchecked(key), model, stage, CachedReply(raw.text, *tokens, 0.0))
                if self._budget is not None:
                    self._budget.charge(cost - self._charged.pop(key, cost))
            db.execute("DELETE FROM batch_request WHERE batch = ?", (batch.id,))
        if batch.status == "failed" or not replies:
            errors = getattr(batch.errors, "data", None) or ()
            reasons = "; ".join(str(error.message) for error in errors[:3])
            if not reasons:
                lines = self._lines(batch.error_file_id)
                reasons = next(lines, b"no reason given").decode("utf-8", "replace")
            short = self._transport.endpoint.short(reasons)
            raise ModelUnavailableError(
                f"the batch brought no reply ({short})", where=self._host, hint=WITHOUT_HINT
            )

    def _replies(self, file: str | None) -> Iterator[tuple[str, Any]]:
        """Yield the replies of a batch with their keys; lines that cannot be read are left to ordinary
        calls."""
        for line in self._lines(file):
            with suppress(ValueError, TypeError, KeyError, RetryableError):
                answer = json.loads(line)
                if answer["response"]["status_code"] == 200:
                    reply = read_completion(answer["response"]["body"], self._transport.endpoint)
                    yield answer["custom_id"], reply

    def _lines(self, file: str | None) -> Iterator[bytes]:
        # By line feeds alone: texts may hold what else ends a line, such as U+2028.
        content = self._client().files.content(file).content if file else b""
        return (line for line in content.split(b"\n") if line.strip())

    def _line(self, key: str, request: Request) -> bytes:
        body = self._transport.body(request.messages, request.schema, request.stage, request.limit)
        line = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body}
        return json.dumps(line).encode() + b"\n"

    def _cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return what a request of a batch takes of the budget."""
        if self._budget is None:
            return 0.0
        share = BATCH_SHARE if self._budget.unit == "$" else 1.0
        return self._budget.cost(prompt_tokens, completion_tokens) * share

    def _client(self) -> Any:
        return self._transport.client().with_options(max_retries=RETRIES)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        import openai

        try:
            yield
        except openai.NotFoundError as error:
            message = "the server has no Batch API, or does not show the batch that was sent with another key"
            raise ModelUnavailableError(message, where=self._host, hint=WITHOUT_HINT) from error
        except openai.OpenAIError as error:
            cause = to_error(error, self._transport.endpoint)
            hint = getattr(cause, "hint", None) or AGAIN_HINT
            raise ModelUnavailableError(cause.message, where=self._host, hint=hint) from error
