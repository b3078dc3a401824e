"""Ask a language model within limits and a budget, with retries, a repair of bad replies and a cache."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from gsw_graph.concurrency import Check, acquired, never_cancelled
from gsw_graph.config import Settings
from gsw_graph.errors import (
    BudgetError,
    InputError,
    InvalidReplyError,
    ModelUnavailableError,
    WorkCancelledError,
)
from gsw_graph.model.ledger import Entry
from gsw_graph.model.results import Exchange, KeptReply
from gsw_graph.models.chat.batch import BatchFeeder
from gsw_graph.models.chat.cache import FILE, Cache, CachedReply, Ledger, unchecked
from gsw_graph.models.chat.limits import Budget, Limiter, QuestionBudget, dollars, price_of
from gsw_graph.models.chat.request import (
    PLAN_STAGES,
    SHORT_REPLY,
    CheckReply,
    OnText,
    Reply,
    Request,
    T,
    answer_text,
    estimate,
    estimate_messages,
    parse_json,
)
from gsw_graph.models.chat.transport import (
    CONTEXT_HINT,
    KEPT_HINT,
    OPENAI,
    SLOW_HINT,
    URL_HINT,
    Messages,
    RawReply,
    RefusedError,
    RetryableError,
    Transport,
)
from gsw_graph.models.endpoint import Endpoint
from gsw_graph.models.prompts import replacements
from gsw_graph.values import Fields, single_spaced

if TYPE_CHECKING:
    from gsw_graph.models.chat.batch import BatchFeeder

__all__ = ["Chat", "Reply", "Request"]

MAX_TRIES = 6
MAX_TIMEOUTS = 2  # at temperature 0 a retry takes as long again
BACKOFF, LONGEST_BACKOFF = 0.5, 30.0  # seconds, doubled with each try
MAX_FAILURES = 3  # failures in a row, times the concurrency, after which the server counts as away
CLOSE_SECONDS, POLL_SECONDS = 6.0, 0.02  # `close` waits at most so long for calls under way, and polls
TRUNCATED = 500  # prompt tokens; above, half of them missing cannot be an error of the estimate
PROBLEM_LENGTH = 1000  # characters of a problem that the model is told
REPAIR = "That reply cannot be used: {problem}\nGive the whole reply again, corrected, and nothing else."

_MODEL_HINT = "Name one by --llm or GSWGRAPH_LLM, and its server by GSWGRAPH_LLM_URL, or set OPENAI_API_KEY"
_LARGER_HINT = "A larger model may do better, or GSWGRAPH_LLM_PROMPT=short"
_LOOP_HINT = f"A sound reply has not half of that: the model repeats itself. {_LARGER_HINT}"
_THOUGHTS_HINT = (
    "Turn thinking off for this model (extra_body in GSWGRAPH_LLM_OPTIONS), or have the server leave "
    "thoughts in the text"
)
_LENGTH_HINT = (
    "Raise the server's limit for replies (max_tokens, Ollama: num_predict) or its context, or load in "
    "smaller passages"
)


class CallContext:
    """Hold budget, cancellation and usage of one caller; safe for many threads.

    Args:
        budget: Limit of the caller; None for no limit.
        check: Called while a call waits; raises if the caller no longer wants the result.

    Attributes:
        on_trouble: Called in the asking thread with a text: the problem of a call, and what comes next.
    """

    def __init__(self, budget: QuestionBudget | None = None, check: Check = never_cancelled) -> None:
        self.budget, self.check = budget, check
        self.on_trouble: Callable[[str], None] = lambda _: None
        self.usage = self.planning = Entry()
        self._lock = threading.Lock()

    def add(self, entry: Entry) -> None:
        """Add the counts of an entry."""
        with self._lock:
            self.usage += entry
            if entry.stage in PLAN_STAGES:
                self.planning += entry


class Chat:
    """Ask a language model behind a server; safe for many threads. A context manager.

    Args:
        settings: Name the model, its server and its key.
        budget: Limit of all calls together.

    Attributes:
        model: Name of the model at the server.
        ledger: Counts of all calls.
        context: The context of calls without a context of their own.
        prompts: The user's prompts, by the text of the prompt that each replaces.

    Raises:
        InputError: No model is named, or the budget needs a price that is not known.
        ModelError: The url or the key cannot be used.
    """

    def __init__(self, settings: Settings, budget: Budget | None = None) -> None:
        model, url, key = settings.llm, settings.llm_url, settings.llm_key
        if not model:
            raise InputError("no language model is set", hint=_MODEL_HINT)
        if not key and not url:
            hint = "Set OPENAI_API_KEY, or GSWGRAPH_LLM_URL for another server"
            raise InputError("OpenAI's server needs a key", where=model, hint=hint)
        endpoint = Endpoint.check(
            "the language model", url or OPENAI, key, whole=URL_HINT, key_name="GSWGRAPH_LLM_KEY"
        )
        self.model = model
        self.price = settings.llm_price or price_of(model)
        if budget:
            budget.use(self.price)
        self._budget = budget
        self._limiter = Limiter(settings.concurrency)
        self._transport = Transport(endpoint, model, settings.llm_timeout, settings.llm_options)
        options = self._transport.options
        self._name = f"{model} {json.dumps(options)}" if options else model
        self._short = settings.llm_prompt == "short"
        self.prompts = replacements(settings.prompts) if settings.prompts else {}
        self._cache = Cache(settings.cache_dir / FILE)
        self.ledger = Ledger(self._cache)
        self.context = CallContext()
        self._planner: Chat | None = None
        self._failures = 0
        self._replied = self.ledger.has_replies(model)
        self._lock = threading.Lock()
        self._locks: WeakValueDictionary[str, Any] = WeakValueDictionary()  # by request key

    @classmethod
    def open(cls, settings: Settings, *, budget: Budget | None = None) -> Chat:
        """Open the model that the settings name. Raises what the class raises."""
        return cls(settings, budget)

    @classmethod
    def open_for_questions(cls, settings: Settings) -> Chat:
        """Open the model that answers, and the model that plans if the settings name another."""
        chat = cls(settings.for_role("answer"))
        if "plan" in settings.llm_roles or "answer" in settings.llm_roles:
            chat._planner = cls(settings.for_role("plan"))
        return chat

    def of_stage(self, stage: str) -> Chat:
        """Return the model for a stage of a question: the planner or this."""
        return self._planner if self._planner and stage in PLAN_STAGES else self

    def key(self, request: Request) -> str:
        """Return the cache key of a request, which depends on model and options too."""
        return self._cache.key(self._name, request)

    def ask(
        self,
        request: Request,
        check: CheckReply[T],
        *,
        on_text: OnText = None,
        context: CallContext | None = None,
    ) -> Reply[T]:
        """Return the reply to a request from the cache, else from the server. A new reply is cached first.

        Two equal requests at the same time are one call.

        Args:
            request: The request.
            check: Gets the JSON of a reply if the request has a schema, else its text. Returns the value, or
                raises ValueError with the fault, which the model is told once.
            on_text: Gets the text of the first reply as it arrives, before the check. A broken connection is
                then not retried.
            context: Context of the caller. Each call, a repair too, must fit its budget.

        Raises:
            InvalidReplyError: There is no usable reply to this request; other requests may succeed.
            BudgetError: The request does not fit the budget.
            ModelUnavailableError: No request will get a reply any more.
        """
        request = self.chosen(request)
        context = context or self.context
        on_text = on_text if request.schema is None else None
        key = self.key(request)
        with self._lock_of(key, context.check):
            cached = self._cache.get(key)
            if cached is None:
                return self._ask_server(request, key, check, on_text, context)
            try:
                value = check(cached.content)
            except ValueError:  # the check is stricter than when the reply was cached
                return self._ask_server(request, key, check, on_text, context)
            self._count(request, context, cached=1, dollars=self.dollars(0, 0))
            if on_text:
                on_text(cached.content)
            return Reply(value, True, cached.prompt_tokens, cached.completion_tokens, cached.seconds)

    def chosen(self, request: Request) -> Request:
        """Return the request to send: the short form if the settings say so, with the user's prompts."""
        if self._short and request.short is not None:
            request = request.short
        first, *others = request.messages
        text = first["content"]
        if first["role"] != "system" or any(own and own in text for own in self.prompts.values()):
            return request
        for ours, own in self.prompts.items():
            text = text.replace(ours, own)
        return replace(request, messages=({**first, "content": text}, *others))

    def known(self, request: Request) -> bool:
        """Return whether the reply to a request is cached and so costs nothing."""
        return self._cache.get(self.key(self.chosen(request))) is not None

    def dollars(self, prompt_tokens: float, completion_tokens: float) -> float | None:
        """Return the price of some tokens; None if the price of the model is not known."""
        return dollars(self.price, prompt_tokens, completion_tokens) if self.price else None

    def batches(self) -> BatchFeeder:
        """Return the Batch API of the same server, which feeds the cache that `ask` reads."""
        return BatchFeeder(self, self._transport, self._cache, self._limiter, self._budget)

    def try_call(self) -> float:
        """Make a small call, counted but not cached, and return its seconds. Raises ModelError."""
        messages = ({"role": "user", "content": "Reply with the word ready."},)
        try:
            return self._attempt(
                Request("doctor", messages, limit=50), messages, None, self.context, 1
            ).seconds
        except RetryableError as error:
            raise self._error(error.message, error.hint) from error

    def stop(self) -> None:
        """Begin no more calls. Waiting calls raise ModelUnavailableError. May be called from any thread."""
        self._limiter.stop(ModelUnavailableError("stopped", hint=KEPT_HINT))

    def close(self) -> None:
        """Close connections and cache. Calls under way get CLOSE_SECONDS to end and be cached."""
        end = time.monotonic() + CLOSE_SECONDS
        while self._locks and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
        self._transport.close()
        self._cache.close()
        if self._planner:
            self._planner.close()

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask_server(
        self, request: Request, key: str, check: CheckReply[T], on_text: OnText, context: CallContext
    ) -> Reply[T]:
        # A reply of a batch, or of a run that ended before its repair, is already paid for and counted.
        paid = self._cache.get(unchecked(key))
        reply = paid or self._call(request, request.messages, on_text, context)
        try:
            content = self._read(request, reply.content)
            value = check(content)
        except ValueError as error:
            if not paid:
                self._count(request, context, failed=1)
                self._cache.put(unchecked(key), self.model, request.stage, reply)
            value, reply = self._repair(request, key, reply, str(error), check, context)
        else:
            reply = replace(reply, content=content)
        with self._cache.writing():
            self._cache.put(key, self.model, request.stage, reply)
            self._cache.drop(unchecked(key))
        return Reply(value, False, reply.prompt_tokens, reply.completion_tokens, reply.seconds)

    def _repair(
        self,
        request: Request,
        key: str,
        first: CachedReply,
        problem: str,
        check: CheckReply[T],
        context: CallContext,
    ) -> tuple[T, CachedReply]:
        """Tell the model the fault of its first reply. Return the value, and both replies as one.

        Raises:
            InvalidReplyError: The second reply is unusable too. The next `ask` begins with a first call.
            BudgetError: The repair does not fit the budget. The next `ask` begins with the repair.
        """
        order = REPAIR.format(problem=_short_problem(problem))
        messages = (
            *request.messages,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": order},
        )
        try:
            second = self._call(request, messages, None, context)
            content = self._read(request, second.content)
            value = check(content)
        except BudgetError:
            raise
        except InvalidReplyError:
            self._cache.drop(unchecked(key))
            raise
        except ValueError as error:
            self._count(request, context, failed=1)
            self._cache.drop(unchecked(key))
            message = f"the reply cannot be used, nor did the model repair it: {_short_problem(str(error))}"
            raise self._error(message, _LARGER_HINT) from None
        prompt_tokens = first.prompt_tokens + second.prompt_tokens
        completion_tokens = first.completion_tokens + second.completion_tokens
        return value, CachedReply(content, prompt_tokens, completion_tokens, first.seconds + second.seconds)

    def _read(self, request: Request, text: str) -> Any:
        """Return the text of a reply, or its JSON. Raises ValueError.

        A reply without the keys of its schema shows that the server does not enforce schemas. From then on
        the schema is part of the prompt.
        """
        schema = request.schema
        if schema is None:
            return answer_text(text).strip()
        content: Any = None
        try:
            content = parse_json(text, schema.get("properties", ()))
        finally:
            if not isinstance(content, dict) or not content.keys() >= set(schema.get("required", ())):
                self._transport.put_schema_in_prompt()
        return content

    def _call(
        self, request: Request, messages: Messages, on_text: OnText, context: CallContext
    ) -> CachedReply:
        """Call until a whole reply arrives, and return the reply unparsed.

        The retries of the SDK are off: nobody can cancel them or count them, and a silent server would cost
        all of them.
        """
        timeouts = 0
        last = RetryableError("the reply is empty")
        for attempt in range(1, MAX_TRIES + 1):
            try:
                raw = self._attempt(request, messages, on_text, context, attempt)
            except RetryableError as error:
                last = error
                timeouts += error.timed_out
                given_up = attempt == MAX_TRIES or timeouts == MAX_TIMEOUTS
                pause = f" in {error.retry_after:.0f} s" if error.retry_after >= 1 else ""
                outcome = f"given up after try {attempt}" if given_up else f"try {attempt + 1} follows{pause}"
                context.on_trouble(f"{error.message}; {outcome}")
                if given_up:
                    break
                self._back_off(error, attempt, context)
                continue
            except (BudgetError, WorkCancelledError):  # the caller's own limits say nothing about the server
                raise
            except InvalidReplyError as error:
                if isinstance(error, RefusedError) and not self._replied:
                    self._record_failure(error)
                else:  # a server that takes other requests may take the next
                    self._failures = 0
                raise
            except ModelUnavailableError as error:
                self._limiter.stop(error)
                raise
            self._failures, self._replied = 0, True
            thoughts_only = raw.finish == "length" and (raw.thinking or not raw.text)
            if thoughts_only and on_text is None and self._transport.drop_token_limit():
                continue
            whole = raw.text.strip() or raw.refusal or raw.finish in ("length", "content_filter")
            if not whole and attempt == 1:  # an empty reply is asked for once more
                continue
            self._validate(request, messages, raw, context)
            return CachedReply(raw.text, raw.prompt_tokens, raw.completion_tokens, raw.seconds)
        self._record_failure(last)
        hint = (
            "The next load asks again"
            if request.document
            else "Ask again later, or without a model: --no-llm"
        )
        if last.timed_out:
            hint = f"{SLOW_HINT}. {hint}"
        raise self._error(f"no reply after {attempt} tries: {last.message}", hint)

    def _attempt(
        self,
        request: Request,
        messages: Messages,
        on_text: OnText,
        context: CallContext,
        attempt: int,
    ) -> RawReply:
        """Call once, and count the call even if it fails. Return the reply with its tokens and seconds."""
        prompt = estimate_messages(messages)
        limit = full = self._limit(request)
        budget: Budget | None = context.budget or self._budget
        # Twice the usual reply is reserved, so that long replies fit too. The rest is given back.
        expected = 2 * request.usual_reply
        if context.budget:
            expected = min(full, SHORT_REPLY)
        counts: Fields = {"calls": 1, "failed": 1}
        raw = RawReply("")
        with self._limiter.permit(context.check):
            reserved = budget.reserve(prompt, expected, self.price) if budget else 0.0
            if context.budget:
                limit = min(full, context.budget.reply_tokens(prompt, self.price))
            start = time.monotonic()
            try:
                raw = self._transport.send(
                    messages, request.schema, request.stage,
                    on_text=on_text, limit=limit, attempt=attempt, check=context.check,
                )  # fmt: skip
                counted = raw.prompt_tokens and (raw.completion_tokens or not raw.text)
                if not counted:
                    raw = replace(raw, prompt_tokens=prompt, completion_tokens=estimate(raw.text))
                counts = {
                    "calls": 1,
                    "prompt_tokens": raw.prompt_tokens,
                    "completion_tokens": raw.completion_tokens,
                    "prompt_estimate": prompt,
                    "estimated": int(not counted),
                    "dollars": self.dollars(raw.prompt_tokens, raw.completion_tokens),
                }
                self._limiter.speed_up()
            except RetryableError as error:
                if error.busy or error.timed_out:
                    self._limiter.slow_down()
                counts["calls"] = int(not error.unreached)
                raise
            finally:
                raw = replace(raw, seconds=time.monotonic() - start)
                if budget:
                    budget.settle(reserved, raw.prompt_tokens, raw.completion_tokens, self.price)
                if counts["calls"]:
                    self._count(request, context, seconds=raw.seconds, **counts)
        if context.budget and limit < full and raw.finish == "length":
            self._count(request, context, failed=1)
            raise context.budget.cut_off(limit)
        return raw

    def _limit(self, request: Request) -> int:
        """Return a limit in tokens that no sound reply reaches."""
        return self._transport.options.get("max_tokens") or request.longest_reply

    def _validate(self, request: Request, messages: Messages, raw: RawReply, context: CallContext) -> None:
        """Raise InvalidReplyError if a reply is cut off, refused, empty, or answers a truncated prompt."""
        hint = None
        sent = estimate_messages(messages)
        if raw.finish == "content_filter":
            message = "the server's content filter held the reply back"
        elif raw.finish == "length":
            message = f"the reply was cut off after {raw.completion_tokens} tokens"
            looped = raw.completion_tokens >= 0.9 * self._limit(request)
            hint = _LOOP_HINT if looped else _LENGTH_HINT
        elif raw.refusal:
            message = f"the model refused: {self._transport.endpoint.short(raw.refusal)}"
        elif not raw.text.strip():
            message = "the reply has thoughts and no answer" if raw.thinking else "the reply is empty"
            hint = _THOUGHTS_HINT if raw.thinking else None
        elif sent > TRUNCATED and raw.prompt_tokens < sent / 2:
            message = (
                f"the server read only {raw.prompt_tokens} of about {sent} tokens: its context is too small"
            )
            hint = CONTEXT_HINT
        else:
            return
        self._count(request, context, failed=1)
        raise self._error(message, hint)

    def _back_off(self, error: RetryableError, attempt: int, context: CallContext) -> None:
        """Wait before the next try: all callers if the server names a time, else this caller, at random."""
        if error.retry_after:
            self._limiter.pause(error.retry_after * random.uniform(1, 1.1))  # noqa: S311
        else:
            longest = min(LONGEST_BACKOFF, BACKOFF * 2 ** (attempt - 1))
            self._limiter.sleep(random.uniform(0, longest), context.check)  # noqa: S311

    def _record_failure(self, last: RetryableError | RefusedError) -> None:
        """Count a failed request. Raise ModelUnavailableError after too many in a row."""
        with self._lock:
            self._failures += 1
            enough = self._failures >= MAX_FAILURES * self._limiter.concurrency
        behaviour = "refuses every request"
        if isinstance(last, RetryableError):
            enough = enough or (last.unreached and not self._replied)
            behaviour = "gives no replies"
        if enough:
            message = f"the server {behaviour}: {last.message}"
            error = ModelUnavailableError(message, where=self._transport.endpoint.host, hint=last.hint)
            self._limiter.stop(error)
            raise error

    def _error(self, message: str, hint: str | None) -> InvalidReplyError:
        return InvalidReplyError(message, where=self._transport.endpoint.host, hint=hint)

    def _count(self, request: Request, context: CallContext, **counts: Any) -> None:
        """Add fields of an `Entry` to the ledger and to the usage of the caller."""
        entry = Entry(request.document, request.stage, self.model, **counts)
        self.ledger.add(entry)
        context.add(entry)

    @contextmanager
    def _lock_of(self, key: str, check: Check) -> Iterator[None]:
        """Serialise equal requests: the second finds the reply in the cache. Raises what `check` raises."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with acquired(lock, check):
            yield


def _short_problem(problem: str) -> str:
    return single_spaced(problem)[:PROBLEM_LENGTH]


@dataclass(frozen=True)
class Spent:
    """Hold the tokens, dollars and calls that a question took, and its cached replies, which cost nothing."""

    tokens: dict[str, int]  # "in", "out"; "plan" is the part of both that planning took
    dollars: float | None
    kept: list[KeptReply]
    calls: int = 0
    failed_calls: int = 0


class QuestionModel(CallContext):
    """The language model of one question; safe for many threads.

    Args:
        chat: The language model of the memory.
        budget: Limit of the question; cached replies cost nothing.
        check: See `CallContext`.

    Raises:
        InputError: The budget is in dollars and the price of the model is not known.
    """

    def __init__(
        self, chat: Chat, budget: QuestionBudget | None = None, check: Check = never_cancelled
    ) -> None:
        super().__init__(budget, check)
        self.model = chat.model
        self._chat = chat
        if budget is not None:
            budget.use(chat.of_stage("plan").price)
            budget.use(chat.price)
        self._kept: list[KeptReply] = []
        self.exchanges: list[Exchange] = []

    def ask(self, request: Request, check: CheckReply[T], *, on_text: OnText = None) -> Reply[T]:
        """Ask as `Chat.ask` does, and note the exchange. Raises what `Chat.ask` raises."""
        if self.budget is not None:
            self.budget.reserve_for_answer(final=request.final)
        chat = self._chat.of_stage(request.stage)

        def recorded(value: Any) -> T:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self.exchanges.append(Exchange(request.stage, request.messages[-1]["content"], text))
            return check(value)

        reply = chat.ask(request, recorded, on_text=on_text, context=self)
        if reply.cached:
            tokens = {"in": reply.prompt_tokens, "out": reply.completion_tokens}
            if request.stage in PLAN_STAGES:
                tokens["plan"] = reply.prompt_tokens + reply.completion_tokens
            dollars = chat.dollars(reply.prompt_tokens, reply.completion_tokens)
            self._kept.append(KeptReply(request.stage, tokens, reply.seconds, dollars))
        return reply

    def spent(self) -> Spent:
        """Return the usage so far; `plan` is the part of the tokens that planning took."""
        usage, planning = self.usage, self.planning
        plan_tokens = planning.prompt_tokens + planning.completion_tokens
        tokens = {"in": usage.prompt_tokens, "out": usage.completion_tokens, "plan": plan_tokens}
        return Spent(tokens, usage.dollars, self._kept, usage.calls, usage.failed)
