"""How questions are asked: protocols, budgets, traces, scopes."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from evaluate_fakes import FakeMemory, questions, record

from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelUnavailableError
from gsw_graph.evaluate import (
    compare,
    evaluate,
    load,
    run,
    write,
)
from gsw_graph.evaluate.report import protocol

MODEL = Settings(llm="gpt-4.1-mini")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(run, "WARM", 0.0)


class Memory(FakeMemory):
    """Keeps the options that it was asked with."""

    def ask(self, question, *, question_cache=False, **options):
        others = {
            name: options.pop(name)
            for name in ("evidence", "must_answer", "reader", "trace", "excluded")
            if name in options
        }
        strategy = options.pop("strategy")
        answer = super().ask(
            question,
            question_cache=False,
            strategy=strategies().get(strategy, strategy) if isinstance(strategy, str) else strategy,
            **options,
        )
        next(call for call in reversed(self.calls) if call["question"] == question).update(
            others, question_cache=question_cache
        )
        return answer


def nothing(question, strategy):
    return [1]


def test_the_protocol_reaches_the_memory_and_the_first_line_of_the_report():
    memory = Memory(nothing, settings=MODEL)
    found = evaluate(memory, questions(record("a", 1)), ["linked"], evidence="passages", must_answer=True)
    assert memory.calls[-1]["evidence"] == "passages"
    assert memory.calls[-1]["must_answer"] is True
    assert not {"evidence", "must_answer"} & memory.calls[0].keys(), "warming asks no model"
    assert (
        protocol(found)
        == "1 question (own); k=20; reads passages, must answer; plans: by the language model (no strategy followed one); model: gpt-4.1-mini; embedder: mini; reranker: cosine"
    )
    plain = evaluate(Memory(nothing, settings=MODEL), questions(record("a", 1)), ["linked"])
    assert "protocol" in compare(plain, found).settings
    reasoned = evaluate(memory, questions(record("a", 1)), ["linked"], reader="paper")
    assert memory.calls[-1]["reader"] == "paper"
    assert "by the reader of the papers" in protocol(reasoned)


def test_questions_of_a_conversation_are_asked_in_order_and_kept():
    asked = questions(*(record(f"{talk}{n}", 1, conversation=talk) for n in range(3) for talk in "xy"))
    memory = Memory(nothing, settings=MODEL)
    evaluate(memory, asked, ["auto"], in_order=True, at_once=4)
    calls = [call for call in memory.calls if call["answer"]]
    assert all(call["keep"] and call["question_cache"] for call in calls)
    for talk in "xy":
        found = [call["question"] for call in calls if call["question"][0] == talk]
        expected = [f"{talk}{n}?" for n in range(3)]
        assert found == expected
    with pytest.raises(InputError, match="by one strategy"):
        evaluate(memory, asked, ["auto", "linked"], in_order=True)


def test_a_budget_ends_a_run_that_goes_on_with_a_larger_one(tmp_path):
    asked = questions(*(record(f"q{n}", 1) for n in range(6)))
    said = {(f"q{n}?", "linked"): {"tokens": {"in": 90, "out": 10}} for n in range(6)}
    memory = Memory(nothing, said, settings=MODEL)
    memory.chat = SimpleNamespace(price=None)
    with pytest.raises(ModelUnavailableError, match=r"budget of 250 tokens is used up.*larger budget goes on"):
        evaluate(memory, asked, ["linked"], out=tmp_path, budget="250tok")
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 4, (
        "the row that was paid for is kept"
    )
    evaluate(memory, asked, ["linked"], out=tmp_path, budget="1ktok")
    assert len([call for call in memory.calls if call["answer"]]) == 6


def test_a_run_and_results_of_another_version_are_read(tmp_path):
    asked = questions(record("a", 1), record("b", 1))
    evaluate(FakeMemory(nothing), asked.subset(1), ["linked"], out=tmp_path)
    journal = tmp_path / "answers.jsonl"
    head, row = journal.read_text().splitlines()
    value = json.loads(head)
    value["run"]["gswgraph"] = "0.0.1"
    journal.write_text(json.dumps(value) + "\n" + json.dumps({**json.loads(row), "of_the_past": 1}) + "\n")
    memory = FakeMemory(nothing)
    found = evaluate(memory, asked, ["linked"], out=tmp_path)
    assert memory.asked == [("b?", "linked")]
    assert found.settings["gswgraph"] == "0.0.1"
    write(found, tmp_path)
    old = json.loads((tmp_path / "results.json").read_text())
    for question in old["questions"]:
        question["strategies"]["linked"]["of_the_past"] = question["strategies"]["linked"].pop("rouge_l")
        del question["type"], question["scope"]
    (tmp_path / "results.json").write_text(json.dumps(old))
    assert compare(load(tmp_path), found).questions == 2
