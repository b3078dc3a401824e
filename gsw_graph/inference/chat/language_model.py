"""A language model as those see it who ask it, and one that counts what a single question takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from gsw_graph.inference.chat.asker import Asker
from gsw_graph.results import KeptReply
from gsw_graph.turns import Check, wanted

if TYPE_CHECKING:
    from gsw_graph.inference.chat.chat import Chat
    from gsw_graph.inference.chat.request import Reply, Request, T
    from gsw_graph.inference.costs.budget import QuestionBudget


class LanguageModel(Protocol):
    """What answers requests: a `Chat`, or what stands before one. model: as its server knows it."""

    model: str

    def ask(
        self, request: Request, check: Callable[[Any], T], *, on_text: Callable[[str], None] | None = None
    ) -> Reply[T]:
        """The reply to a request, as of `Chat.ask`."""


@dataclass(frozen=True)
class Spent:
    """What a question took of a language model, and the replies that were there already."""

    tokens: dict[str, int]  # "in", "out"
    dollars: float | None
    kept: list[KeptReply]
    calls: int = 0
    failed_calls: int = 0


class QuestionModel:
    """The language model of one question, safe for many threads. seconds of replies that were there
    already are in `spent().kept`.

    budget: what the question may spend; kept replies take nothing of it. check: called while a call waits;
    raises where the question is not wanted any more. Raises InputError for a budget in dollars where the
    model has no price.
    """

    def __init__(self, chat: Chat, budget: QuestionBudget | None = None, check: Check = wanted) -> None:
        self.model, self._chat = chat.model, chat
        if budget is not None:
            budget.use(chat.price)
        self._asker = Asker(budget, check)
        self._kept: list[KeptReply] = []

    @property
    def on_trouble(self) -> Callable[[str], None]:
        """Told, from the thread that asks, of each call that brought nothing: why, and what comes next."""
        return self._asker.on_trouble

    @on_trouble.setter
    def on_trouble(self, told: Callable[[str], None]) -> None:
        self._asker.on_trouble = told

    def ask(
        self, request: Request, check: Callable[[Any], T], *, on_text: Callable[[str], None] | None = None
    ) -> Reply[T]:
        """As `Chat.ask`. BudgetError, a ReplyError: the question's budget has no room for this."""
        if self._asker.budget is not None:
            self._asker.budget.hold(final=request.final)
        reply = self._chat.ask(request, check, on_text=on_text, asker=self._asker)
        if reply.cached:
            tokens = {"in": reply.prompt_tokens, "out": reply.completion_tokens}
            dollars = self._chat.dollars(reply.prompt_tokens, reply.completion_tokens)
            self._kept.append(KeptReply(request.stage, tokens, reply.seconds, dollars))
        return reply

    def spent(self) -> Spent:
        """What was taken so far."""
        took = self._asker.total()
        tokens = {"in": took.prompt_tokens, "out": took.completion_tokens}
        return Spent(tokens, took.dollars, self._kept, took.calls, took.failed)
