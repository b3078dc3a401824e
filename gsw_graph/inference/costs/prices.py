"""What tokens cost, where it is known."""

from __future__ import annotations

import re

BATCH_SHARE = 0.5  # of the list price, through the Batch API

# Dollars for a million prompt tokens and for a million completion tokens: list prices as the price table of
# LiteLLM 1.109.1 has them (model_prices_and_context_window.json), read in November 2026. What a server reads
# from its own prompt cache costs less; that is not counted.
_PRICES = {
    "claude-haiku-4-5": (1.00, 5.00),
    "claude-sonnet-4-5": (3.00, 15.00),
    "claude-sonnet-4-6": (3.00, 15.00),
    "deepseek-chat": (0.28, 0.42),
    "gemini-2.5-flash": (0.30, 2.50),
    "gemini-2.5-flash-lite": (0.10, 0.40),
    "gemini-2.5-pro": (1.25, 10.00),
    "gpt-4.1": (2.00, 8.00),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1-nano": (0.10, 0.40),
    "gpt-4o": (2.50, 10.00),
    "gpt-4o-mini": (0.15, 0.60),
    "gpt-5": (1.25, 10.00),
    "gpt-5-mini": (0.25, 2.00),
    "gpt-5-nano": (0.05, 0.40),
    "gpt-5.1": (1.25, 10.00),
    "gpt-5.2": (1.75, 14.00),
    "gpt-5.4": (2.50, 15.00),
    "gpt-5.4-mini": (0.75, 4.50),
    "gpt-5.4-nano": (0.20, 1.25),
    "gpt-5.5": (5.00, 30.00),
    "o3": (2.00, 8.00),
    "o3-mini": (1.10, 4.40),
    "o4-mini": (1.10, 4.40),
}
_DATE = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")

Price = tuple[float, float]


def price_of(model: str) -> Price | None:
    """Dollars for a million prompt tokens and a million completion tokens; None where they are not known. A
    date at the end of the name and the maker in front of it do not matter; another ending does
    (`gpt-5-pro` costs not what `gpt-5` does)."""
    return _PRICES.get(_DATE.sub("", model.rpartition("/")[2].lower()))


def dollars(price: Price, prompt_tokens: float, completion_tokens: float, *, batch: bool = False) -> float:
    """What so many tokens cost at this price, or at half of it through the Batch API."""
    return (
        (price[0] * prompt_tokens + price[1] * completion_tokens) / 1_000_000 * (BATCH_SHARE if batch else 1)
    )
