"""A strategy is added as CONTRIBUTING.md says, with the one that stands there: it searches, asks the model, searches again, and brings an answer of its own."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import engines
import pytest
from model_server import Fault, ModelServer

from gsw_graph.ask.retrieve.strategies import STRATEGIES, strategies
from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
FURTHER = "Where was Ana Ruiz born?"
SAID = "Valle Alto it is"
ASKED = "In which town was the builder of the Stone Pier born?"


@pytest.fixture(scope="module")
def added():
    """What the page has, as the file of a strategy."""
    (code,) = re.findall(r"### A strategy\n.*?```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    module = ModuleType("second_look")
    sys.modules[module.__name__] = module  # where `dataclass` looks for it
    exec(compile(code, str(PAGE), "exec"), vars(module))
    return module


@pytest.fixture
def strategy(added, monkeypatch):
    """The strategy, with its line in the table, which is read once in a process."""
    monkeypatch.setitem(STRATEGIES, added.SECOND_LOOK.name, added.SECOND_LOOK)
    strategies.cache_clear()
    yield added.SECOND_LOOK
    strategies.cache_clear()


@pytest.fixture
def server():
    def model(body):
        if body.get("response_format"):
            return {"plan": [{"id": 1, "question": ASKED, "retrieve": True}]}
        task, shown = (message["content"] for message in body["messages"])
        assert "<<<evidence" in shown
        return {"What must": FURTHER, "Answer in": SAID}.get(task[:9], "Answer: Ana Ruiz\nSources: 1")

    with ModelServer(model) as running:
        yield running


@pytest.fixture
def settings(tmp_path, server, fake_embedder):
    """A model that was asked nothing yet."""
    return engines.own_replies(
        Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=server.url, llm_price=(1.0, 1.0)),
        tmp_path / "cache",
    )


@pytest.fixture
def memory(asked_sample, settings):
    made = Memory(asked_sample._connection, settings)
    yield made
    made._close_chat()  # the connection goes on


def nearest(memory, question, k=2):
    return [passage.id for passage in memory.ask(question, strategy="dense", k=k, llm=False, keep=False)]


def check_answer(answer, memory):
    first = nearest(memory, ASKED)
    second = nearest(memory, FURTHER)
    assert first[0] != second[0]
    assert [passage.id for passage in answer] == list(dict.fromkeys([*second, *first]))
    assert answer.strategy == "second-look"
    assert answer.answer == SAID
    assert answer.answer_source == "llm"
    assert answer.abstained is False
    assert [citation.passage for citation in answer.citations] == second[:1]
    assert answer.plan is None
    assert answer.plan_source is None
    assert answer.chains == []
    assert answer.confidence is None
    assert answer.note is None
    assert answer.models == {"embedder": memory.settings.embedder, "reranker": None, "llm": "m"}
    assert answer.trace is not None
    assert answer.trace.walked == "twice"
    assert answer.trace.bridges == [FURTHER]


def test_it_is_asked_as_a_record(added, memory, server):
    heard = []
    answer = memory.ask(ASKED, strategy=added.SECOND_LOOK, trace=True, on_text=heard.append)
    check_answer(answer, memory)
    assert "".join(heard) == SAID, "its answer comes in pieces, its question does not"
    assert server.count() == 2
    assert answer.tokens["in"] > answer.tokens["prompt"] > 0 < answer.tokens["out"]
    assert answer.tokens["evidence"] == 0
    assert answer.dollars == pytest.approx((answer.tokens["in"] + answer.tokens["out"]) / 1e6)
    assert answer.round_trips == 2
    assert answer.seconds["look"] > 0 < answer.seconds["answer"]
    assert answer.seconds["total"] > answer.seconds["look"]
    again = memory.ask(ASKED, strategy=added.SECOND_LOOK)
    assert again.answer == SAID
    assert again.tokens["in"] == 0
    assert again.dollars == 0
    assert again.trace is None
    found = [(reply.stage, reply.tokens["in"] > 0) for reply in again.kept]
    assert found == [
        ("look", True),
        ("answer", True),
    ]
    (kept,) = memory.cypher(
        "MATCH (q:Question {id: $id})-[u:USED {cited: true}]->(p) RETURN q.answer AS answer, q.strategy AS by, p.id AS id",
        id=answer.id,
    ).rows
    assert kept == {"answer": SAID, "by": "second-look", "id": answer.citations[0].passage}


def test_what_it_needs_is_said(strategy, memory):
    for without in (memory, Memory(memory._connection, replace(memory.settings, llm=None))):
        with pytest.raises(InputError, match=r"second-look needs a language model.*--llm"):
            without.ask(ASKED, strategy="second-look", llm=without is not memory)
    with pytest.raises(
        InputError,
        match=r"second-look does not follow a plan.*--strategy ricr or fusion or pathwise or pruned or select$",
    ):
        memory.ask(ASKED, strategy="second-look", plan=[ASKED])


# On the command line


def test_who_waits_is_told_each_stage_and_what_comes_after_a_failed_call(memory, server):
    server.faults = (Fault("server_error", calls=(1,)),)
    told = []
    answer = memory.ask(ASKED, strategy="linked", keep=False, on_stage=lambda *stage: told.append(stage))
    stages = [stage for stage, note in told if note is None]
    assert set(stages) <= set(answer.seconds)
    assert stages[-1] == "answer"
    ((stage, note),) = [one for one in told if one[1] is not None]
    assert stage == "answer"
    assert note is not None
    assert note.endswith("; try 2 follows")
    assert "500" in note


# In Python
