"""Calls until one gives a reply: within the limits, again where that may help, and all of them counted."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace

from gsw_graph.errors import BudgetError, EndedError, ReplyError, StoppedError
from gsw_graph.inference.bodies import Call
from gsw_graph.inference.chat.asker import Asker
from gsw_graph.inference.chat.errors import CONTEXT, KEPT, MODEL, URL, AgainError, RefusedError, UnusableError
from gsw_graph.inference.chat.errors import LATE as SLOW
from gsw_graph.inference.chat.limiter import Limiter
from gsw_graph.inference.chat.request import Request
from gsw_graph.inference.chat.tokens import Estimator, estimate_messages, with_counts
from gsw_graph.inference.chat.wire import Received, Wire
from gsw_graph.inference.costs.budget import Budget
from gsw_graph.inference.costs.ledger import Entry, Ledger
from gsw_graph.inference.costs.prices import Price, dollars
from gsw_graph.turns import Check, wanted

TRIES = 6
LATE_TRIES = (
    2  # of calls whose time ran out: the same question to a server at temperature 0 takes as long again
)
BACKOFF, LONGEST_BACKOFF = 0.5, 30.0  # seconds; doubled with each try
IN_VAIN = 3  # times the calls at once, in a row, that gave nothing at all: the server is away
LATE = 5.0  # seconds after the time-out at which a call is given up that still trickles
GRACE = 5.0  # seconds that calls under way have to end after `stop`
LOOK = 0.25  # seconds between looks whether to stop
TRUNCATED = 500  # prompt tokens from which on half of them missing is no error of the estimate

LEAST, TIMES = 2000, 4  # tokens of a reply whose request says no limit: at least, and the usual ones so often
LOOP = "A sound reply has not half of that: the model repeats itself. A larger model may do better"
LOAD, ASK = "The next load asks again", "Ask again later, or without a model: --no-llm"
LENGTH = (
    "Raise the server's limit for replies (max_tokens, Ollama: num_predict) or its context, or "
    "load "
    "in smaller passages"
)


class Calls:
    """Calls of one model; safe for many threads. price: None where it is not known."""

    def __init__(
        self,
        wire: Wire,
        ledger: Ledger,
        limiter: Limiter,
        *,
        at_once: int,
        timeout: float,
        price: Price | None = None,
        budget: Budget | None = None,
    ) -> None:
        before = ledger.stages()
        self.wire, self.limiter, self.estimator = (
            wire,
            limiter,
            Estimator(wire.model, before, reads_schema=wire.reads_schema),
        )
        self.price, self.budget = price, budget
        self._ledger = ledger
        self._at_once, self._timeout = at_once, timeout
        self._lock = threading.Lock()
        self._in_vain, self._reached = 0, False
        self._replied = any(
            row.calls for row in before if row.model == wire.model
        )  # this model, in this run or an earlier one
        self._stopped_at: float | None = None
        self.on_trouble: Callable[[str], None] = lambda _: None

    def call(
        self,
        request: Request,
        messages: Sequence[Mapping[str, str]],
        on_text: Callable[[str], None] | None = None,
        asker: Asker | None = None,
    ) -> tuple[Received, float]:
        """A whole reply and the seconds that its call took. asker: the question that asks. Raises
        ReplyError (BudgetError where no call fits into its budget), StoppedError (EndedError where it is not
        wanted any more)."""
        empty = late = tried = 0
        while tried < TRIES and late < LATE_TRIES:
            tried += 1
            try:
                received, seconds = self._once(request, messages, on_text, asker, warm=late > 0)
            except AgainError as error:
                last = error
                late += error.late
                if error.late and (short := request.short) is not None and messages is request.messages:
                    request, messages = short, short.messages
                again = tried < TRIES and late < LATE_TRIES
                (asker or self).on_trouble(
                    f"{error.message}; {_next(error, tried) if again else f'given up after try {tried}'}"
                )
                if again:
                    self._hold_off(error, tried, asker.check if asker else None)
            except (BudgetError, EndedError):  # of this question alone: it says nothing about the server
                raise
            except ReplyError as error:
                self._refused(error)
                raise
            except StoppedError as error:
                self.limiter.stop(error)
                raise
            else:
                with self._lock:
                    self._in_vain, self._reached, self._replied = 0, True, True
                if (
                    received.finish == "length"
                    and (received.thought or not received.text)
                    and on_text is None
                    and self.wire.let_think()
                ):
                    continue
                if (
                    received.text.strip()
                    or received.refusal
                    or received.finish in ("length", "content_filter")
                    or (empty := empty + 1) > 1
                ):
                    self.whole(request, messages, received, asker)
                    return received, seconds
        self._count_in_vain(last)
        hint = LOAD if request.document else ASK
        hint = f"{SLOW}. {hint}" if last.late else hint
        raise ReplyError(f"no reply after {tried} tries: {last.message}", where=self.wire.end.host, hint=hint)

    def limit(self, request: Request) -> int:
        """Tokens that no sound reply to a request takes."""
        return request.limit or max(LEAST, TIMES * self.estimator.completion(request.stage))

    def failed(self, request: Request, asker: Asker | None = None) -> None:
        """Counts the last call of a request as one that gave no reply that can be used."""
        self.count(Entry(request.document, request.stage, self.wire.model, failed=1), asker)

    def count(self, entry: Entry, asker: Asker | None = None) -> None:
        """Counts what was asked, for the one that asked too."""
        self._ledger.add(entry)
        if asker is not None:
            asker.add(entry)

    def stop(self) -> None:
        """All who wait get StoppedError, and those whose calls do not end soon."""
        self._stopped_at = time.monotonic()
        self.limiter.stop(StoppedError("stopped", hint=KEPT))

    def _once(
        self,
        request: Request,
        messages: Sequence[Mapping[str, str]],
        on_text: Callable[[str], None] | None,
        asker: Asker | None,
        *,
        warm: bool,
    ) -> tuple[Received, float]:
        """One call, counted whatever becomes of it. asker: the question that asks, whose budget bounds the
        reply too."""
        question = asker.budget if asker else None
        check = asker.check if asker else None
        asked = replace(request, messages=tuple(map(dict, messages)))
        prompt, completion = self.estimator.prompt(asked), self.estimator.completion(request.stage)
        limit = full = self.limit(request)
        budget: Budget | None = question or self.budget
        if question:
            reserved = question.reserve(prompt, min(full, self.estimator.short_completion(request.stage)))
            limit = min(full, question.room(prompt))
        else:
            # Twice the usual reply is set aside, so that long ones do not go over; what is left over is
            # given back.
            reserved = budget.reserve(prompt, 2 * completion) if budget else 0.0
        entry = Entry(request.document, request.stage, self.wire.model)
        try:
            with self.limiter.slot(prompt + completion, check) as slot:
                start = time.monotonic()
                entry = replace(entry, calls=1, failed=1)
                try:
                    received = self._send(request, messages, on_text, limit, warm, check or wanted)
                except AgainError as error:
                    if error.busy:
                        self.limiter.refused(slot)
                    if error.late:
                        self.limiter.late(slot)
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
            if budget:
                budget.settle(reserved, entry.prompt_tokens, entry.completion_tokens)
            if entry.calls:
                self.count(entry, asker)
        self.estimator.add(entry)
        if question and limit < full and counted.finish == "length":
            self.failed(request, asker)
            raise question.cut_off(limit)
        return counted, entry.seconds

    def _send(
        self,
        request: Request,
        messages: Sequence[Mapping[str, str]],
        on_text: Callable[[str], None] | None,
        limit: int,
        warm: bool,
        check: Check,
    ) -> Received:
        """The call itself, in a thread of its own, so that neither a server that trickles nor one that is
        slow holds up who wants to stop. One that is given up loses its connection: a server with one slot
        would go on with it, and the next call wait."""
        future: Future[Received] = Future()
        given_up = heard = False
        call = Call()

        def hear(piece: str) -> None:
            nonlocal heard
            if on_text and not given_up:
                heard = True
                on_text(piece)

        def work() -> None:
            try:
                with call:
                    future.set_result(
                        self.wire.send(
                            messages, request.schema, request.stage, hear if on_text else None, limit, warm
                        )
                    )
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, name="chat call", daemon=True).start()
        late = time.monotonic() + self._timeout + LATE
        try:
            while not wait([future], LOOK).done:
                check()
                now = time.monotonic()
                if self._stopped_at and now > self._stopped_at + GRACE:
                    raise StoppedError("stopped", hint=KEPT)
                if (
                    now > late and heard
                ):  # on the screen already: a second reply after half of the first would be none
                    raise ReplyError("the reply did not end in time", where=self.wire.end.host, hint=SLOW)
                if now > late:
                    raise AgainError("it did not answer in time", late=True)
            return future.result()
        finally:
            given_up = True
            if not future.done():
                call.hang_up()

    def whole(
        self,
        request: Request,
        messages: Sequence[Mapping[str, str]],
        received: Received,
        asker: Asker | None = None,
    ) -> None:
        """Raises ReplyError where a reply says itself that it is of no use."""
        read, sent = received.prompt_tokens, estimate_messages(messages)
        cut = LENGTH if received.completion_tokens < 0.9 * self.limit(request) else LOOP
        for wrong, message, hint in (
            (received.finish == "content_filter", "the server's content filter held the reply back", None),
            (
                received.finish == "length",
                f"the reply was cut off after {received.completion_tokens} tokens",
                cut,
            ),
            (received.refusal, f"the model refused: {self.wire.end.short(received.refusal)}", None),
            (not received.text.strip(), "the reply is empty", None),
            (
                sent > TRUNCATED and read < sent / 2,
                f"the server read only {read} of about {sent} tokens: its context is too small",
                CONTEXT,
            ),
        ):
            if wrong:
                self.failed(request, asker)
                raise (UnusableError if hint == LOOP else ReplyError)(
                    message, where=self.wire.end.host, hint=hint
                )

    def once(self, request: Request) -> float:
        """The seconds of one call, whatever it says. Raises ReplyError, StoppedError."""
        try:
            return self._once(request, request.messages, None, None, warm=False)[1]
        except AgainError as error:
            raise ReplyError(
                error.message,
                where=self.wire.end.host,
                hint=SLOW if error.late else f"See that it runs. {URL}",
            ) from error

    def _hold_off(self, error: AgainError, tried: int, check: Check | None) -> None:
        """Waits before the next try: everybody, as long as the server asks; else only this call, at
        random, so that calls do not come back together."""
        if error.wait:
            self.limiter.pause(error.wait * random.uniform(1, 1.1))  # noqa: S311
        else:
            seconds = random.uniform(0, min(LONGEST_BACKOFF, BACKOFF * 2 ** (tried - 1)))  # noqa: S311
            self.limiter.rest(seconds, check)

    def _refused(self, error: ReplyError) -> None:
        """A server that refuses one request is there, and one that takes others may take the next. Raises
        StoppedError where it never took any."""
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
            at_once = self.limiter.at_once if isinstance(last, AgainError) and last.late else self._at_once
            enough = never or self._in_vain >= IN_VAIN * at_once
        if enough:
            what, hint = (
                ("refuses every request", MODEL)
                if refused
                else ("gives no replies", f"See that it runs. {URL}")
            )
            if isinstance(last, AgainError) and last.late:
                hint = SLOW
            error = StoppedError(f"the server {what}: {last.message}", where=self.wire.end.host, hint=hint)
            self.limiter.stop(error)
            raise error

    def dollars(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """What so many tokens cost; None where no price is known."""
        return None if self.price is None else dollars(self.price, prompt_tokens, completion_tokens)


def _next(error: AgainError, tried: int) -> str:
    """What comes after a call that brought nothing."""
    return f"try {tried + 1} follows" + (f" in {error.wait:.0f} s" if error.wait >= 1 else "")
