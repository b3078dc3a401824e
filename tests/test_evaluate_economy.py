"""Quality against what it costs: the plots of the report, and tokens for a right answer by hops."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from evaluate_fakes import FakeMemory, questions, record

from gsw_graph.cli.text.evaluations import print_evaluation
from gsw_graph.evaluate import evaluate
from gsw_graph.evaluate.report import page

ASKED = questions(record("a", 1, hops=2), record("b", 1, hops=2), record("c", 1, hops=3))
TOOK = {
    (f"{key}?", "ricr"): {"answer": answer, "answer_source": "llm", "tokens": {"in": tokens, "out": 0}}
    for key, answer, tokens in (("a", "Ada", 100), ("b", "Bob", 50), ("c", "Ada", 300))
}


def test_tokens_for_a_right_answer_are_weighted_by_hops_and_shown_by_hops():
    """By hand: (2 * 150 + 3 * 300) / (2 * 1 + 3 * 1) = 240."""
    found = evaluate(FakeMemory(lambda q, s: [1], TOOK), ASKED, ["ricr", "linked"])
    assert found.strategies["ricr"]["economy"] == {"value": pytest.approx(240), "by_hops": {"2": 150, "3": 300}}
    text = page(found)
    assert "F1, %, against tokens a question" in text
    assert "F1, %, against seconds a question" in text
    with CliRunner().isolation() as (out, *_):
        print_evaluation(found, [])
        said = out.getvalue().decode()
    assert "2 hops: ricr (n=2) recall@5 100.0, EM 50.0, F1 50.0, tokens/right 150" in said
    assert "3 hops: ricr (n=1) recall@5 100.0, EM 100.0, F1 100.0, tokens/right 300" in said


def test_where_nothing_is_answered_quality_is_recall_and_nothing_costs_tokens():
    text = page(evaluate(FakeMemory(lambda q, s: [1]), ASKED, ["linked", "dense"]))
    assert "recall@5, %, against seconds a question" in text
    assert "tokens a question" not in text
