"""Evaluation with a language model behind a real server: who asks first makes no difference, and a model that fails is not passed over."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from evaluate_fakes import FakeMemory, questions, record
from fake_memory import passage
from model_server import ModelServer

from gsw_graph.ask.asking import ask, prepare_query
from gsw_graph.ask.options import AskOptions
from gsw_graph.ask.retrieve.context import RetrievalContext
from gsw_graph.ask.retrieve.strategies import STRATEGIES, strategies
from gsw_graph.ask.strategy import RetrievalResult
from gsw_graph.config import Settings
from gsw_graph.evaluate import evaluate
from gsw_graph.evaluate.report import notes
from gsw_graph.models.chat.chat import Chat, QuestionModel
from gsw_graph.models.prompts import prompt

DELAY = 0.02
ASKED = questions(record("a", 1, 2), record("b", 1), record("c", 1))


class Memory(FakeMemory):
    """Finds one passage, and plans and answers as a memory does."""

    def __init__(self, chat):
        super().__init__(None, settings=Settings(llm="m"))
        self.chat = chat

    def ask(self, question, *, strategy, plan, k, answer, llm, keep, question_cache, **others):
        options = AskOptions(
            strategy=strategy, plan=plan, k=k, answer=answer, question_cache=question_cache, **others
        )
        chosen, planned = prepare_query(question, options)
        reader = SimpleNamespace(has_pairs=lambda: True, round_trips=1, claims=lambda passages: [])
        context = RetrievalContext(
            reader, None, lambda: None, llm=QuestionModel(self.chat) if llm else None, options=options
        )
        return ask(chosen, planned, context)


@pytest.fixture
def said(monkeypatch, tmp_path):
    """What an evaluation with a new cache finds, in which the model says what `plan` and `answer` are."""

    def run(context, query, recipe):
        return RetrievalResult([passage(1, title="T1", text=f"{query.question} Ada.")])

    for name in ("ricr", "fusion"):
        monkeypatch.setitem(STRATEGIES, name, replace(STRATEGIES[name], run=run))
    strategies.cache_clear()  # the table is read once in a process

    def evaluated(
        names,
        plan=({"id": 1, "question": "Who?", "retrieve": True},),
        answer="Answer: Ada\nSources: 1",
        cache="cache",
        **protocol,
    ):
        def model(body):
            evaluated.prompts.append(body["messages"][0]["content"])
            if "response_format" in body:
                return {"plan": list(plan)}
            return answer

        with (
            ModelServer(model, delay=DELAY) as server,
            Chat.open(
                Settings(llm="m", llm_url=server.url, llm_price=(1.0, 1.0), cache_dir=tmp_path / cache)
            ) as chat,
        ):
            return evaluate(Memory(chat), ASKED, names, plans="model", **protocol), server.count()

    evaluated.prompts = []
    yield evaluated
    strategies.cache_clear()


def test_the_reader_of_the_papers_is_asked_by_its_own_prompt(said):
    found, _ = said(["ricr"], answer="Thought: it says so [1].\nAnswer: Ada", reader="paper")
    assert prompt("answer_paper") in said.prompts
    assert prompt("answer") not in said.prompts
    assert found.strategies["ricr"]["em"] == 1


def took(found, name):
    return [
        (row["tokens"], round(row["dollars"], 12))
        for row in (question["strategies"][name] for question in found.questions)
    ]


def test_every_strategy_pays_for_its_plan_and_its_answer(said):
    found, calls = said(["ricr", "fusion"])
    assert calls == 6  # of twelve replies, as both strategies ask for the same
    assert [strategy["em"] for strategy in found.strategies.values()] == [1, 1]
    assert took(found, "ricr") == took(found, "fusion")
    for tokens, dollars in took(found, "ricr"):
        assert tokens["in"] > tokens["prompt"] > 0 < dollars
    rows = [row for question in found.questions for row in question["strategies"].values()]
    assert [row["cached"] for row in rows] == [False, True, True, False, False, True]
    assert all(row["seconds"][stage] >= DELAY for row in rows for stage in ("plan", "answer"))
    assert all(row["seconds"]["total"] >= 2 * DELAY for row in rows)


def test_an_evaluation_asked_again_costs_what_it_cost(said):
    first, calls = said(["ricr"])
    again, none = said(["ricr"])
    assert calls == 6
    assert none == 0
    assert took(first, "ricr") == took(again, "ricr")
    assert first.strategies["ricr"]["cached"] == 0
    assert again.strategies["ricr"]["cached"] == 3
    assert first.strategies["ricr"]["economy"] == again.strategies["ricr"]["economy"]
    assert [
        note
        for note in notes(again)
        if "3 questions replies of the language model came from the cache" in note
    ]
    assert not [note for note in notes(first) if "cache" in note]
