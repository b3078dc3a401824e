"""Bounds of the calls of a language model: prices and budgets, and the limits of its server that
all threads share."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from gsw_graph.concurrency import Check, never_cancelled
from gsw_graph.errors import BudgetError, InputError, ModelError, ModelUnavailableError
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from typing_extensions import Self

POLL_SECONDS = 0.25  # between checks whether a call is still wanted

# Prices

BATCH_SHARE = 0.5  # of the list price, through the Batch API
_DATE = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")

Price = tuple[float, float]  # dollars for a million prompt tokens, for a million completion tokens
MaybePrice = Price | None


@cache
def _prices() -> Fields:
    text = files("gsw_graph.models").joinpath("prices.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def price_of(model: str) -> MaybePrice:
    """Return the price of a model; None if the price is not known.

    A date at the end of the name, and the maker before the name, are ignored.
    """
    name = _DATE.sub("", model.rpartition("/")[2].lower())
    price = _prices().get(name)
    return (price[0], price[1]) if isinstance(price, list) else None


def dollars(price: Price, prompt_tokens: float, completion_tokens: float) -> float:
    """Return the price of some tokens in dollars."""
    return (price[0] * prompt_tokens + price[1] * completion_tokens) / 1_000_000


# Budgets

# 2,50 may be meant as two and a half: it is not a number here.
_NUMBER = r"\d{1,3}(?:[,_ ]\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+"
_BUDGET = re.compile(rf"\$?\s*(?P<dollars>{_NUMBER})|(?P<tokens>{_NUMBER})\s*(?P<unit>k|m|)tok(?:ens)?")
_ANSWER_TOKENS = (1_400, 100)  # of prompt and reply, with evidence of the usual size


class Budget:
    """Limit the cost of calls; safe for many threads.

    Each call reserves its estimated cost, and is settled when the cost is known. So the sum stays below the
    limit, except for errors of the estimates.

    Args:
        limit: Limit in dollars or tokens.
        unit: "$", which needs the price of the model (`use`), or "tokens" of prompts and replies together.
    """

    _no_budget_hint = "See what a load would take with --dry-run"
    _hint = "What is paid for is kept; the same call with a larger budget goes on"
    _error: type[ModelError] = ModelUnavailableError

    def __init__(self, limit: float, unit: str) -> None:
        self.limit, self.unit = limit, unit
        self._price: MaybePrice = None
        self.spent = 0.0
        self._reserved = self._held_back = 0.0
        self._changed = threading.Condition()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2.00` or `$2` as dollars; `1Mtok`, `500ktok` or `20,000tok` as tokens. Raises InputError."""
        match = _BUDGET.fullmatch(text.strip().lower())
        if not match:
            hint = "Give dollars, such as 2.00, or tokens, such as 500ktok or 1Mtok"
            raise InputError(f"{text!r} is no budget", hint=hint)
        number = re.sub("[,_ ]", "", match["dollars"] or match["tokens"])
        limit = float(number) * {"k": 1e3, "m": 1e6}.get(match["unit"], 1)
        if not limit:
            raise InputError("a budget of nothing pays for no call", hint=cls._no_budget_hint)
        return cls(limit, "$" if match["dollars"] else "tokens")

    def use(self, price: MaybePrice) -> None:
        """Set the price of the model. Raises InputError if the limit is in dollars and no price is known."""
        if self.unit == "$" and price is None:
            message = "a budget in dollars needs the price of the model, which is not known"
            hint = "Set GSWGRAPH_LLM_PRICE, or give the budget in tokens, such as 1Mtok"
            raise InputError(message, hint=hint)
        self._price = price

    def reserve(self, prompt_tokens: float, completion_tokens: float, price: MaybePrice = None) -> float:
        """Reserve the estimated cost of a call, and return the cost. Wait if calls under way may leave
        enough.

        Args:
            prompt_tokens: Estimated tokens of the prompt.
            completion_tokens: Estimated tokens of the reply.
            price: Price of the called model, if several share the budget.

        Raises:
            ModelUnavailableError: The call does not fit. The budget of a question raises BudgetError instead.
        """
        amount = self.cost(prompt_tokens, completion_tokens, price)
        with self._changed:
            while not self._fits(self._reserved + amount):
                if not self._reserved or not self._fits(amount):
                    raise self._used_up(amount)
                self._changed.wait()
            self._reserved += amount
        return amount

    def _fits(self, amount: float) -> bool:
        return self.spent + amount <= self.limit - self._held_back

    def settle(
        self,
        reserved: float,
        prompt_tokens: float = 0,
        completion_tokens: float = 0,
        price: MaybePrice = None,
    ) -> None:
        """Give back the reservation of a call, and count its real cost."""
        with self._changed:
            self._reserved -= reserved
            if self._reserved < 1e-9:  # floats do not sum to zero
                self._reserved = 0.0
            self.spent += self.cost(prompt_tokens, completion_tokens, price)
            self._changed.notify_all()

    def charge(self, amount: float) -> None:
        """Count an amount as spent, or give it back if it is negative. Raises ModelUnavailableError: it does
        not fit."""
        with self._changed:
            if amount > 0 and self.spent + self._reserved + amount > self.limit:
                raise self._used_up(amount)
            self.spent += amount

    def cost(self, prompt_tokens: float, completion_tokens: float, price: MaybePrice = None) -> float:
        """Return the cost of some tokens, in the unit of the budget."""
        if self.unit == "$" and (price := price or self._price):
            return dollars(price, prompt_tokens, completion_tokens)
        return prompt_tokens + completion_tokens

    def _used_up(self, amount: float) -> ModelError:
        held_back = f"{self._show(self._held_back)} held back for the answer, " if self._held_back else ""
        message = (
            f"the budget of {self._show(self.limit)} is used up: {self._show(self.spent)} spent, {held_back}"
            f"the next call takes about {self._show(amount)}"
        )
        return self._error(message, hint=self._hint)

    def _show(self, amount: float) -> str:
        if self.unit == "$":
            return f"${amount:.4g}" if amount < 0.1 else f"${amount:.2f}"
        return f"{amount:,.0f} tokens"


class QuestionBudget(Budget):
    """Limit the cost of one question. A call that does not fit raises BudgetError, and the question goes on
    without it."""

    _no_budget_hint = "Ask without a model: --no-llm"
    _hint = "Replies so far are kept; ask again with a larger budget"
    _error = BudgetError

    def reserve_for_answer(self, *, final: bool) -> None:
        """Hold back the cost of an answer, at most half the budget. The `final` answer may use all."""
        with self._changed:
            self._held_back = 0.0 if final else min(self.limit / 2, self.cost(*_ANSWER_TOKENS))

    def reply_tokens(self, prompt_tokens: float, price: MaybePrice = None) -> int:
        """Return how many tokens the reply to such a prompt may have. Calls at the same time share the
        rest."""
        with self._changed:
            left = self.limit - self._held_back - self.spent - self.cost(prompt_tokens, 0, price)
        token = self.cost(0, 1, price)
        return max(1, int(left / token)) if token else sys.maxsize

    def cut_off(self, tokens: int) -> BudgetError:
        """Return the error for a reply that was longer than the rest of the budget."""
        message = f"the budget of {self._show(self.limit)} is used up: the reply did not end within the "
        return BudgetError(f"{message}{tokens:,} tokens that were left", hint=self._hint)


# Limits of a server


class Limiter:
    """Limit the number of calls at the same time.

    A busy server gets half as many calls, and more again as it answers.

    Args:
        concurrency: Calls at once.
    """

    def __init__(self, concurrency: int) -> None:
        self._most = self._limit = float(concurrency)
        self._changed = threading.Condition()
        self._active = 0
        self._paused_until = 0.0
        self._stopped: Exception | None = None

    @property
    def concurrency(self) -> int:
        """Return how many calls may now be under way at once."""
        return int(self._limit)

    @contextmanager
    def permit(self, check: Check = never_cancelled) -> Iterator[None]:
        """Wait until a call may go. Raises what `stop` was given, and what `check` raises."""
        with self._changed:
            self._raise_if_stopped()
            while True:
                paused = self._paused_until - time.monotonic()
                if paused <= 0 and self._active < self.concurrency:
                    break
                self._wait(max(paused, 0) or POLL_SECONDS, check)
            self._active += 1
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def sleep(self, seconds: float, check: Check = never_cancelled) -> None:
        """Keep this thread waiting. Raises as `permit`."""
        end = time.monotonic() + seconds
        with self._changed:
            self._raise_if_stopped()
            while (left := end - time.monotonic()) > 0:
                self._wait(left, check)

    def pause(self, seconds: float) -> None:
        """Begin no call for so long."""
        self._paused_until = max(self._paused_until, time.monotonic() + seconds)

    def slow_down(self) -> None:
        """Halve the calls at once: the server has too many."""
        with self._changed:
            self._limit = max(1.0, self._limit / 2)

    def speed_up(self) -> None:
        """Allow a little more: the server answered."""
        with self._changed:
            self._limit = min(self._most, self._limit + 0.25)

    def stop(self, error: Exception) -> None:
        """Raise this in all who wait, and all who come."""
        with self._changed:
            self._stopped = self._stopped or error
            self._changed.notify_all()

    def _wait(self, seconds: float, check: Check) -> None:
        self._changed.wait(min(seconds, POLL_SECONDS))
        self._raise_if_stopped()
        check()

    def _raise_if_stopped(self) -> None:
        if self._stopped:
            raise copy(self._stopped)  # for each thread its own: a traceback grows where it is raised
