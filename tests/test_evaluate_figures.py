"""The figures of an evaluation against hand-computed ones, two evaluations against each other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from evaluate_fakes import FakeMemory, questions, record

from gsw_graph.config import Settings
from gsw_graph.evaluate import compare, evaluate, load, write
from gsw_graph.evaluate.evaluation import _scored, economy
from gsw_graph.evaluate.metrics import interval
from gsw_graph.evaluate.report import notes
from gsw_graph.model.ledger import Entry
from gsw_graph.models.chat.cache import FILE, Cache, Ledger

FOUR = questions(
    record("a", 1, 2, hops=2),
    record("b", 3, hops=2, answers=["Ada of Skarholm"]),
    record("c", 4, 5, hops=3, answerable=False),
    record("dd", 9, hops=3),
)
SAID = {
    ("a?", "ricr"): {
        "answer": "the Ada",
        "answer_source": "llm",
        "tokens": {"in": 100, "out": 10},
        "dollars": 0.5,
        "plan_source": "given",
        "confidence": 0.9,
    },
    ("b?", "ricr"): {
        "answer": "Ada",
        "answer_source": "chain",
        "tokens": {"in": 50, "out": 0},
        "plan_source": "llm",
    },
    ("c?", "ricr"): {"abstained": True, "tokens": {"in": 20, "out": 5}, "dollars": 0.25},
    ("dd?", "ricr"): {"abstained": True, "tokens": {"in": 0, "out": 0}},
}


def found(question, strategy):
    if strategy == "ricr":
        return {"a?": [1, 7, 2], "b?": [7, 3], "c?": [4, 5], "dd?": [7]}[question]
    return [7, 1, 3]


@pytest.fixture(scope="module")
def four():
    return evaluate(FakeMemory(found, SAID), FOUR, ["ricr", "dense"], k=10)


def test_figures_by_hand(four):
    one = four.strategies["ricr"]
    assert one["n"] == 4
    assert one["with_gold"] == 3
    assert one["failed"] == 0
    assert one["cached"] == 0
    assert one["recall"] == {
        "1": pytest.approx(1 / 6),
        "2": 0.5,
        "5": pytest.approx(2 / 3),
        "10": pytest.approx(2 / 3),
    }  # c is not answerable, 20 was not asked
    expected = {
        "1": 0,
        "2": pytest.approx(1 / 3),
        "5": pytest.approx(2 / 3),
        "10": pytest.approx(2 / 3),
    }
    assert one["all_gold"] == expected
    assert one["em"] == pytest.approx(1 / 3)
    assert one["f1"] == pytest.approx((1 + 0.5 + 0) / 3)  # "Ada": 1 of 1, 1 of 3
    assert one["abstention"] == {
        "answerable": 3,
        "answered": pytest.approx(2 / 3),
        "unanswerable": 1,
        "abstained": 1,
    }
    expected = {
        "mean": pytest.approx(22.5),
        "p50": 20,
        "p95": pytest.approx(28.5),
        "stages": {"embed": {"mean": 1, "p50": 1, "p95": 1}},
    }
    assert one["ms"] == expected
    assert one["tokens"] == {"in": 42.5, "out": 3.75, "total": 185}
    assert one["dollars"] == 0.75
    assert one["plans"] == {"llm": 1, "none": 3}
    # two hops: 160 tokens, a is right. Three hops: 25 tokens, c is rightly abstained from
    assert one["economy"] == pytest.approx((2 * 160 + 3 * 25) / (2 * 1 + 3 * 1))
    assert {hops: part["economy"] for hops, part in one["by_hops"].items()} == {"2": 160, "3": 25}
    assert one["intervals"]["f1"] == list(interval([1, 0.5, 0]))


def test_a_strategy_that_does_not_answer_has_no_figures_of_answers(four):
    one = four.strategies["dense"]
    assert one["em"] is None
    assert one["f1"] is None
    assert one["abstention"] is None
    assert one["economy"] is None
    assert "em" not in one["intervals"]
    expected = {f"{name}@{k}" for name in ("recall", "all_gold") for k in (1, 2, 5, 10)} | {
        "precision@5",
        "ndcg@5",
        "ndcg@10",
        "ms",
    }
    assert {row["metric"] for row in four.differences} == expected
    passages_only = evaluate(FakeMemory(found, SAID), FOUR, ["ricr"], answer=False).strategies["ricr"]
    assert passages_only["em"] is passages_only["abstention"] is None


def test_two_evaluations_compared(four):
    better = evaluate(
        FakeMemory(lambda question, strategy: [1, 2] if question == "a?" else [7], SAID), FOUR, ["ricr"], k=5
    )
    done = compare(four, better)
    by_metric = {difference["metric"]: difference for difference in done.differences}
    assert done.questions == 4
    assert done.only_first == 0
    assert done.only_second == 0
    assert done.settings == {"k": [10, 5]}
    assert "recall@10" not in by_metric  # of which one knows nothing
    assert by_metric["recall@2"]["mean"] == pytest.approx((0.5 - 1 + 0) / 3)
    assert by_metric["recall@2"]["above"] == 1
    assert by_metric["recall@2"]["below"] == 1
    assert by_metric["f1"]["mean"] == 0
    assert by_metric["f1"]["n"] == 3


def test_strategies_of_different_runs_are_compared(four):
    other = evaluate(FakeMemory(lambda question, strategy: [1], SAID), FOUR, ["linked", "bm25"], k=10)
    done = compare(other, four)
    names = {(row["first"], row["second"]) for row in done.differences}
    assert names == {(first, second) for first in ("linked", "bm25") for second in ("ricr", "dense")}
    assert done.settings == {"strategy": ["linked, bm25", "ricr, dense"]}
    (recall,) = (
        row
        for row in done.differences
        if (row["first"], row["second"], row["metric"]) == ("bm25", "ricr", "recall@1")
    )
    assert recall["mean"] == pytest.approx(0.0)


def test_tokens_for_a_right_answer_count_those_of_the_index():
    scored = _scored(evaluate(FakeMemory(found, SAID), FOUR, ["ricr"], k=10).questions, "ricr", {"k": 10})
    assert economy(scored) == economy(scored, 0)
    # A share of 50 for each of two questions of two hops and two of three.
    expected = (2 * (160 + 100) + 3 * (25 + 100)) / (2 + 3)
    assert economy(scored, 50) == pytest.approx(expected)


def test_the_index_took_what_the_ledger_has_for_the_documents(tmp_path):
    cache = Cache(tmp_path / FILE)
    ledger = Ledger(cache)
    for document, stage in (("a.md", "extract"), ("a.md", "repair"), ("other.md", "extract"), ("", "answer")):
        ledger.add(Entry(document, stage, "m", calls=1, prompt_tokens=90, completion_tokens=10))
    cache.close()
    memory = FakeMemory(found, SAID, settings=Settings(cache_dir=tmp_path))
    read = SimpleNamespace(source="a.md", extractor="llm", model="m")
    memory.documents = lambda: SimpleNamespace(documents=[read])
    done = evaluate(memory, FOUR, ["ricr"], k=10, with_index=True)
    assert done.settings["index_tokens"] == 200
    by_hops = done.strategies["ricr"]["by_hops"]
    assert {hops: part["economy"] for hops, part in by_hops.items()} == {"2": 260, "3": 125}
    assert any("200 tokens of the loads" in note for note in notes(done))


def test_a_hostile_question_can_be_written(tmp_path):
    asked = questions({"id": "\ud800", "question": "half a pair \ud800?", "answers": ["\udfff"]})
    done = evaluate(FakeMemory(lambda q, s: [1]), asked, ["dense"], out=tmp_path)
    write(done, tmp_path)
    assert load(tmp_path).questions == done.questions
