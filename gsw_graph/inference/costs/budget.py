"""How much a load or a question may spend, in dollars or in tokens."""

from __future__ import annotations

import re
import sys
import threading
from typing import TYPE_CHECKING

from gsw_graph.errors import BudgetError, InputError, ModelError, StoppedError
from gsw_graph.inference.costs.prices import Price, dollars

if TYPE_CHECKING:
    from typing_extensions import Self

# 2,50 may be meant as two and a half: it is none
_NUMBER = r"(\d{1,3}(?:[,_ ]\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)"
_MONEY = re.compile(rf"\$?\s*{_NUMBER}")
_ANSWER = (1_400, 100)  # tokens of prompt and reply: the instructions, and evidence of common size
_LARGER = "Replies so far are kept; ask again with a larger budget"
_TOKENS = re.compile(rf"{_NUMBER}\s*(k|m?)tok(?:ens)?")


class Budget:
    """A limit on what calls cost; safe for many threads.

    Every call reserves what it will about cost and is settled when that is known. A call that does not fit is
    refused, calls under way end: so what is spent stays under the limit but for the error of the estimates.
    limit: in dollars (unit "$") or in tokens of prompts and completions together (unit "tokens"); dollars
    need the price of the model, by `use`.
    """

    _nothing = "See what a load would take with --dry-run"

    def __init__(self, limit: float, unit: str) -> None:
        self.limit, self.unit = limit, unit
        self._price: Price | None = None
        self.spent = 0.0
        self._reserved = self._held = 0.0
        self._changed = threading.Condition()

    @classmethod
    def parse(cls, text: str) -> Self:
        """`2.00` or `$2` are dollars, `1Mtok`, `500ktok` or `20000tok` are tokens; thousands may be set
        apart, as `20,000tok`. Raises InputError."""
        plain = text.strip().lower()
        if found := _TOKENS.fullmatch(plain):
            limit, unit = _number(found[1]) * {"": 1, "k": 1e3, "m": 1e6}[found[2]], "tokens"
        elif found := _MONEY.fullmatch(plain):
            limit, unit = _number(found[1]), "$"
        else:
            raise InputError(
                f"{text!r} is no budget",
                hint="Give dollars, such as 2.00, or tokens, such as 500ktok or 1Mtok",
            )
        if not limit:
            raise InputError("a budget of nothing pays for no call", hint=cls._nothing)
        return cls(limit, unit)

    def use(self, price: Price | None) -> None:
        """What the model costs. Raises InputError where that is not known and the limit is in dollars."""
        if self.unit == "$" and price is None:
            hint = "Set GSWGRAPH_LLM_PRICE, or give the budget in tokens, such as 1Mtok"
            raise InputError(
                "a budget in dollars needs the price of the model, which is not known", hint=hint
            )
        self._price = price

    def reserve(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Sets aside what a call of so many tokens costs, and says how much that is. Waits where calls under
        way may yet leave enough.

        Raises StoppedError, or BudgetError of a question, where it does not fit.
        """
        amount = self._cost(prompt_tokens, completion_tokens)
        with self._changed:
            while self.spent + self._reserved + amount > self.limit - self._held:
                if not self._reserved or self.spent + amount > self.limit - self._held:
                    raise self._used_up(amount)
                self._changed.wait()
            self._reserved += amount
        return amount

    def charge(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Counts what a request of a batch will about cost, at the price of batches, and says how much
        that is. Raises StoppedError where it does not fit."""
        amount = self._cost(prompt_tokens, completion_tokens, batch=True)
        with self._changed:
            if self.spent + self._reserved + amount > self.limit:
                raise self._used_up(amount)
            self.spent += amount
        return amount

    def correct(self, charged: float, prompt_tokens: float, completion_tokens: float) -> None:
        """Counts what a request of a batch took in place of what was charged for it, 0 where an earlier
        run sent it."""
        with self._changed:
            self.spent += self._cost(prompt_tokens, completion_tokens, batch=True) - charged
            self._changed.notify_all()

    def settle(self, amount: float, prompt_tokens: float = 0, completion_tokens: float = 0) -> None:
        """Gives back what was set aside for a call and counts what it took, nothing where it failed."""
        with self._changed:
            self._reserved -= amount
            self.spent += self._cost(prompt_tokens, completion_tokens)
            self._reserved = (
                self._reserved if self._reserved > 1e-9 else 0.0
            )  # sums of floats do not come back to zero
            self._changed.notify_all()

    def _used_up(self, amount: float) -> ModelError:
        return StoppedError(
            self._said(amount), hint="What is paid for is kept; load again with a larger budget to go on"
        )

    def _said(self, amount: float) -> str:
        held = f"{self._show(self._held)} held back for the answer, " if self._held else ""
        return (
            f"the budget of {self._show(self.limit)} is used up: {self._show(self.spent)} spent, {held}the "
            f"next call takes about {self._show(amount)}"
        )

    def _cost(self, prompt_tokens: float, completion_tokens: float, batch: bool = False) -> float:
        if self.unit == "$" and self._price:
            return dollars(self._price, prompt_tokens, completion_tokens, batch=batch)
        return prompt_tokens + completion_tokens

    def _show(self, amount: float) -> str:
        return (
            f"${amount:.4g}"
            if self.unit == "$" and amount < 0.1
            else f"${amount:.2f}"
            if self.unit == "$"
            else f"{amount:,.0f} tokens"
        )


class QuestionBudget(Budget):
    """The limit of one question: a call that does not fit raises BudgetError, after which the question goes
    on with what it has."""

    _nothing = "Ask without a model: --no-llm"

    def hold(self, *, final: bool) -> None:
        """What comes before the answer leaves room for it: about what an answer takes, half the budget at
        most. The answer itself, `final`, may take all that is left."""
        with self._changed:
            self._held = 0.0 if final else min(self.limit / 2, self._cost(*_ANSWER))

    def room(self, prompt_tokens: float) -> int:
        """How many tokens the reply to such a prompt may take at most: all that calls before it left. Calls
        at the same time share what is left."""
        with self._changed:
            left = self.limit - self._held - self.spent - self._cost(prompt_tokens, 0)
        each = self._cost(0, 1)
        return max(1, int(left / each)) if each else sys.maxsize

    def cut_off(self, tokens: int) -> BudgetError:
        """Where the reply was longer than what was left."""
        return BudgetError(
            f"the budget of {self._show(self.limit)} is used up: the reply did not end within the "
            f"{tokens:,} tokens that were left",
            hint=_LARGER,
        )

    def _used_up(self, amount: float) -> ModelError:
        return BudgetError(self._said(amount), hint=_LARGER)


def _number(text: str) -> float:
    return float(re.sub("[,_ ]", "", text))
