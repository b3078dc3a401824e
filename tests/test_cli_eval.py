"""`gswgraph eval`: what is asked for, what is shown, how it ends."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner
from evaluate_fakes import FakeMemory, record
from samples import cases

from gsw_graph.cli import LazyGroup
from gsw_graph.cli.options import memory_option
from gsw_graph.errors import InputError

QUESTIONS = [
    record("a", 1, 2, hops=2, plan=["A?", "B #1?"]),
    record("b", 3, hops=3),
    record("c", 4, answerable=False),
]


@click.group(cls=LazyGroup, table={"eval": ("eval", "Measure strategies.")})
@memory_option
def main():
    """The commands as `gswgraph` has them."""


class Memory(FakeMemory):
    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True


@pytest.fixture
def memory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "GSWGRAPH_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    found = Memory(
        lambda question, strategy: InputError("too odd") if question == "odd?" else [1, 7, 3],
        {("a?", "ricr"): {"answer": "Ada", "answer_source": "chain"}},
    )

    def opened(url, *, llm=None, models=(), concurrency=None):
        found.url = url
        found.concurrency = concurrency
        return found

    monkeypatch.setattr("gsw_graph.cli.eval.open_memory", opened)
    monkeypatch.setattr("gsw_graph.evaluate.run.WARM", 0.0)
    (tmp_path / "q.json").write_text(json.dumps(QUESTIONS))
    return found


def run(*args):
    return CliRunner().invoke(main, ["eval", *args])


@pytest.mark.parametrize(
    "args",
    [
        ["q.json"],
        ["run", "q.json"],
        ["--strategy", "linked,dense", "q.json"],
        ["q.json", "--strategy", "linked, dense", "-k", "3"],
    ],
)
def test_questions_are_asked_with_or_without_run(memory, args):
    result = run(*args)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert memory.closed
    assert {call["strategy"] for call in memory.calls} == (
        {"linked", "dense"} if "--strategy" in args else {"auto"}
    )
    assert {call["k"] for call in memory.calls} == {3 if "-k" in args else 20}


def test_json_is_the_whole_evaluation_and_the_folder_holds_the_same(memory, tmp_path):
    result = run("q.json", "--strategy", "ricr", "--out", "out/deep", "--json")
    found = json.loads(result.stdout)
    assert list(found) == ["settings", "strategies", "differences", "questions", "failures"]
    assert found["strategies"]["ricr"]["recall"]["5"] == 0.75
    folder = tmp_path / "out/deep"
    assert json.loads((folder / "results.json").read_text()) == found
    asked = len(memory.calls)
    assert "Written: out/deep/results.json" in run("q.json", "--strategy", "ricr", "--out", "out/deep").stdout
    assert len(memory.calls) == asked  # all was there


@pytest.mark.parametrize(
    ("args", "code", "message"),
    cases(__file__, "refusals"),
)
def test_refusals(memory, args, code, message):
    result = run(*args)
    assert result.exit_code == code
    assert message in result.stderr
    assert memory.calls == []


def test_compare(memory):
    run("q.json", "--strategy", "ricr", "--out", "one")
    memory.found = lambda question, strategy: [1, 2]
    run("q.json", "--strategy", "ricr", "-k", "5", "--out", "two")
    result = run("compare", "one", "two/results.json")
    lines = result.stdout.splitlines()
    assert lines[:2] == ["3 questions in both, 0 only in A, 0 only in B", "Not the same: k: 20 / 5"]
    assert "ricr, recall@5: -25.0 points [-100.0, +50.0], 1 won, 0 equal, 1 lost" in lines
    assert json.loads(run("compare", "one", "two", "--json").stdout)["questions"] == 3


def test_an_interrupted_run_says_how_it_goes_on(memory):
    def interrupt(question, strategy):
        raise KeyboardInterrupt

    memory.found = interrupt
    result = run("q.json", "--strategy", "linked", "--out", "out")
    assert result.exit_code == 130
    assert "What was asked is stored in out: the same call goes on from there." in result.stderr


def test_a_part_is_asked_side_by_side_and_looked_at(memory):
    assert run("q.json", "--strategy", "ricr,linked", "--out", "one", "--at-once", "4", "-q").exit_code == 0
    assert memory.concurrency == 4, "the model is asked as often at once"
    shown = run("q.json", "--strategy", "ricr,linked", "--out", "one", "--at-once", "4").stdout
    assert "mean ms" in " ".join(shown.split("\n")[1].split()), "each question has its own time"
    assert "4 at once, timed side by side" in shown
    result = run(
        "q.json",
        "--strategy",
        "ricr",
        "-k",
        "5",
        "--limit",
        "2",
        "--sample",
        "1",
        "--seed",
        "1",
        "--out",
        "two",
        "--json",
    )
    assert len(json.loads(result.stdout)["questions"]) == 1
