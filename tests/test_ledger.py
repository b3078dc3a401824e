"""What calls took, what they cost, and how much they may."""

from __future__ import annotations

import threading

import pytest

from gsw_graph.errors import InputError, ModelUnavailableError
from gsw_graph.models.chat.cache import Entry, total
from gsw_graph.models.chat.limits import Budget, dollars, price_of

ONE = Entry(
    "a.txt",
    "extract",
    "m",
    calls=1,
    prompt_tokens=100,
    completion_tokens=50,
    prompt_estimate=90,
    seconds=1.5,
    dollars=0.25,
)


def test_money_is_none_until_a_price_is_known():
    free = Entry("", "", "m", calls=1)
    assert (free + free).dollars is None
    assert (free + ONE).dollars == (ONE + free).dollars == 0.25
    assert total([]) == Entry()
    both = total([ONE, Entry("a.txt", "plan", "m2")])
    assert both.document == "a.txt"
    assert both.stage == ""
    assert both.model == ""


def test_prices():
    assert (
        price_of("gpt-4.1-mini")
        == price_of("gpt-4.1-mini-2025-04-14")
        == price_of("openai/GPT-4.1-mini")
        == (0.40, 1.60)
    )
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
def test_budgets_are_read(text, limit, unit):
    budget = Budget.parse(text)
    assert budget.limit == limit
    assert budget.unit == unit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "two",
        "-1",
        "0",
        "0tok",
        "1Gtok",
        "1M",
        "2 euros",
        "nan",
        "inf",
        "1e9",
        "2,50",
        "2,5",
        "2 50",
        "1,00Mtok",
        "1,0000",
        ",5",
    ],
)
def test_what_is_no_budget(text):
    with pytest.raises(InputError):
        Budget.parse(text)


def test_a_budget_in_dollars_needs_a_price():
    with pytest.raises(InputError, match="GSWGRAPH_LLM_PRICE"):
        Budget.parse("2").use(None)
    Budget.parse("1Mtok").use(None)


def test_what_does_not_fit_is_refused():
    budget = Budget.parse("100tok")
    first = budget.reserve(30, 10)
    budget.settle(first, 50, 20)
    assert budget.spent == 70
    budget.settle(budget.reserve(20, 10))  # a call that failed took nothing
    assert budget.spent == 70
    with pytest.raises(
        ModelUnavailableError,
        match="the budget of 100 tokens is used up: 70 tokens spent, the next call takes about 31 tokens",
    ):
        budget.reserve(20, 11)
    budget.settle(budget.reserve(20, 10), 20, 10)
    assert budget.spent == 100


def test_who_might_still_fit_waits_for_those_under_way():
    budget = Budget.parse("100tok")
    first = budget.reserve(80, 0)
    done = threading.Event()

    def second():
        budget.settle(budget.reserve(50, 0), 50, 0)
        done.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert not done.wait(0.1)
    budget.settle(first, 10, 0)
    thread.join(10)
    assert done.is_set()
    assert budget.spent == 60
