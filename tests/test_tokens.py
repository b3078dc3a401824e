"""Estimates of tokens, against what tokenizers counted."""

from __future__ import annotations

import pytest

from gsw_graph.inference.chat.request import Request
from gsw_graph.inference.chat.tokens import Estimator, estimate, estimate_messages, estimate_request
from gsw_graph.inference.costs.ledger import Entry

PROSE = (
    "The treaty was signed in the capital by both delegations and came into force the following spring. Marie Curie was a Polish and naturalised-French "
    "physicist and chemist who conducted research on radioactivity; in 1903 she shared the Nobel Prize in Physics with her husband Pierre Curie."
)
JSON = (
    '{"entities": [{"name": "Marie Curie", "roles": [{"role": "physicist", "states": ["Polish", "naturalised-French"]}]}], "verb_phrases": [{"phrase": "shared", '
    '"questions": [{"question": "Who shared the Nobel Prize in Physics in 1903?", "answers": ["Marie Curie", "Pierre Curie"]}]}]}'
)
RUSSIAN = "Мария Склодовская-Кюри родилась в Варшаве в семье учителя. После окончания гимназии она работала гувернанткой, а затем уехала в Париж."
CHINESE = "玛丽·居里出生于华沙的一个教师家庭。中学毕业后，她当过家庭教师，后来前往巴黎，在索邦大学学习物理和化学。"

ASKED = Request("extract", ({"role": "system", "content": PROSE}, {"role": "user", "content": PROSE}), {"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.mark.parametrize(
    # Counted by gpt-tokenizer 4.0.0: o200k_base, cl100k_base.
    ("text", "o200k", "cl100k", "within"),
    [(PROSE, 60, 59, 0.05), (JSON, 85, 85, 0.1), (RUSSIAN, 43, 43, 0.1), (CHINESE, 39, 39, 0.15)],
)
def test_near_what_tokenizers_count(text: str, o200k: int, cl100k: int, within: float) -> None:
    assert estimate(text) == pytest.approx(o200k, rel=within)
    assert estimate(text) == pytest.approx(cl100k, rel=within)


def test_edges() -> None:
    assert estimate("") == 0
    assert estimate(" ") == estimate("a") == estimate("\udc80") == 1
    assert estimate(PROSE * 20) == pytest.approx(20 * estimate(PROSE), rel=0.01)
    assert 0 < estimate("\U0001f600" * 100) < 400
    assert estimate("a" * 10_000) > 1_000


def test_messages_and_schema_are_counted() -> None:
    assert estimate_messages(ASKED.messages) == 2 * estimate(PROSE) + 2 * 4 + 3
    schema = '{"type": "object", "properties": {"a": {"type": "integer"}}}'
    assert estimate_request(ASKED) == estimate_messages(ASKED.messages) + estimate(schema)


def test_before_the_first_call() -> None:
    assert Estimator("m").prompt(ASKED) == estimate_messages(ASKED.messages)
    assert Estimator("m", reads_schema=True).prompt(ASKED) == estimate_request(ASKED)
    assert Estimator("m").completion("extract") == 1000


def test_what_the_server_counted_is_learned() -> None:
    own = estimate_messages(ASKED.messages)
    estimator = Estimator("m", [Entry("", "extract", "m", calls=2, prompt_tokens=3 * own, completion_tokens=900, prompt_estimate=2 * own)])
    assert (estimator.prompt(ASKED), estimator.completion("extract")) == (round(1.5 * own), 450)
    estimator.add(Entry("b.txt", "extract", "m", calls=2, prompt_tokens=5 * own, completion_tokens=100, prompt_estimate=2 * own))
    assert (estimator.prompt(ASKED), estimator.completion("extract")) == (2 * own, 250)
    assert estimator.completion("plan") == 250  # another stage goes by all, until it has its own
    estimator.add(Entry("", "plan", "m", calls=1, prompt_tokens=own, completion_tokens=10, prompt_estimate=own))
    assert (estimator.completion("plan"), estimator.completion("extract")) == (10, 250)
    estimator.add(Entry("", "extract", "m", calls=2, prompt_tokens=9 * own, completion_tokens=500))  # whose prompts were not estimated
    assert (estimator.prompt(ASKED), estimator.completion("extract")) == (2 * own, 250)
    estimator.add(Entry("", "extract", "another", calls=1, prompt_tokens=1, completion_tokens=1, prompt_estimate=own))
    estimator.add(Entry("", "extract", "m", cached=1))
    assert (estimator.prompt(ASKED), estimator.completion("extract")) == (2 * own, 250)
