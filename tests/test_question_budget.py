"""What a question may spend: calls that do not fit are not made, and the answer comes all the same."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import engines
import pytest
from model_server import ModelServer

from gsw_graph.config import Settings
from gsw_graph.errors import BudgetError
from gsw_graph.memory import Memory
from gsw_graph.models.chat.chat import Chat, QuestionModel, Request
from gsw_graph.models.chat.limits import QuestionBudget

USAGE = {"prompt_tokens": 60, "completion_tokens": 40}
ASKED = "In which town was the builder of the Stone Pier born?"


def request(text, stage="look"):
    return Request(stage, ({"role": "user", "content": f"about {text}"},), limit=500, final=True)


def settings(server, folder, **others):
    return Settings(**{"llm": "m", "llm_url": server.url, "llm_timeout": 10, "cache_dir": folder, **others})


@pytest.fixture
def server():
    with ModelServer([{"reply": "yes", "usage": USAGE}]) as running:
        yield running


@pytest.fixture
def chat(server, tmp_path):
    """A model whose calls take 100 tokens; up to 200 are expected of a reply."""
    with Chat.open(settings(server, tmp_path, llm_price=(10_000.0, 10_000.0))) as chat:
        chat.ask(request("before"), str)
        yield chat


def asks(chat, budget):
    return QuestionModel(chat, QuestionBudget.parse(budget))


@pytest.mark.parametrize("budget", ["350tok", "3.50"])
def test_a_call_that_does_not_fit_is_not_made(chat, server, budget):
    one = asks(chat, budget)
    one.ask(request(1), str)
    one.ask(request(2), str)
    with pytest.raises(
        BudgetError,
        match=r"the budget of .* is used up: .* spent, the next call takes about .* larger budget",
    ):
        one.ask(request(3), str)
    assert server.count() == 3
    spent = one.spent()
    assert spent.tokens == {"in": 120, "out": 80, "plan": 0}
    assert spent.calls == 2
    assert spent.failed_calls == 0
    assert asks(chat, budget).ask(request(3), str).value == "yes", "another question has a budget of its own"


def test_a_repair_must_fit_too_and_is_all_that_a_larger_budget_pays(chat, server):
    said = []

    def check(text):
        said.append(str(text))
        if len(said) != 3:
            raise ValueError("once more")
        return "mended"

    with pytest.raises(BudgetError):
        asks(chat, "250tok").ask(request(1), check)
    assert server.count() == 2
    assert asks(chat, "1000tok").ask(request(1), check).value == "mended"
    assert server.count() == 3


def test_calls_at_the_same_time_stay_within_it(chat, server):
    server.delay = 0.05
    one = asks(chat, "450tok")

    def ask(number):
        try:
            return bool(one.ask(request(number), str).value)
        except BudgetError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 3
    assert sum(one.spent().tokens.values()) == 300
    assert server.count() == 4


@pytest.fixture
def model():
    def reply(body):
        if body.get("response_format"):
            return {"plan": [{"id": 1, "question": ASKED, "retrieve": True}]}
        return "Answer: Ana Ruiz\nIn full:\nIt was Ana Ruiz. [1]"

    with ModelServer(reply) as running:
        yield running


@pytest.fixture
def memory(sample_folder, model, fake_embedder, tmp_path):
    shutil.copytree(sample_folder, tmp_path / "memory")
    made = Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=model.url)
    with Memory.open(settings=engines.own_replies(made, tmp_path / "cache")) as memory:
        yield memory


def test_the_answer_comes_from_what_there_is(memory, model):
    none = memory.ask(ASKED, budget="50tok", keep=False)
    assert model.count() == 0
    assert none.tokens["in"] == 0
    assert none.plan is None
    assert none.plan_source is None
    assert none.passages
    assert str(none.note).startswith("m gave no answer: the budget of 50 tokens is used up: 0 tokens spent")
    plain = memory.ask(ASKED, budget="1600tok", keep=False)
    assert model.count(stage="plan") == 0, "a plan would leave no tokens for the answer"
    assert plain.plan_source is None, "a plan would leave no tokens for the answer"
    assert plain.answer == "Ana Ruiz", "a plan would leave no tokens for the answer"
    planned = memory.ask(ASKED, budget="3ktok", keep=False)
    assert model.count(stage="plan") == 1
    assert planned.plan_source == "llm"
    assert planned.answer == "Ana Ruiz"
    took = planned.tokens["in"] + planned.tokens["out"]
    assert 0 < took <= 3000
    alone = memory.ask(ASKED, plan=[ASKED], llm=False, keep=False)
    few = memory.ask(ASKED, budget=f"{took}tok", strategy="fusion", keep=False)
    assert few.plan_source == "llm", "kept, and takes nothing"
    whole = memory.ask(ASKED, budget="100ktok", keep=False)
    assert whole.answer == "Ana Ruiz"
    assert whole.note is None
    assert alone.chains == whole.chains


def test_what_comes_before_the_answer_leaves_room_for_it(chat):
    one = asks(chat, "500tok")  # half of it is held back
    early = Request("look", request(1).messages, limit=500)
    one.ask(early, str)
    with pytest.raises(
        BudgetError, match="100 tokens spent, 250 tokens held back for the answer, the next call takes about"
    ):
        one.ask(Request("look", request(2).messages, limit=500), str)
    assert one.ask(request(3), str).value == "yes"
    found = asks(chat, "9ktok").ask(Request("look", request(4).messages, limit=500), str).value
    assert found == "yes", "of a large one what an answer takes is held back"
