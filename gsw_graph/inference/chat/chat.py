"""Asking a language model: through any OpenAI-compatible server, within limits and a budget, and never
twice for the same."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from gsw_graph.config import Settings
from gsw_graph.errors import BudgetError, InputError, ReplyError, StoppedError
from gsw_graph.inference.batch.batch import Batches
from gsw_graph.inference.batch.log import BatchLog
from gsw_graph.inference.chat.asker import Asker
from gsw_graph.inference.chat.cache import FILE, Cache, CachedReply, rejected
from gsw_graph.inference.chat.calls import GRACE, Calls
from gsw_graph.inference.chat.errors import URL, UnusableError
from gsw_graph.inference.chat.json_reply import parse, without_thoughts
from gsw_graph.inference.chat.limiter import Limiter
from gsw_graph.inference.chat.request import Reply, Request, T
from gsw_graph.inference.chat.slots import slots
from gsw_graph.inference.chat.wire import OPENAI, Received, Wire
from gsw_graph.inference.costs.budget import Budget
from gsw_graph.inference.costs.ledger import Entry, Ledger
from gsw_graph.inference.costs.prices import Price, price_of
from gsw_graph.inference.endpoint import Endpoint

log = logging.getLogger(__name__)

__all__ = ["Chat", "Reply", "Request"]

FIRST = (
    2  # replies of a model to long prompts that cannot be used, with none that can: it is too small for them
)
CLOSING = GRACE + 1  # seconds that calls under way have to end and to be kept
PROBLEM = 1000  # characters of it that are sent back
REPAIR = "That reply cannot be used: {problem}\nGive the whole reply again, corrected, and nothing else."


class Chat:
    """A language model behind a server; safe for many threads, and a context manager.

    model: as the server knows it. ledger: what was asked.
    """

    def __init__(self, calls: Calls, cache: Cache, ledger: Ledger, prompt: str = "auto") -> None:
        self.model, self.ledger = calls.wire.model, ledger
        self._calls, self._cache, self._batched = calls, cache, BatchLog(cache)
        self._settling = threading.Lock()
        self._settled: dict[
            str, StoppedError | None
        ] = {}  # batches that hold what is asked here, with why they cannot be settled
        self._lock = threading.Lock()
        self._turns: dict[str, tuple[threading.Lock, int]] = {}
        self._prompt, self._unusable = prompt, 0
        self._asking, self._ended = 0, threading.Condition()

    @classmethod
    def open(cls, settings: Settings, *, budget: Budget | None = None) -> Chat:
        """The model that the settings name; nothing is asked yet. Raises InputError, ModelError (a url or
        key that cannot be used)."""
        if not settings.llm:
            hint = (
                "Name one by --llm or GSWGRAPH_LLM, and set GSWGRAPH_LLM_URL for its server "
                "or "
                "OPENAI_API_KEY for OpenAI's"
            )
            raise InputError("no language model is set", hint=hint)
        if not (settings.llm_key or settings.llm_url):
            raise InputError(
                "OpenAI's server needs a key",
                where=settings.llm,
                hint="Set OPENAI_API_KEY, or GSWGRAPH_LLM_URL for another server",
            )
        end = Endpoint.check(
            "the language model",
            settings.llm_url or OPENAI,
            settings.llm_key,
            whole=URL,
            key_name="GSWGRAPH_LLM_KEY",
        )
        price = settings.llm_price or price_of(settings.llm)
        if budget:
            budget.use(price)
        at_once, timeout = settings.concurrency, settings.llm_timeout
        cache = Cache(settings.cache_dir / FILE)
        ledger, limiter = Ledger(cache), Limiter(at_once, settings.llm_rpm, settings.llm_tpm)
        calls = Calls(
            Wire(end, settings.llm, timeout),
            ledger,
            limiter,
            at_once=at_once,
            timeout=timeout,
            price=price,
            budget=budget,
        )
        return cls(calls, cache, ledger, settings.llm_prompt)

    @property
    def on_trouble(self) -> Callable[[str], None]:
        """Told, from the thread that asks, of each call that brought nothing: why, and what comes next."""
        return self._calls.on_trouble

    @on_trouble.setter
    def on_trouble(self, told: Callable[[str], None]) -> None:
        self._calls.on_trouble = told

    @property
    def price(self) -> Price | None:
        """Dollars for a million tokens in and out; None where they are not known."""
        return self._calls.price

    def ask(
        self,
        request: Request,
        check: Callable[[Any], T],
        *,
        on_text: Callable[[str], None] | None = None,
        asker: Asker | None = None,
    ) -> Reply[T]:
        """The reply to a request: the kept one, else the server's, which is kept before this returns.

        `check` gets the parsed JSON where the request has a schema, else the text, and returns the value or
        raises ValueError that says what is wrong; the model is told that once. `on_text` gets a text as it
        comes, from another thread: the first reply, before its check; a kept one as a whole. A broken
        connection is then not asked again. `asker` is the question that asks: each call that this takes
        must fit into its budget, a repair too. Two equal requests at the same time are one call.
        Raises ReplyError (no usable reply to this request: skip it; BudgetError: no room for it) and
        StoppedError (none to any request: stop).
        """
        request = self.chosen(request)
        try:
            reply = self._one(request, check, on_text, asker)
        except UnusableError:
            if (
                request.short is None or not self._give_up_long() or on_text
            ):  # what was shown is not asked again
                raise
            return self._one(request.short, check, None, asker)
        if request.short is not None and self._prompt == "auto":
            self._prompt = "long"  # this model can
        return reply

    def chosen(self, request: Request) -> Request:
        """The request as it is asked: the short one where the settings say so, or where this model does
        not understand the long ones."""
        return request.short if self._prompt == "short" and request.short is not None else request

    def _give_up_long(self) -> bool:
        """Whether short prompts are asked from now on, after another long one brought nothing of use."""
        with self._lock:
            self._unusable += 1
            if self._prompt == "auto" and self._unusable >= FIRST:
                self._prompt = "short"
                log.warning(
                    "The first replies of %s cannot be used: it is asked by short prompts from now on "
                    "(GSWGRAPH_LLM_PROMPT)",
                    self.model,
                )
            return self._prompt == "short"

    def _one(
        self,
        request: Request,
        check: Callable[[Any], T],
        on_text: Callable[[str], None] | None,
        asker: Asker | None,
    ) -> Reply[T]:
        key = self._cache.key(self.model, request)
        with self._under_way(), self._turn(key):
            if (kept := self._cache.get(key)) and (reply := self._recall(request, kept, check, asker)):
                if on_text and request.schema is None:
                    on_text(kept.content)
                return reply
            return self._ask(request, key, check, on_text if request.schema is None else None, asker)

    def known(self, request: Request) -> bool:
        """Whether a reply is there, or ordered by a batch, so that asking costs nothing more, unless the
        server loses that."""
        key = self._cache.key(self.model, self.chosen(request))
        return self._cache.has(key) or self._batched.batch(key, self._calls.wire.end.host) is not None

    def estimate(self, request: Request) -> int:
        """About how many prompt tokens a request takes, by what the server counted for earlier ones."""
        return self._calls.estimator.prompt(self.chosen(request))

    def expect(self, stage: str) -> int:
        """About how many tokens a reply of this stage takes: the mean of those before, 1000 without any."""
        return self._calls.estimator.completion(stage)

    def dollars(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """What so many tokens cost; None where no price is known."""
        return self._calls.dollars(prompt_tokens, completion_tokens)

    def batches(self) -> Batches:
        """The Batch API of the same server, whose replies `ask` then finds."""
        calls = self._calls
        return Batches(
            self.ask,
            calls.wire,
            self._cache,
            self._batched,
            self.ledger,
            calls.estimator,
            calls.price,
            calls.budget,
            calls.limiter.rest,
        )

    def try_call(self) -> tuple[float, int | None]:
        """The seconds of a small call, which is counted and not kept, and how many calls the server works
        on at once, where it says. Raises ModelError."""
        asked = Request("doctor", ({"role": "user", "content": "Reply with the word ready."},), limit=50)
        return self._calls.once(asked), slots(self._calls.wire.end)

    def stop(self) -> None:
        """Ends what is going on, for good: calls that wait raise StoppedError now, those under way have
        five seconds. From any thread."""
        self._calls.stop()

    def close(self) -> None:
        """After `stop`, when the replies that are under way have come and are kept."""
        with self._ended:
            self._ended.wait_for(lambda: not self._asking, CLOSING)
        self._calls.wire.close()
        self._cache.close()

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _recall(
        self, request: Request, kept: CachedReply, check: Callable[[Any], T], asker: Asker | None
    ) -> Reply[T] | None:
        """The kept reply; None where it does not pass, as the check has become stricter since."""
        try:
            value = check(kept.content)
        except ValueError:
            return None
        self._calls.count(
            Entry(request.document, request.stage, self.model, cached=1, dollars=self.dollars(0, 0)), asker
        )
        return Reply(value, True, kept.prompt_tokens, kept.completion_tokens, kept.seconds)

    def _ask(
        self,
        request: Request,
        key: str,
        check: Callable[[Any], T],
        on_text: Callable[[str], None] | None,
        asker: Asker | None,
    ) -> Reply[T]:
        kept = self._cache.get(rejected(key))  # of a run that ended while the model mended it
        if kept:
            received, seconds = (
                Received(
                    kept.content, prompt_tokens=kept.prompt_tokens, completion_tokens=kept.completion_tokens
                ),
                kept.seconds,
            )
        else:
            received, seconds = self._by_batch(request, key, asker) or self._calls.call(
                request, request.messages, on_text, asker
            )
        try:
            content, value = self._checked(request, received, check)
        except ValueError as error:
            if not kept:
                self._reject(request, key, received, seconds, asker)
            content, value, mended, took = self._mended(request, key, received, str(error), check, asker)
            received = replace(
                received,
                prompt_tokens=received.prompt_tokens + mended.prompt_tokens,
                completion_tokens=received.completion_tokens + mended.completion_tokens,
            )
            seconds += took
        with self._cache.writing():
            self._cache.put(
                key,
                self.model,
                request.stage,
                CachedReply(content, received.prompt_tokens, received.completion_tokens, seconds),
            )
            self._cache.drop(rejected(key))
            self._batched.drop(key)
        return Reply(value, False, received.prompt_tokens, received.completion_tokens, seconds)

    def _reject(
        self, request: Request, key: str, received: Received, seconds: float, asker: Asker | None
    ) -> None:
        """Counts a reply that failed its check, and keeps it until the model has mended it: that may be in
        another run."""
        self._calls.failed(request, asker)
        with self._cache.writing():
            kept = CachedReply(received.text, received.prompt_tokens, received.completion_tokens, seconds)
            self._cache.put(rejected(key), self.model, request.stage, kept)
            self._batched.drop(key)

    def _mended(
        self,
        request: Request,
        key: str,
        received: Received,
        problem: str,
        check: Callable[[Any], T],
        asker: Asker | None,
    ) -> tuple[Any, T, Received, float]:
        """What the model makes of its reply once it is told what is wrong: content, value, the reply and its
        seconds. Raises ReplyError, after which the request is asked from the start."""
        told = {"role": "user", "content": REPAIR.format(problem=_short(problem))}
        try:
            mended, took = self._calls.call(
                request,
                (*request.messages, {"role": "assistant", "content": received.text}, told),
                asker=asker,
            )
            return (*self._checked(request, mended, check), mended, took)
        except BudgetError:  # with a larger one the mending alone is asked for
            raise
        except ReplyError:
            self._cache.drop(rejected(key))
            raise
        except ValueError as error:
            self._calls.failed(request, asker)
            self._cache.drop(rejected(key))
            where, hint = self._calls.wire.end.host, "A larger model may do better"
            raise UnusableError(
                f"the reply cannot be used, nor did the model mend it: {_short(str(error))}",
                where=where,
                hint=hint,
            ) from None

    def _by_batch(self, request: Request, key: str, asker: Asker | None) -> tuple[Received, float] | None:
        """What a batch brought, if it is whole; it was counted when it came. Raises StoppedError where the
        batch is still under way."""
        self._settle(key)
        if received := self._batched.reply(key):
            try:
                self._calls.whole(request, request.messages, received, asker)
            except ReplyError:
                self._batched.drop(key)
                return None
            return received, 0.0
        return None

    def _settle(self, key: str) -> None:
        with self._settling:
            id_ = self._batched.open_batch(key, self._calls.wire.end.host)
            if id_ is None:
                return
            if id_ not in self._settled:
                self._settled[id_] = None
                try:
                    self.batches().settle(id_)
                except StoppedError as error:
                    self._settled[id_] = error
            if stopped := self._settled[id_]:
                raise StoppedError(stopped.message, where=stopped.where, hint=stopped.hint) from stopped

    def _checked(self, request: Request, received: Received, check: Callable[[Any], T]) -> tuple[Any, T]:
        """What is in a reply, and the value of it. Raises ValueError."""
        content = self._read(request, received.text)
        return content, check(content)

    def _read(self, request: Request, text: str) -> Any:
        """The text, or the JSON in it. Where that has not the keys that its schema requires, the server
        does not keep to schemas, and it is told in words."""
        if request.schema is None:
            return without_thoughts(text)
        try:
            content = parse(text)
        except ValueError:
            self._calls.wire.tell_schema()
            raise
        if not isinstance(content, dict) or not set(request.schema.get("required", ())) <= set(content):
            self._calls.wire.tell_schema()
        return content

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        with self._ended:
            self._asking += 1
        try:
            yield
        finally:
            with self._ended:
                self._asking -= 1
                self._ended.notify_all()

    @contextmanager
    def _turn(self, key: str) -> Iterator[None]:
        """One at a time for equal requests: the second finds the reply of the first."""
        with self._lock:
            mine, waiting = self._turns.get(key, (threading.Lock(), 0))
            self._turns[key] = (mine, waiting + 1)
        try:
            with mine:
                yield
        finally:
            with self._lock:
                mine, waiting = self._turns.pop(key)
                if waiting > 1:
                    self._turns[key] = (mine, waiting - 1)


def _short(problem: str) -> str:
    return " ".join(problem.split())[:PROBLEM]
