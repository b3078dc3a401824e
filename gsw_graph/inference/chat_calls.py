"""Calls until one gives a reply: within the limits, again where that may help, and all of them counted."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace

from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.inference.budget import Budget
from gsw_graph.inference.chat_errors import CONTEXT, KEPT, MODEL, URL, AgainError, RefusedError
from gsw_graph.inference.chat_request import Request
from gsw_graph.inference.chat_wire import Received, Wire
from gsw_graph.inference.ledger import Entry, Ledger
from gsw_graph.inference.limiter import Limiter
from gsw_graph.inference.prices import Price, dollars
from gsw_graph.inference.tokens import Estimator, estimate_messages, with_counts

TRIES = 6
BACKOFF, LONGEST_BACKOFF = 0.5, 30.0  # seconds; doubled with each try
IN_VAIN = 3  # times the calls at once, in a row, that gave nothing at all: the server is away
LATE = 5.0  # seconds after the time-out at which a call is given up that still trickles
GRACE = 5.0  # seconds that calls under way have to end after `stop`
LOOK = 0.25  # seconds between looks whether to stop
TRUNCATED = 500  # prompt tokens from which on half of them missing is no error of the estimate

LENGTH = "Raise the server's limit for replies (max_tokens, Ollama: num_predict) or its context, or load in smaller passages"


class Calls:
    """Calls of one model; safe for many threads. price: None where it is not known."""

    def __init__(
        self, wire: Wire, ledger: Ledger, limiter: Limiter, *, at_once: int, timeout: float, price: Price | None = None, budget: Budget | None = None
    ) -> None:
        before = ledger.stages()
        self.wire, self.limiter, self.estimator = wire, limiter, Estimator(wire.model, before, reads_schema=wire.reads_schema)
        self.price, self.budget = price, budget
        self._ledger = ledger
        self._at_once, self._timeout = at_once, timeout
        self._lock = threading.Lock()
        self._in_vain, self._reached = 0, False
        self._replied = any(row.calls for row in before if row.model == wire.model)  # this model, in this run or an earlier one
        self._stopped_at: float | None = None

    def call(self, request: Request, messages: Sequence[Mapping[str, str]], on_text: Callable[[str], None] | None = None) -> tuple[Received, float]:
        """A whole reply and the seconds that its call took. Raises ReplyError, StoppedError."""
        empty = 0
        for tried in range(1, TRIES + 1):
            try:
                received, seconds = self._once(request, messages, on_text)
            except AgainError as error:
                last = error
                if tried < TRIES:
                    self._hold_off(error, tried)
            except ReplyError as error:
                self._refused(error)
                raise
            except StoppedError as error:
                self.limiter.stop(error)
                raise
            else:
                with self._lock:
                    self._in_vain, self._reached, self._replied = 0, True, True
                if received.text.strip() or received.refusal or received.finish in ("length", "content_filter") or (empty := empty + 1) > 1:
                    self.whole(request, messages, received)
                    return received, seconds
        self._count_in_vain(last)
        raise ReplyError(f"no reply after {TRIES} tries: {last.message}", where=self.wire.end.host, hint="The next load asks again")

    def failed(self, request: Request) -> None:
        """Counts the last call of a request as one that gave no reply that can be used."""
        self._ledger.add(Entry(request.document, request.stage, self.wire.model, failed=1))

    def stop(self) -> None:
        """All who wait get StoppedError, and those whose calls do not end soon."""
        self._stopped_at = time.monotonic()
        self.limiter.stop(StoppedError("stopped", hint=KEPT))

    def _once(self, request: Request, messages: Sequence[Mapping[str, str]], on_text: Callable[[str], None] | None) -> tuple[Received, float]:
        """One call, counted whatever becomes of it."""
        asked = replace(request, messages=tuple(map(dict, messages)))
        prompt, completion = self.estimator.prompt(asked), self.estimator.completion(request.stage)
        # Twice the usual reply is set aside, so that long ones do not go over; what is left over is given back.
        reserved = self.budget.reserve(prompt, 2 * completion) if self.budget else 0.0
        entry = Entry(request.document, request.stage, self.wire.model)
        try:
            with self.limiter.slot(prompt + completion) as slot:
                start = time.monotonic()
                entry = replace(entry, calls=1, failed=1)
                try:
                    received = self._send(request, messages, on_text)
                except AgainError as error:
                    if error.busy:
                        self.limiter.refused(slot)
                    if error.unreached:
                        entry = replace(entry, calls=0)
                    raise
                finally:
                    entry = replace(entry, seconds=time.monotonic() - start)
                counted, missing = with_counts(received, prompt)
                entry = replace(
                    entry,
                    failed=0,
                    prompt_tokens=counted.prompt_tokens,
                    completion_tokens=counted.completion_tokens,
                    prompt_estimate=estimate_messages(messages),
                    estimated=int(missing),
                    dollars=self.dollars(counted.prompt_tokens, counted.completion_tokens),
                )
                self.limiter.answered(slot, counted.prompt_tokens + counted.completion_tokens)
        finally:
            if self.budget:
                self.budget.settle(reserved, entry.prompt_tokens, entry.completion_tokens)
            if entry.calls:
                self._ledger.add(entry)
        self.estimator.add(entry)
        return counted, entry.seconds

    def _send(self, request: Request, messages: Sequence[Mapping[str, str]], on_text: Callable[[str], None] | None) -> Received:
        """The call itself, in a thread of its own, so that neither a server that trickles nor one that is slow holds up who wants to stop."""
        future: Future[Received] = Future()
        given_up = False

        def heard(piece: str) -> None:
            if on_text and not given_up:
                on_text(piece)

        def work() -> None:
            try:
                future.set_result(self.wire.send(messages, request.schema, request.stage, heard if on_text else None))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, name="chat call", daemon=True).start()
        late = time.monotonic() + self._timeout + LATE
        try:
            while not wait([future], LOOK).done:
                now = time.monotonic()
                if self._stopped_at and now > self._stopped_at + GRACE:
                    raise StoppedError("stopped", hint=KEPT)
                if now > late:
                    raise AgainError("it did not answer in time")
            return future.result()
        finally:
            given_up = True

    def whole(self, request: Request, messages: Sequence[Mapping[str, str]], received: Received) -> None:
        """Raises ReplyError where a reply says itself that it is of no use."""
        read, sent = received.prompt_tokens, estimate_messages(messages)
        for wrong, message, hint in (
            (received.finish == "content_filter", "the server's content filter held the reply back", None),
            (received.finish == "length", f"the reply was cut off after {received.completion_tokens} tokens", LENGTH),
            (received.refusal, f"the model refused: {self.wire.end.short(received.refusal)}", None),
            (not received.text.strip(), "the reply is empty", None),
            (sent > TRUNCATED and read < sent / 2, f"the server read only {read} of about {sent} tokens: its context is too small", CONTEXT),
        ):
            if wrong:
                self.failed(request)
                raise ReplyError(message, where=self.wire.end.host, hint=hint)

    def _hold_off(self, error: AgainError, tried: int) -> None:
        """Waits before the next try: everybody, as long as the server asks; else only this call, at random, so that calls do not come back together."""
        if error.wait:
            self.limiter.pause(error.wait * random.uniform(1, 1.1))  # noqa: S311
        else:
            self.limiter.rest(random.uniform(0, min(LONGEST_BACKOFF, BACKOFF * 2 ** (tried - 1))))  # noqa: S311

    def _refused(self, error: ReplyError) -> None:
        """A server that refuses one request is there, and one that takes others may take the next. Raises StoppedError where it never took any."""
        with self._lock:
            self._reached = True
            if self._replied or not isinstance(error, RefusedError):
                self._in_vain = 0
                return
        self._count_in_vain(error)

    def _count_in_vain(self, last: AgainError | RefusedError) -> None:
        """Raises StoppedError where nothing has come of so many calls that nothing will."""
        refused = isinstance(last, RefusedError)
        with self._lock:
            self._in_vain += 1
            never = isinstance(last, AgainError) and last.unreached and not self._reached
            enough = never or self._in_vain >= IN_VAIN * self._at_once
        if enough:
            what, hint = ("refuses every request", MODEL) if refused else ("gives no replies", f"See that it runs. {URL}")
            error = StoppedError(f"the server {what}: {last.message}", where=self.wire.end.host, hint=hint)
            self.limiter.stop(error)
            raise error

    def dollars(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """What so many tokens cost; None where no price is known."""
        return None if self.price is None else dollars(self.price, prompt_tokens, completion_tokens)
