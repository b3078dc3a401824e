"""What a question may spend: calls that do not fit are not made, and the answer comes all the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import engines
import pytest
from model_server import Fault, ModelServer

from gsw_graph.config import Settings
from gsw_graph.errors import BudgetError, InputError, ReplyError
from gsw_graph.memory import Memory
from gsw_graph.models.chat.chat import Chat, QuestionModel, Request
from gsw_graph.models.chat.limits import QuestionBudget

USAGE = {"prompt_tokens": 60, "completion_tokens": 40}
ASKED = "In which town was the builder of the Stone Pier born?"


def request(text: object, stage: str = "look") -> Request:
    return Request(stage, ({"role": "user", "content": f"about {text}"},), limit=500, final=True)


def settings(server: ModelServer, folder: Path, **others: Any) -> Settings:
    return Settings(**{"llm": "m", "llm_url": server.url, "llm_timeout": 10, "cache_dir": folder, **others})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([{"reply": "yes", "usage": USAGE}]) as running:
        yield running


@pytest.fixture
def chat(server: ModelServer, tmp_path: Path) -> Iterator[Chat]:
    """A model whose calls take 100 tokens; up to 200 are expected of a reply."""
    with Chat.open(settings(server, tmp_path, llm_price=(10_000.0, 10_000.0))) as chat:
        chat.ask(request("before"), str)
        yield chat


def asks(chat: Chat, budget: str) -> QuestionModel:
    return QuestionModel(chat, QuestionBudget.parse(budget))


@pytest.mark.parametrize("budget", ["350tok", "3.50"])
def test_a_call_that_does_not_fit_is_not_made(chat: Chat, server: ModelServer, budget: str) -> None:
    one = asks(chat, budget)
    one.ask(request(1), str)
    one.ask(request(2), str)
    with pytest.raises(BudgetError, match=r"the budget of .* is used up: .* spent, the next call takes about .* larger budget"):
        one.ask(request(3), str)
    assert server.count() == 3
    spent = one.spent()
    assert (spent.tokens, spent.calls, spent.failed_calls) == ({"in": 120, "out": 80, "plan": 0}, 2, 0)
    assert asks(chat, budget).ask(request(3), str).value == "yes", "another question has a budget of its own"


def test_a_kept_reply_takes_nothing(chat: Chat, server: ModelServer) -> None:
    one = asks(chat, "1tok")
    assert one.ask(request("before"), str).cached
    with pytest.raises(BudgetError):
        one.ask(request("new"), str)
    assert server.count() == 1


def test_a_repair_must_fit_too_and_is_all_that_a_larger_budget_pays(chat: Chat, server: ModelServer) -> None:
    said: list[str] = []

    def check(text: object) -> str:
        said.append(str(text))
        if len(said) != 3:
            raise ValueError("once more")
        return "mended"

    with pytest.raises(BudgetError):
        asks(chat, "250tok").ask(request(1), check)
    assert server.count() == 2
    assert asks(chat, "1000tok").ask(request(1), check).value == "mended"
    assert server.count() == 3


def test_calls_at_the_same_time_stay_within_it(chat: Chat, server: ModelServer) -> None:
    server.delay = 0.05
    one = asks(chat, "450tok")

    def ask(number: int) -> bool:
        try:
            return bool(one.ask(request(number), str).value)
        except BudgetError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 3
    assert sum(one.spent().tokens.values()) == 300
    assert server.count() == 4


def test_a_reply_gets_no_more_than_is_left(chat: Chat, server: ModelServer) -> None:
    one = asks(chat, "250tok")
    server.faults = (Fault("length"),)
    with pytest.raises(BudgetError, match=r"the reply did not end within the .* tokens that were left"):
        one.ask(request(1), str)
    body = server.calls[-1].body
    assert 40 <= body["max_tokens"] < 250
    assert one.spent().failed_calls == 1
    with pytest.raises(ReplyError, match="cut off") as cut:
        asks(chat, "1Mtok").ask(request(2), str)
    assert not isinstance(cut.value, BudgetError), "the budget was not to blame"
    assert server.calls[-1].body["max_tokens"] == 500


def test_what_is_no_budget(server: ModelServer, tmp_path: Path) -> None:
    with Chat.open(settings(server, tmp_path)) as chat:
        with pytest.raises(InputError, match="GSWGRAPH_LLM_PRICE"):
            asks(chat, "0.05")
        with pytest.raises(InputError, match="is no budget"):
            asks(chat, "a little")
        with pytest.raises(InputError, match="--no-llm"):
            asks(chat, "0tok")


@pytest.fixture
def model() -> Iterator[ModelServer]:
    def reply(body: dict[str, Any]) -> Any:
        if body.get("response_format"):
            return {"plan": [{"id": 1, "question": ASKED, "retrieve": True}]}
        return "Answer: Ana Ruiz\nSources: 1"

    with ModelServer(reply) as running:
        yield running


@pytest.fixture
def memory(sample_folder: Path, model: ModelServer, fake_embedder: None, tmp_path: Path) -> Iterator[Memory]:
    shutil.copytree(sample_folder, tmp_path / "memory")
    made = Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=model.url)
    with Memory.open(settings=engines.own_replies(made, tmp_path / "cache")) as memory:
        yield memory


def test_the_answer_comes_from_what_there_is(memory: Memory, model: ModelServer) -> None:
    none = memory.ask(ASKED, budget="50tok", keep=False)
    assert (model.count(), none.tokens["in"], none.plan, none.plan_source) == (0, 0, None, None)
    assert none.passages
    assert str(none.note).startswith("m gave no answer: the budget of 50 tokens is used up: 0 tokens spent")
    plain = memory.ask(ASKED, budget="1600tok", keep=False)
    assert (model.count(stage="plan"), plain.plan_source, plain.answer) == (0, None, "Ana Ruiz"), "a plan would leave no tokens for the answer"
    planned = memory.ask(ASKED, budget="3ktok", keep=False)
    assert (model.count(stage="plan"), planned.plan_source, planned.answer) == (1, "llm", "Ana Ruiz")
    took = planned.tokens["in"] + planned.tokens["out"]
    assert 0 < took <= 3000
    alone = memory.ask(ASKED, plan=[ASKED], llm=False, keep=False)
    few = memory.ask(ASKED, budget=f"{took}tok", strategy="fusion", keep=False)
    assert few.plan_source == "llm", "kept, and takes nothing"
    whole = memory.ask(ASKED, budget="100ktok", keep=False)
    assert (whole.answer, whole.note) == ("Ana Ruiz", None)
    assert alone.chains == whole.chains


def test_what_comes_before_the_answer_leaves_room_for_it(chat: Chat) -> None:
    one = asks(chat, "500tok")  # half of it is held back
    early = Request("look", request(1).messages, limit=500)
    one.ask(early, str)
    with pytest.raises(BudgetError, match="100 tokens spent, 250 tokens held back for the answer, the next call takes about"):
        one.ask(Request("look", request(2).messages, limit=500), str)
    assert one.ask(request(3), str).value == "yes"
    assert asks(chat, "9ktok").ask(Request("look", request(4).messages, limit=500), str).value == "yes", "of a large one what an answer takes is held back"
