"""A strategy is added as CONTRIBUTING.md says, with the one that stands there: it searches, asks the model, searches again, and brings an answer of its own."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import engines
import pytest
import samples
from click.testing import CliRunner
from model_server import Fault, ModelServer

from gsw_graph import cli
from gsw_graph.ask.retrieve.strategies import STRATEGIES, strategies
from gsw_graph.ask.strategy import Strategy
from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.evaluate import Variant, evaluate
from gsw_graph.evaluate.data import question_set
from gsw_graph.memory import Memory
from gsw_graph.model.results import Answer

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
FURTHER, SAID = "Where was Ana Ruiz born?", "Valle Alto it is"
ASKED = "In which town was the builder of the Stone Pier born?"


@pytest.fixture(scope="module")
def added() -> ModuleType:
    """What the page has, as the file of a strategy."""
    (code,) = re.findall(r"### A strategy\n.*?```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    module = ModuleType("second_look")
    sys.modules[module.__name__] = module  # where `dataclass` looks for it
    exec(compile(code, str(PAGE), "exec"), vars(module))
    return module


@pytest.fixture
def strategy(added: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[Strategy[Any]]:
    """The strategy, with its line in the table, which is read once in a process."""
    monkeypatch.setitem(STRATEGIES, added.SECOND_LOOK.name, added.SECOND_LOOK)
    strategies.cache_clear()
    yield added.SECOND_LOOK
    strategies.cache_clear()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    def model(body: dict[str, Any]) -> Any:
        if body.get("response_format"):
            return {"plan": [{"id": 1, "question": ASKED, "retrieve": True}]}
        task, shown = (message["content"] for message in body["messages"])
        assert "<<<evidence" in shown
        return {"What must": FURTHER, "Answer in": SAID}.get(task[:9], "Answer: Ana Ruiz\nSources: 1")

    with ModelServer(model) as running:
        yield running


@pytest.fixture(scope="module")
def opened(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    copy = tmp_path_factory.mktemp("opened") / "memory"
    shutil.copytree(sample_folder, copy)
    with Memory.open(settings=Settings(memory=str(copy))) as memory:
        yield memory


@pytest.fixture
def settings(tmp_path: Path, server: ModelServer, fake_embedder: None) -> Settings:
    """A model that was asked nothing yet."""
    return engines.own_replies(Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=server.url, llm_price=(1.0, 1.0)), tmp_path / "cache")


@pytest.fixture
def memory(opened: Memory, settings: Settings) -> Iterator[Memory]:
    made = Memory(opened._connection, settings)
    yield made
    made._close_chat()  # the connection goes on


def nearest(memory: Memory, question: str, k: int = 2) -> list[str]:
    return [passage.id for passage in memory.ask(question, strategy="dense", k=k, llm=False, keep=False)]


def check_answer(answer: Answer, memory: Memory) -> None:
    first, second = nearest(memory, ASKED), nearest(memory, FURTHER)
    assert first[0] != second[0]
    assert [passage.id for passage in answer] == list(dict.fromkeys([*second, *first]))
    assert (answer.strategy, answer.answer, answer.answer_source, answer.abstained) == ("second-look", SAID, "llm", False)
    assert [citation.passage for citation in answer.citations] == second[:1]
    assert (answer.plan, answer.plan_source, answer.chains, answer.confidence, answer.note) == (None, None, [], None, None)
    assert answer.models == {"embedder": memory.settings.embedder, "reranker": None, "llm": "m"}
    assert answer.trace is not None
    assert (answer.trace.walked, answer.trace.bridges) == ("twice", [FURTHER])


def test_it_is_asked_as_a_record(added: ModuleType, memory: Memory, server: ModelServer) -> None:
    heard: list[str] = []
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
    assert (again.answer, again.tokens["in"], again.dollars, again.trace) == (SAID, 0, 0, None)
    assert [(reply.stage, reply.tokens["in"] > 0) for reply in again.kept] == [("look", True), ("answer", True)]
    (kept,) = memory.cypher("MATCH (q:Question {id: $id})-[u:USED {cited: true}]->(p) RETURN q.answer AS answer, q.strategy AS by, p.id AS id", id=answer.id).rows
    assert kept == {"answer": SAID, "by": "second-look", "id": answer.citations[0].passage}


def test_its_constants_are_its_own(added: ModuleType, strategy: Strategy[Any], memory: Memory) -> None:
    wide = strategy.with_recipe(added.SecondLookRecipe(near=3, cited=3))
    answer = memory.ask(ASKED, strategy=wide, k=1)
    assert [passage.id for passage in answer] == nearest(memory, FURTHER, 1)
    assert [citation.passage for citation in answer.citations] == nearest(memory, FURTHER, 3)
    assert len(memory.ask(ASKED, strategy="second-look").citations) == 1
    with pytest.raises(InputError, match="near cannot be 0"):
        added.SecondLookRecipe(near=0)


def test_what_it_needs_is_said(strategy: Strategy[Any], memory: Memory) -> None:
    for without in (memory, Memory(memory._connection, replace(memory.settings, llm=None))):
        with pytest.raises(InputError, match=r"second-look needs a language model.*--llm"):
            without.ask(ASKED, strategy="second-look", llm=without is not memory)
    with pytest.raises(InputError, match=r"second-look does not follow a plan.*--strategy ricr or fusion or pathwise or pruned or select$"):
        memory.ask(ASKED, strategy="second-look", plan=[ASKED])


def test_a_model_that_asks_nothing_further_leaves_what_was_found(strategy: Strategy[Any], memory: Memory, server: ModelServer) -> None:
    server.faults = (Fault("empty", calls=(1, 2)),)
    answer = memory.ask(ASKED, strategy="second-look")
    assert answer.note is not None
    assert answer.note.startswith("m asked nothing further: ")
    assert [passage.id for passage in answer] == nearest(memory, ASKED)
    assert server.count() == 3
    assert (answer.answer, answer.answer_source) == ("Ana Ruiz", "llm"), "read from what was found, as of any strategy that brings none"


# On the command line


def test_who_waits_is_told_each_stage_and_what_comes_after_a_failed_call(memory: Memory, server: ModelServer) -> None:
    server.faults = (Fault("server_error", calls=(1,)),)
    told: list[tuple[str, str | None]] = []
    answer = memory.ask(ASKED, strategy="linked", keep=False, on_stage=lambda *stage: told.append(stage))
    stages = [stage for stage, note in told if note is None]
    assert set(stages) <= set(answer.seconds)
    assert stages[-1] == "answer"
    ((stage, note),) = [one for one in told if one[1] is not None]
    assert stage == "answer"
    assert note is not None
    assert note.endswith("; try 2 follows")
    assert "500" in note


@pytest.fixture
def shell(strategy: Strategy[Any], sample_folder: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a verb on a memory, as a process does that finds the table as it is now."""
    shutil.copytree(sample_folder, settings.memory)
    for verb in ("ask", "eval"):
        __import__(f"gsw_graph.cli.{verb}")
        monkeypatch.setattr(cli, verb, getattr(cli, verb))
        monkeypatch.delitem(sys.modules, f"gsw_graph.cli.{verb}")
    given = {"LLM": "m", "LLM_URL": str(settings.llm_url), "LLM_PRICE": "1,1", "CACHE": str(settings.cache_dir)}
    for name, value in given.items():
        monkeypatch.setenv(f"GSWGRAPH_{name}", value)
    return lambda *args: CliRunner().invoke(cli.main, ["--memory", settings.memory, *args])


def test_it_is_asked_in_a_shell(shell: Any) -> None:
    found = shell("ask", ASKED, "--strategy", "second-look", "--trace", "--timings", "-k", "2")
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout.startswith(f"{SAID}  (from the model m)\n\n[1] ")
    assert re.search(rf"^bridges +{re.escape(FURTHER)}$", found.stdout, re.MULTILINE)
    assert re.search(r"^  look +\d", found.stdout.split("\nseconds\n")[1], re.MULTILINE)
    assert re.search(r"^strategy +second-look$", found.stdout, re.MULTILINE)
    told = json.loads(shell("ask", ASKED, "--strategy", "second-look", "--trace", "--json").stdout)
    assert (told["strategy"], told["answer"], told["trace"]["bridges"], len(told["kept"])) == ("second-look", SAID, [FURTHER], 2)
    refused = shell("ask", ASKED, "--strategy", "second-look", "--no-llm")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "Error: second-look needs a language model" in refused.stderr
    assert re.search(r"second-look +searches for what the language model must know first", shell("ask", "--help").stdout)


QUESTION = {"id": "a", "question": ASKED, "answers": [SAID], "passages": [{"title": record["title"], "text": record["text"]} for record in samples.RECORDS[1:2]]}


# In Python


def test_it_is_measured_and_tuned(strategy: Strategy[Any], memory: Memory, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gsw_graph.evaluate.run.WARM", 0.0)
    asked = question_set([("1", QUESTION), ("2", {**QUESTION, "id": "b", "question": f"{ASKED} Say so."})], "q", "1")
    found = evaluate(memory, asked, ["second-look", Variant("second-look", {"near": 1})], plans="none")
    assert [one["em"] for one in found.strategies.values()] == [1, 1]
    passages_alone = evaluate(memory, asked, ["second-look"], plans="none", answer=False)
    assert passages_alone.settings["llm"] == "m", "it cannot search without"
    assert (passages_alone.failures, passages_alone.strategies["second-look"]["em"]) == ([], None)
    calls = server.count()
    with pytest.raises(InputError, match="there is no language model, which second-look needs"):
        evaluate(memory, asked, ["linked", "second-look"], plans="none", llm=False)
    assert server.count() == calls
