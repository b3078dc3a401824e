"""The table of strategies: README and help say what the records say, the records say what is true, and every constant of a recipe reaches who uses it."""

from __future__ import annotations

import json
import re
import shutil
import socket
from dataclasses import asdict, replace
from pathlib import Path

import engines
import fakes
import numpy as np
import pytest
import samples
from model_server import ModelServer, stage_of

from gsw_graph.ask.asking import prepare_query
from gsw_graph.ask.options import AskOptions
from gsw_graph.ask.retrieve.recipes import Fit
from gsw_graph.ask.retrieve.strategies import STRATEGIES, strategies
from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelError, ModelUnavailableError
from gsw_graph.evaluate.data import question_set
from gsw_graph.evaluate.fit import fit_scores
from gsw_graph.memory import Memory
from gsw_graph.models.chat.chat import Chat
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.models.rerank import HttpReranker

README = Path(__file__).parents[1] / "README.md"
# What a language model says to agents, by stage; else it answers from the first line.
SAID = {
    "grasp_plan": "Plan: follow the chain.\n1. Who built the Stone Pier?\n2. Where was #1 born?",
    "grasp_find": "Answer: Ana Ruiz\nFinding: Ana Ruiz built the Stone Pier.\nLines: 1",
    "ircot": "The Stone Pier was built by Ana Ruiz.",
    "overview_extract": "The Stone Pier was built by Ana Ruiz. [1]",
    "select": {"needed": [1], "missing": "Who is Ana Ruiz?"},
}


def said(body):
    """What it says; an agent follows a name before it finds anything."""
    stage = stage_of(body)
    if stage == "grasp_find" and "Looked up already" not in body["messages"][1]["content"]:
        return "Follow: Ana Ruiz | what Ana Ruiz did"
    return SAID.get(stage, "Answer: Ana Ruiz\nSources: 1")


@pytest.fixture(scope="module")
def sample(sample_folder, tmp_path_factory):
    copy = tmp_path_factory.mktemp("strategies")
    shutil.copytree(sample_folder, copy / "memory")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        with ModelServer(said) as server:
            settings = Settings(
                memory=str(copy / "memory"),
                cache_dir=engines.quick_cache(copy / "cache"),
                llm="m",
                llm_url=server.url,
            )
            with Memory.open(settings=settings) as memory:
                yield memory


# What the table says


def test_each_stands_under_its_name_with_one_line():
    for name, one in STRATEGIES.items():
        assert one.name == name
        assert one.help
        assert "\n" not in one.help
        assert ("passages" in one.gives) == (name != "none")


def test_the_page_of_strategies_names_them():
    page = (README.parent / "docs/strategies.md").read_text("utf-8")
    assert [name for name in STRATEGIES if f"`{name}" not in page] == []


PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
TOY = re.findall(r"```python\n(# toy_strategy.py\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
AGAIN = 'AGAIN = Strategy("linked", "a name that is taken", run, NoRecipe())\n'


def test_another_package_adds_one_by_its_entry_point(sample, tmp_path, monkeypatch):
    (tmp_path / "toy_strategy.py").write_text(TOY + AGAIN)
    (info := tmp_path / "toy_strategy-1.0.dist-info").mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-strategy\nVersion: 1.0\n")
    lines = [
        "toy = toy_strategy:TOY",
        "again = toy_strategy:AGAIN",
        "none = toy_strategy:run",
        "gone = no_such_module:X",
    ]
    (info / "entry_points.txt").write_text("\n".join(["[gswgraph.strategies]", *lines]))
    monkeypatch.syspath_prepend(str(tmp_path))
    strategies.cache_clear()
    try:
        with pytest.warns(UserWarning, match="is left out") as warned:
            found = strategies()
        assert {name: one for name, one in found.items() if name != "toy"} == STRATEGIES
        expected = [f"the strategy '{name}'" for name in ("again", "gone", "none")]
        assert sorted(str(one.message).partition(" of ")[0] for one in warned) == expected
        answer = sample.ask("Who built the Stone Pier?", strategy="toy", k=2, keep=False)
        assert answer.strategy == "toy"
        assert answer.passages
    finally:
        strategies.cache_clear()


def test_a_name_that_there_is_not_is_answered_by_those_there_are():
    with pytest.raises(InputError, match=f"there is no strategy 'magic'.*{', '.join(STRATEGIES)}"):
        prepare_query("Who?", AskOptions(strategy="magic"))
    for one in STRATEGIES.values():
        if one.follows_plan:
            assert prepare_query("Who?", AskOptions(strategy=one.name, plan=["Who?"]))[0] is one
        else:
            with pytest.raises(InputError, match=f"{one.name} does not follow a plan.*ricr or fusion"):
                prepare_query("Who?", AskOptions(strategy=one.name, plan=["Who?"]))


def asked(memory, strategy, question=samples.QUESTION, llm=False):
    """A question asked by a strategy in every way: with a plan and without."""
    for plan in [None, samples.PLAN] if strategy.follows_plan else [None]:
        yield memory.ask(
            question,
            strategy=strategy,
            plan=plan,
            k=3,
            trace=True,
            llm=llm or "llm" in strategy.needs,
            keep=False,
        )


@pytest.mark.parametrize("name", STRATEGIES)
def test_they_give_what_they_say(sample, name):
    found = list(asked(sample, STRATEGIES[name]))
    assert all(bool(answer.passages) == (name != "none") for answer in found)
    assert any(answer.chains for answer in found) == ("chains" in STRATEGIES[name].gives)
    assert any(answer.answer for answer in found) == ("answer" in STRATEGIES[name].gives)
    assert all((answer.trace is None) == (name in ("dense", "bm25")) for answer in found), (
        "where there is something to tell"
    )


# What scores are fitted to


def test_scores_are_fitted_anew_to_the_models_of_a_memory(sample, tmp_path):
    plan = [
        {"id": n, "question": step, "answer": answer}
        for n, (step, answer) in enumerate(zip(samples.PLAN, samples.CHAIN, strict=True), 1)
    ]
    passages = [{"title": record["title"], "text": record["text"]} for record in samples.RECORDS]
    record = {"question": samples.QUESTION, "answers": samples.CHAIN[-1:], "passages": passages, "plan": plan}
    fit, steps = fit_scores(sample, question_set([(str(n), {**record, "id": str(n)}) for n in range(7)]))
    assert steps == 21
    assert fit.embedder == sample.settings.embedder
    assert fit.reranker == "cosine"
    assert len(fit.pair) == 9
    assert {name: len(weights) for name, weights in fit.chains.items()} == {"ricr": 5, "fusion": 5}
    answers = {}
    for name, one in (("anew", fit), ("other", Fit(embedder="other"))):
        (file := tmp_path / f"{name}.json").write_text(json.dumps(asdict(one)))
        memory = Memory(sample._connection, replace(sample.settings, fit=str(file)), sample.embedder)
        answers[name] = memory.ask(
            samples.QUESTION, strategy="ricr", plan=samples.PLAN, llm=False, keep=False
        )
        assert answers[name].chains[0].hops[-1].answer == samples.CHAIN[-1]
    assert answers["anew"].why is None
    assert answers["other"].why.startswith(
        "its scores are fitted to other and cosine, not to all-MiniLM-L6-v2 and cosine, so plain"
    )
    with pytest.raises(InputError, match="sub-questions"):
        fit_scores(sample, question_set([("1", {**record, "plan": samples.PLAN})]))


# What becomes of constants


class Titled:
    """A reranker that sees an answer in the passages of one title alone."""

    name = "titled"

    def __init__(self, title):
        self.title = title

    def score(self, pairs):
        return np.array([0.9 if text.startswith(f"{self.title}\n") else 0.1 for _, text in pairs], np.float32)


@pytest.mark.parametrize("name", ["dense", "bm25", "linked", "pruned"])
def test_a_reranker_that_is_set_has_a_say(sample, name, monkeypatch):
    def ask(question="Where was the builder of the pier born?"):
        return sample.ask(question, strategy=name, k=5, trace=True, answer=False, llm=False, keep=False)

    usual = ask()
    last = usual.passages[-1].title
    monkeypatch.setattr(sample, "_reranker", Titled(last))
    answer = ask()
    place = [passage.title for passage in answer.passages].index(last)
    assert place == 0 if name in ("dense", "bm25") else place < len(usual.passages) - 1
    assert answer.models["reranker"] == "titled"
    assert (answer.trace and answer.trace.reranker) == "titled"
    assert answer.seconds["rerank"] > 0 == usual.seconds["rerank"]
    if name == "linked":  # one passage alone has this name
        assert ask("Who built the Stone Pier?").models["reranker"] is None


class Down:
    """A reranker whose server is away, or whose question was ended."""

    name = "down"

    def __init__(self, error):
        self.error = error

    def score(self, pairs):
        raise self.error


def test_the_walks_go_on_without_a_reranker_that_fails(sample, monkeypatch):
    def ask(name):
        return sample.ask(
            "What was built at the pier after 1900?",
            strategy=name,
            trace=True,
            answer=False,
            llm=False,
            keep=False,
        )

    walks = ("linked", "pruned", "pathwise")
    usual = {name: ask(name) for name in walks}
    monkeypatch.setattr(sample, "_reranker", Down(ModelError("no reply")))
    for name in walks:
        answer = ask(name)
        assert answer.passages == usual[name].passages
        assert answer.note == "the order is without the reranker: no reply"
        assert answer.models["reranker"] is None
    sample.warm()
    for name in ("dense", "bm25"):
        with pytest.raises(ModelError, match="no reply"):
            ask(name)
    monkeypatch.setattr(sample, "_reranker", Down(ModelUnavailableError("ended")))
    with pytest.raises(ModelUnavailableError):
        ask("linked")


def test_the_walks_go_on_without_a_reranker_server_that_is_down(sample, monkeypatch, tmp_path):
    """Nor is the language model closed, which other questions may be asking."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/rerank"
    question = "What was built at the pier after 1900?"
    how = {"answer": False, "llm": False, "keep": False}
    usual = sample.ask(question, strategy="linked", **how)
    with Chat.open(Settings(llm="m", llm_url="http://127.0.0.1:9/v1", cache_dir=tmp_path)) as chat:
        monkeypatch.setattr(sample, "_chat", chat)
        monkeypatch.setattr(sample, "_reranker", HttpReranker(url))
        answer = sample.ask(question, strategy="linked", **how)
        assert answer.passages == usual.passages
        assert answer.note is not None
        assert "the order is without the reranker" in answer.note
        assert "cannot be reached" in answer.note
        with pytest.raises(ModelError, match="the reranker cannot be reached") as raised:
            sample.ask(question, strategy="dense", **how)
        assert "--no-llm" not in str(raised.value)
        assert sample._chat is chat
        assert chat.ledger.total().calls == 0, "its file is open"


def test_named_memories_ask_one_language_model(sample, monkeypatch, tmp_path):
    """With its one limit of calls at once; what is lent stays open when a memory of the server's is put away."""
    with Chat.open(Settings(llm="m", llm_url="http://127.0.0.1:9/v1", cache_dir=tmp_path)) as chat:
        monkeypatch.setattr(sample, "_chat", chat)
        letters = sample.named("letters")
        notes = sample.named("notes")
        assert letters.chat is notes.chat is letters.named("notes").chat is chat
        letters.close()
        assert notes.chat is chat
        assert chat.ledger.total().calls == 0, "its file is open"
        notes._close_chat(chat)
        assert sample._chat is None, "the next question makes another, whichever memory it asks"
