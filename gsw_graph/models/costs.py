"""What language models cost: the ledger of calls, prices, and budgets of loads and questions."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gsw_graph.config import Settings
from gsw_graph.errors import BudgetError, InputError, ModelError, StoppedError
from gsw_graph.models.chat.cache import FILE, Cache

if TYPE_CHECKING:
    from typing_extensions import Self

# Ledger


@dataclass(frozen=True, slots=True)
class Entry:
    """What was asked for one document, stage and model.

    Attributes:
        calls: Requests sent to the server, repairs among them.
        failed: Those that gave no usable reply.
        cached: Replies from the cache, which took no call.
        prompt_tokens: As the server counted them; like `completion_tokens` estimates for `estimated` calls.
        prompt_estimate: The same prompts as `tokens.estimate_messages` counts them.
        seconds: Of the calls, without waiting for limits.
        dollars: None where no price is known.
    """

    document: str = ""
    stage: str = ""
    model: str = ""
    calls: int = 0
    failed: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_estimate: int = 0
    estimated: int = 0
    seconds: float = 0.0
    dollars: float | None = None

    def __add__(self, other: Entry) -> Entry:
        """Return the sum; of document, stage and model what both have in common."""
        values: dict[str, Any] = {}
        for name in _NAMES:
            mine, its = getattr(self, name), getattr(other, name)
            if name in _KEY:
                values[name] = mine if mine == its else ""
            else:
                values[name] = its if mine is None else mine if its is None else mine + its
        return Entry(**values)


_NAMES = [field.name for field in fields(Entry)]
_KEY = _NAMES[:3]
_ADD = ", ".join(f"{name} = {name} + excluded.{name}" for name in _NAMES[3:-1])
_UPSERT = f"""INSERT INTO ledger ({", ".join(_NAMES)}, answered)
    VALUES ({", ".join("?" * len(_NAMES))}, ?)
    ON CONFLICT DO UPDATE SET {_ADD}, answered = answered + excluded.answered,
    dollars = CASE WHEN excluded.dollars IS NULL THEN dollars
    ELSE coalesce(dollars, 0) + excluded.dollars END"""  # noqa: S608
_SELECT = f"SELECT {', '.join(_NAMES)} FROM ledger ORDER BY document, stage, model"  # noqa: S608
_SUMS = f"""SELECT '', stage, model, sum(answered), {", ".join(f"sum({name})" for name in _NAMES[4:])}
    FROM ledger GROUP BY stage, model"""  # noqa: S608


class Ledger:
    """Counts calls, in memory for this run and in the cache file for good; safe for many threads."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._rows: dict[tuple[str, str, str], Entry] = {}
        self._lock = threading.Lock()

    def add(self, entry: Entry) -> None:
        """Count calls, in memory and on disk."""
        with self._cache.writing() as db:
            db.execute(_UPSERT, (*astuple(entry), entry.calls if entry.prompt_tokens else 0))
        with self._lock:
            key = (entry.document, entry.stage, entry.model)
            self._rows[key] = self._rows[key] + entry if key in self._rows else entry

    def rows(self) -> list[Entry]:
        """Return the entries of this run."""
        with self._lock:
            return [self._rows[key] for key in sorted(self._rows)]

    def total(self) -> Entry:
        """Return the sum of this run."""
        return total(self.rows())

    def stored(self) -> list[Entry]:
        """Return the entries of all runs with this cache."""
        with self._cache.reading() as db:
            return [Entry(*row) for row in db.execute(_SELECT)]

    def stages(self) -> list[Entry]:
        """Return the sums of all runs by stage and model, to estimate from; calls are those with tokens."""
        with self._cache.reading() as db:
            return [Entry(*row) for row in db.execute(_SUMS)]


def total(rows: Iterable[Entry]) -> Entry:
    """Return the sum of some entries."""
    first, *others = [*rows] or [Entry()]
    for entry in others:
        first += entry
    return first


def stored(settings: Settings) -> list[Entry]:
    """Read the ledger of the cache that the settings name; empty where there is no cache. Raises
    InputError."""
    path = settings.cache_dir / FILE
    if not path.exists():
        return []
    cache = Cache(path)
    try:
        return Ledger(cache).stored()
    finally:
        cache.close()


# Prices

BATCH_SHARE = 0.5  # of the list price, through the Batch API
_DATE = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")

Price = tuple[float, float]  # dollars for a million prompt tokens, for a million completion tokens


@cache
def _prices() -> dict[str, Any]:
    text = files("gsw_graph.models").joinpath("prices.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def price_of(model: str) -> Price | None:
    """Return the price of a model; None where it is not known.

    A date at the end of the name and the maker in front of it do not matter; another ending does.
    """
    price = _prices().get(_DATE.sub("", model.rpartition("/")[2].lower()))
    return (price[0], price[1]) if isinstance(price, list) else None


def dollars(price: Price, prompt_tokens: float, completion_tokens: float) -> float:
    """Return what so many tokens cost."""
    return (price[0] * prompt_tokens + price[1] * completion_tokens) / 1_000_000


# Budgets

# 2,50 may be meant as two and a half: it is not a number here.
_NUMBER = r"(\d{1,3}(?:[,_ ]\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)"
_MONEY = re.compile(rf"\$?\s*{_NUMBER}")
_TOKENS = re.compile(rf"{_NUMBER}\s*(k|m?)tok(?:ens)?")
_ANSWER_TOKENS = (1_400, 100)  # of prompt and reply, with evidence of the usual size


class Budget:
    """A limit on what calls cost; safe for many threads.

    Every call reserves about what it will cost and is settled when that is known. So what is spent stays
    below the limit but for the error of the estimates.

    Args:
        limit: In dollars or tokens.
        unit: "$", which needs the price of the model (`use`), or "tokens" of prompts and replies together.
    """

    _no_budget_hint = "See what a load would take with --dry-run"

    def __init__(self, limit: float, unit: str) -> None:
        self.limit, self.unit = limit, unit
        self._price: Price | None = None
        self.spent = 0.0
        self._reserved = self._held_back = 0.0
        self._changed = threading.Condition()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2.00` or `$2` as dollars; `1Mtok`, `500ktok` or `20,000tok` as tokens. Raises InputError."""
        plain = text.strip().lower()
        if match := _TOKENS.fullmatch(plain):
            limit, unit = _number(match[1]) * {"": 1, "k": 1e3, "m": 1e6}[match[2]], "tokens"
        elif match := _MONEY.fullmatch(plain):
            limit, unit = _number(match[1]), "$"
        else:
            hint = "Give dollars, such as 2.00, or tokens, such as 500ktok or 1Mtok"
            raise InputError(f"{text!r} is no budget", hint=hint)
        if not limit:
            raise InputError("a budget of nothing pays for no call", hint=cls._no_budget_hint)
        return cls(limit, unit)

    def use(self, price: Price | None) -> None:
        """Set the price of the model. Raises InputError where the limit is in dollars and none is known."""
        if self.unit == "$" and price is None:
            hint = "Set GSWGRAPH_LLM_PRICE, or give the budget in tokens, such as 1Mtok"
            raise InputError(
                "a budget in dollars needs the price of the model, which is not known", hint=hint
            )
        self._price = price

    def reserve(self, prompt_tokens: float, completion_tokens: float, price: Price | None = None) -> float:
        """Reserve what a call will cost, and return it; wait where calls under way may yet leave enough.

        Args:
            prompt_tokens: About as many.
            completion_tokens: About as many.
            price: Of the model that is called, where several share the budget.

        Raises:
            StoppedError: It does not fit; of the budget of a question BudgetError.
        """
        amount = self.cost(prompt_tokens, completion_tokens, price)
        with self._changed:
            while self.spent + self._reserved + amount > self.limit - self._held_back:
                if not self._reserved or self.spent + amount > self.limit - self._held_back:
                    raise self._used_up(amount)
                self._changed.wait()
            self._reserved += amount
        return amount

    def settle(
        self,
        reserved: float,
        prompt_tokens: float = 0,
        completion_tokens: float = 0,
        price: Price | None = None,
    ) -> None:
        """Give back what a call reserved, and count what it took."""
        with self._changed:
            self._reserved -= reserved
            self._reserved = self._reserved if self._reserved > 1e-9 else 0.0  # floats do not sum to zero
            self.spent += self.cost(prompt_tokens, completion_tokens, price)
            self._changed.notify_all()

    def charge(self, amount: float) -> None:
        """Count an amount as spent, or give it back where it is negative. Raises StoppedError: it does not
        fit."""
        with self._changed:
            if amount > 0 and self.spent + self._reserved + amount > self.limit:
                raise self._used_up(amount)
            self.spent += amount

    def cost(self, prompt_tokens: float, completion_tokens: float, price: Price | None = None) -> float:
        """Return what so many tokens cost, in the unit of the budget."""
        if self.unit == "$" and (price := price or self._price):
            return dollars(price, prompt_tokens, completion_tokens)
        return prompt_tokens + completion_tokens

    def _used_up(self, amount: float) -> ModelError:
        hint = "What is paid for is kept; load again with a larger budget to go on"
        return StoppedError(self._message(amount), hint=hint)

    def _message(self, amount: float) -> str:
        held_back = f"{self._show(self._held_back)} held back for the answer, " if self._held_back else ""
        return (
            f"the budget of {self._show(self.limit)} is used up: {self._show(self.spent)} spent, {held_back}"
            f"the next call takes about {self._show(amount)}"
        )

    def _show(self, amount: float) -> str:
        if self.unit == "$":
            return f"${amount:.4g}" if amount < 0.1 else f"${amount:.2f}"
        return f"{amount:,.0f} tokens"


class QuestionBudget(Budget):
    """The limit of one question: a call that does not fit raises BudgetError, and the question goes on with
    what it has."""

    _no_budget_hint = "Ask without a model: --no-llm"
    _hint = "Replies so far are kept; ask again with a larger budget"

    def reserve_for_answer(self, *, final: bool) -> None:
        """Hold back what an answer takes, half the budget at most; the `final` answer may take all."""
        with self._changed:
            self._held_back = 0.0 if final else min(self.limit / 2, self.cost(*_ANSWER_TOKENS))

    def reply_tokens(self, prompt_tokens: float, price: Price | None = None) -> int:
        """Return how many tokens the reply to such a prompt may take. Calls at once share what is left."""
        with self._changed:
            left = self.limit - self._held_back - self.spent - self.cost(prompt_tokens, 0, price)
        token = self.cost(0, 1, price)
        return max(1, int(left / token)) if token else sys.maxsize

    def cut_off(self, tokens: int) -> BudgetError:
        """Return the error for a reply that was longer than what was left."""
        message = f"the budget of {self._show(self.limit)} is used up: the reply did not end within the "
        return BudgetError(f"{message}{tokens:,} tokens that were left", hint=self._hint)

    def _used_up(self, amount: float) -> ModelError:
        return BudgetError(self._message(amount), hint=self._hint)


def _number(text: str) -> float:
    return float(re.sub("[,_ ]", "", text))
