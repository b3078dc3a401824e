"""A language model as those see it who ask it, and the one of a single question."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from gsw_graph.concurrency import Check, never_cancelled
from gsw_graph.model.results import KeptReply
from gsw_graph.models.chat.request import PLAN_STAGES
from gsw_graph.models.costs import Entry, QuestionBudget

if TYPE_CHECKING:
    from gsw_graph.models.chat.chat import Chat
    from gsw_graph.models.chat.request import Reply, Request, T


class LanguageModel(Protocol):
    """What answers requests: a `Chat`, or what wraps one. model: its name at the server."""

    model: str

    def ask(
        self, request: Request, check: Callable[[Any], T], *, on_text: Callable[[str], None] | None = None
    ) -> Reply[T]:
        """Return the reply to a request, as `Chat.ask` does."""


class CallContext:
    """Budget, cancellation and usage of one caller; safe for many threads.

    Args:
        budget: What it may spend.
        check: Called while a call waits; raises where its result is not wanted any more.

    `on_trouble` is called, in the thread that asks, with each problem of a call.
    """

    def __init__(self, budget: QuestionBudget | None = None, check: Check = never_cancelled) -> None:
        self.budget, self.check = budget, check
        self.on_trouble: Callable[[str], None] | None = None
        self.usage = self.planning = Entry()
        self._lock = threading.Lock()

    def add(self, entry: Entry) -> None:
        """Count what was asked for it."""
        with self._lock:
            self.usage += entry
            if entry.stage in PLAN_STAGES:
                self.planning += entry


@dataclass(frozen=True)
class Spent:
    """What a question took of a language model, and the cached replies that it got for nothing."""

    tokens: dict[str, int]  # "in", "out" and of both "plan"
    dollars: float | None
    kept: list[KeptReply]
    calls: int = 0
    failed_calls: int = 0


class QuestionModel:
    """The language model of one question; safe for many threads.

    Args:
        chat: What it asks.
        budget: What the question may spend; cached replies cost nothing.
        check: See `CallContext`.

    Raises:
        InputError: The budget is in dollars and the price of the model is not known.
    """

    def __init__(
        self, chat: Chat, budget: QuestionBudget | None = None, check: Check = never_cancelled
    ) -> None:
        self.model, self._chat = chat.model, chat
        if budget is not None:
            for other in (chat.of_stage("plan"), chat):
                budget.use(other.price)
        self._context = CallContext(budget, check)
        self._kept: list[KeptReply] = []

    @property
    def on_trouble(self) -> Callable[[str], None]:
        """Called, in the thread that asks, with each problem of a call and what comes next."""
        return self._context.on_trouble or (lambda _: None)

    @on_trouble.setter
    def on_trouble(self, callback: Callable[[str], None]) -> None:
        self._context.on_trouble = callback

    def ask(
        self, request: Request, check: Callable[[Any], T], *, on_text: Callable[[str], None] | None = None
    ) -> Reply[T]:
        """Ask, as `Chat.ask` does. Raises BudgetError too: the budget does not allow this request."""
        if self._context.budget is not None:
            self._context.budget.reserve_for_answer(final=request.final)
        chat = self._chat.of_stage(request.stage)
        reply = chat.ask(request, check, on_text=on_text, context=self._context)
        if reply.cached:
            tokens = {"in": reply.prompt_tokens, "out": reply.completion_tokens}
            if request.stage in PLAN_STAGES:
                tokens["plan"] = reply.prompt_tokens + reply.completion_tokens
            dollars = chat.dollars(reply.prompt_tokens, reply.completion_tokens)
            self._kept.append(KeptReply(request.stage, tokens, reply.seconds, dollars))
        return reply

    def spent(self) -> Spent:
        """Return what was taken so far; `plan` is the part of the tokens that planning took."""
        usage, planning = self._context.usage, self._context.planning
        tokens = {
            "in": usage.prompt_tokens,
            "out": usage.completion_tokens,
            "plan": planning.prompt_tokens + planning.completion_tokens,
        }
        return Spent(tokens, usage.dollars, self._kept, usage.calls, usage.failed)
