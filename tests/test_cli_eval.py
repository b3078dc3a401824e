"""`gswgraph eval`: what is asked for, what is shown, how it ends."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner
from evaluate_fakes import FakeMemory, record

from gsw_graph.cli import LazyGroup
from gsw_graph.cli.options import memory_option
from gsw_graph.errors import InputError

QUESTIONS = [record("a", 1, 2, hops=2, plan=["A?", "B #1?"]), record("b", 3, hops=3), record("c", 4, answerable=False)]


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
    found = Memory(lambda question, strategy: InputError("too odd") if question == "odd?" else [1, 7, 3], {("a?", "ricr"): {"answer": "Ada", "answer_source": "chain"}})

    def opened(url, *, llm=None, models=(), concurrency=None):
        found.url, found.concurrency = url, concurrency
        return found

    monkeypatch.setattr("gsw_graph.cli.eval.open_memory", opened)
    monkeypatch.setattr("gsw_graph.evaluate.run.WARM", 0.0)
    (tmp_path / "q.json").write_text(json.dumps(QUESTIONS))
    return found


def run(*args):
    return CliRunner().invoke(main, ["eval", *args])


@pytest.mark.parametrize("args", [["q.json"], ["run", "q.json"], ["--strategy", "linked,dense", "q.json"], ["q.json", "--strategy", "linked, dense", "-k", "3"]])
def test_questions_are_asked_with_or_without_run(memory, args):
    result = run(*args)
    assert (result.exit_code, result.stderr) == (0, "")
    assert memory.closed
    assert {call["strategy"] for call in memory.calls} == ({"linked", "dense"} if "--strategy" in args else {"auto"})
    assert {call["k"] for call in memory.calls} == {3 if "-k" in args else 20}


def test_the_table_says_what_was_measured(memory):
    shown = run("q.json", "--strategy", "ricr,linked", "--plans", "gold").stdout
    lines = shown.splitlines()
    assert lines[0] == (
        "3 questions (own); k=20; reads the usual evidence, may refuse; plans: gold decomposition (no strategy followed one); "  # the fake does not say that it did
        "model: none; embedder: mini; reranker: cosine"
    )
    assert lines[1].split()[:3] == ["strategy", "n", "recall@1"]
    assert [line.split()[0] for line in lines if line.startswith(("ricr", "linked "))][:2] == ["ricr", "linked"]
    hops = next(line for line in lines if line.startswith("by_hops: 2, strategy: ricr, n: 1, recall: "))
    assert "5 0.5;" in hops
    assert ", em: 1, f1: 1" in hops
    assert "first: ricr, second: linked, metric: recall@5, n: 2, mean: 0, interval: 0; 0, above: 0, below: 0, equal: 2" in lines


def test_json_is_the_whole_evaluation_and_the_folder_holds_the_same(memory, tmp_path):
    result = run("q.json", "--strategy", "ricr", "--out", "out/deep", "--json")
    found = json.loads(result.stdout)
    assert list(found) == ["settings", "strategies", "differences", "questions", "failures"]
    assert found["strategies"]["ricr"]["recall"]["5"] == 0.75
    folder = tmp_path / "out" / "deep"
    assert json.loads((folder / "results.json").read_text()) == found
    asked = len(memory.calls)
    assert "Written: out/deep/results.json" in run("q.json", "--strategy", "ricr", "--out", "out/deep").stdout
    assert len(memory.calls) == asked  # all was there


def test_what_failed_is_listed_and_the_rest_stands(memory, tmp_path):
    (tmp_path / "q.json").write_text(json.dumps([*QUESTIONS, {"no": "question"}, record("odd", 1)]))
    result = run("q.json", "--strategy", "linked")
    assert result.exit_code == 4
    assert result.stderr.splitlines() == ["Failed: q.json: record 4: no `question`", "Failed: odd (linked): too odd"]
    assert "Note: linked: 1 question could not be asked and counts as not found" in result.stdout


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["q.json", "--strategy", "magic"], 2, "there is no strategy 'magic'"),
        (["q.json", "--strategy", "linked[walk.nothing=1]"], 2, "linked has no setting 'walk.nothing'"),
        (["q.json", "--strategy", "linked", "--strategy", "dense,linked"], 1, "named twice"),
        (["q.json", "-k", "0"], 2, "0 is not in the range"),
        ([], 2, "Usage"),
        (["none.json"], 1, "Error: none.json: the file cannot be read"),
        (["q.json", "--judge", "m", "--no-answer"], 1, "nothing to judge"),
        (["q.json", "--plans", "none.json"], 1, "Error: none.json: the file cannot be read"),
        (["compare", "q.json", "q.json"], 1, "no results of an evaluation"),
        (["compare", "q.json", "nowhere"], 2, "nowhere"),
    ],
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
    assert lines[:4] == ["questions    3", "only_first   0", "only_second  0", "settings"]
    assert lines[4].split() == ["k", "20;", "5"]
    assert "first: ricr, second: ricr, metric: recall@5, n: 2, mean: -0.25, interval: -1; 0.5, above: 1, below: 1, equal: 0" in lines
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
    assert "ms" not in " ".join(run("q.json", "--strategy", "ricr,linked", "--out", "one", "--at-once", "4").stdout.split("\n")[1].split())
    result = run("q.json", "--strategy", "ricr", "-k", "5", "--limit", "2", "--sample", "1", "--seed", "1", "--out", "two", "--json")
    assert len(json.loads(result.stdout)["questions"]) == 1
