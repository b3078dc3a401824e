"""What calls took, what they cost, and how much they may."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, StoppedError
from gsw_graph.models.chat.cache import Cache, Entry, Ledger, stored, total
from gsw_graph.models.chat.limits import Budget, dollars, price_of

ONE = Entry("a.txt", "extract", "m", calls=1, prompt_tokens=100, completion_tokens=50, prompt_estimate=90, seconds=1.5, dollars=0.25)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    cache = Cache(tmp_path / "llm.sqlite")
    yield cache
    cache.close()


def test_sums_by_document_stage_and_model(cache: Cache) -> None:
    ledger = Ledger(cache)
    assert (ledger.rows(), ledger.total(), ledger.stored()) == ([], Entry(), [])
    ledger.add(ONE)
    ledger.add(ONE)
    ledger.add(Entry("a.txt", "extract", "m", cached=1))
    ledger.add(Entry("a.txt", "mend", "m", calls=1, failed=1, seconds=2, estimated=1))
    ledger.add(Entry("b.txt", "extract", "m", calls=1, prompt_tokens=7))
    extract = Entry("a.txt", "extract", "m", 2, 0, 1, 200, 100, 180, 0, 3.0, 0.5)
    assert ledger.rows()[0] == extract
    assert [(row.document, row.stage) for row in ledger.rows()] == [("a.txt", "extract"), ("a.txt", "mend"), ("b.txt", "extract")]
    assert ledger.total() == Entry("", "", "m", 4, 1, 1, 207, 100, 180, 1, 5.0, 0.5)
    assert ledger.stored() == ledger.rows()


def test_only_calls_that_brought_something_show_that_a_model_replies(cache: Cache) -> None:
    ledger = Ledger(cache)
    ledger.add(Entry("a.txt", "extract", "m", calls=1, failed=1, seconds=2))
    assert not Ledger(cache).has_replies("m")
    ledger.add(ONE)
    assert Ledger(cache).has_replies("m")
    assert not Ledger(cache).has_replies("m2")


def test_the_ledger_of_a_cache_that_is_not_open(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path / "none")
    assert stored(settings) == []
    assert not settings.cache_dir.exists()
    cache = Cache(settings.cache_dir / "llm.sqlite")
    Ledger(cache).add(ONE)
    cache.close()
    assert stored(settings) == [ONE]


def test_money_is_none_until_a_price_is_known() -> None:
    free = Entry("", "", "m", calls=1)
    assert (free + free).dollars is None
    assert (free + ONE).dollars == (ONE + free).dollars == 0.25
    assert total([]) == Entry()
    both = total([ONE, Entry("a.txt", "plan", "m2")])
    assert (both.document, both.stage, both.model) == ("a.txt", "", "")


def test_prices() -> None:
    assert price_of("gpt-4.1-mini") == price_of("gpt-4.1-mini-2025-04-14") == price_of("openai/GPT-4.1-mini") == (0.40, 1.60)
    assert price_of("gpt-4.1") != price_of("gpt-4.1-mini")
    assert price_of("claude-haiku-4-5-20251001") == price_of("claude-haiku-4-5")
    for unknown in ("llama3.1", "gpt-5-pro", "gpt-4.1-mini-tuned", "gpt", ""):
        assert price_of(unknown) is None
    assert dollars((0.40, 1.60), 1_000_000, 500_000) == pytest.approx(1.20)


@pytest.mark.parametrize(
    ("text", "limit", "unit"),
    [
        ("2.00", 2, "$"),
        ("$2", 2, "$"),
        (" .5 ", 0.5, "$"),
        ("1Mtok", 1e6, "tokens"),
        ("500ktok", 5e5, "tokens"),
        ("1.5 Mtokens", 1.5e6, "tokens"),
        ("20,000tok", 2e4, "tokens"),
        ("$1,250.50", 1250.5, "$"),
        ("1_000_000 tok", 1e6, "tokens"),
        ("$ 2", 2, "$"),
    ],
)
def test_budgets_are_read(text: str, limit: float, unit: str) -> None:
    budget = Budget.parse(text)
    assert (budget.limit, budget.unit) == (limit, unit)


@pytest.mark.parametrize(
    "text", ["", "two", "-1", "0", "0tok", "1Gtok", "1M", "2 euros", "nan", "inf", "1e9", "2,50", "2,5", "2 50", "1,00Mtok", "1,0000", ",5"]
)
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(InputError):
        Budget.parse(text)


def test_a_budget_in_dollars_needs_a_price() -> None:
    with pytest.raises(InputError, match="GSWGRAPH_LLM_PRICE"):
        Budget.parse("2").use(None)
    Budget.parse("1Mtok").use(None)


def test_what_does_not_fit_is_refused() -> None:
    budget = Budget.parse("100tok")
    first = budget.reserve(30, 10)
    budget.settle(first, 50, 20)
    assert budget.spent == 70
    budget.settle(budget.reserve(20, 10))  # a call that failed took nothing
    assert budget.spent == 70
    with pytest.raises(StoppedError, match="the budget of 100 tokens is used up: 70 tokens spent, the next call takes about 31 tokens"):
        budget.reserve(20, 11)
    budget.settle(budget.reserve(20, 10), 20, 10)
    assert budget.spent == 100


def test_money() -> None:
    budget = Budget.parse("$1")
    budget.use((1.0, 10.0))
    budget.settle(budget.reserve(0, 50_000), 100_000, 50_000)
    assert budget.spent == pytest.approx(0.6)
    with pytest.raises(StoppedError, match=r"the budget of \$1.00 is used up: \$0.60 spent, the next call takes about \$0.50"):
        budget.reserve(0, 50_000)
    budget.charge(budget.cost(0, 25_000))


def test_who_might_still_fit_waits_for_those_under_way() -> None:
    budget = Budget.parse("100tok")
    first, done = budget.reserve(80, 0), threading.Event()

    def second() -> None:
        budget.settle(budget.reserve(50, 0), 50, 0)
        done.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert not done.wait(0.1)
    budget.settle(first, 10, 0)
    thread.join(10)
    assert done.is_set()
    assert budget.spent == 60
