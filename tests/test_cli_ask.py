"""`gswgraph ask`: passages and the way to them, and the prompt."""

from __future__ import annotations

import io
import json
import sys

import cli_runner
import pytest
from cli_runner import last_call, run
from fake_memory import passage

from gsw_graph.cli import output, prompt
from gsw_graph.errors import EngineError

fake = cli_runner.fake


def test_ask_passes_its_options_on(fake):
    assert run("ask", "Who", "is it?", "--strategy", "dense", "-k", "1", "--no-answer", "--trace").exit_code == 0
    given = {"strategy": "dense", "plan": None, "k": 1, "answer": False, "trace": True, "llm": True, "keep": True}
    assert last_call(fake) == ("ask", ("Who is it?",), given)
    assert run("ask", "q", "--no-llm", "--forget-question", "--llm", "small").exit_code == 0
    given = last_call(fake)[2]
    assert (given["llm"], given["keep"], fake.calls[-3][2]["llm"]) == (False, False, "small")


@pytest.mark.parametrize("args", [["-k", "0", "q"], ["--strategy", "magic", "q"], ["  "], [""]])
def test_ask_refuses(fake, args):
    assert run("ask", *args).exit_code == 2
    assert fake.calls == []


def test_ask_prints_the_passages_best_first(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fake.passages = [passage(1, source=f"{tmp_path.as_posix()}/notes/1.md", text="Title 1\nShort."), passage(2)]
    result = run("ask", "q")
    lines = result.stdout.splitlines()
    assert lines[:5] == ["1. Title 1  1", "   notes/1.md", "   Short.", "2. Title 2  0.5", "   /far/2.md"]
    assert len(lines) == 8
    assert lines[-1].endswith(" …")
    assert max(map(len, lines)) <= output.PIPE_WIDTH
    assert result.stderr == ""


def test_ask_draws_the_paths(fake):
    shown = run("ask", "q", "--trace").stdout
    assert 'Names linked: "the Foundry" is foundry\nSeeds: foundry 0.75\nWalked: whole graph, 1,234 passages\n' in shown
    assert '1. question -> [Foundry] -> "Title 1"\n' in shown
    assert '2. question -> [Foundry] -> "Title 1" -> [Ada] -> "Title 2"\n' in shown


def test_ask_shows_where_the_time_went(fake):
    assert "Time: embed 12 ms, total 1.5 s; 3 round trips; strategy linked" in run("ask", "q", "--timings").stdout
    assert "Time:" not in run("ask", "q").stdout


def test_not_in_memory_is_exit_code_3(fake):
    result = run("ask", "unknown")
    assert (result.exit_code, result.stdout) == (3, "Not in memory: nothing was found.\n")
    result = run("ask", "unknown", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["abstained"] is True


def test_without_a_question_it_reads_one_a_line(fake):
    result = run("ask", "-k", "1", stdin="\ufeffone\r\ntwo é\n\nthree\n")
    assert result.exit_code == 0
    assert result.stdout.count("1. Title 1") == 3
    assert [call[0] for call in fake.calls] == ["open", "warm", "ask", "ask", "ask", "close"]
    assert [call[1] for call in fake.calls if call[0] == "ask"] == [("one",), ("two é",), ("three",)]  # an empty line in a pipe asks nothing


def test_a_question_that_cannot_be_asked_does_not_end_the_prompt(fake):
    result = run("ask", "--json", stdin="one\nbad\nunknown\n")
    documents = [json.loads(line) for line in result.stdout.splitlines()]
    assert [document["question"] for document in documents] == ["one", "bad", "unknown"]
    assert documents[1]["error"] == "the question is bad"
    assert result.exit_code == 1
    assert result.stderr == "Error: the question is bad\n"


def test_any_other_error_ends_the_prompt(fake):
    fake.raises = EngineError("gone")
    result = run("ask", stdin="one\ntwo\n")
    assert (result.exit_code, result.stderr) == (1, "Error: gone\n")


@pytest.mark.parametrize("to_terminal", [True, False])
def test_a_terminal_is_asked_until_an_empty_line(monkeypatch, capsys, to_terminal):
    shown, typed = [], iter(["one", " two ", "", "three"])
    monkeypatch.setattr("builtins.input", lambda text="": shown.append(text) or next(typed))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    sys.stdin.isatty = lambda: True
    monkeypatch.setattr(sys.stdout, "isatty", lambda: to_terminal, raising=False)
    assert list(prompt._questions()) == ["one", "two"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Ask. ")
    assert shown == ["? " if to_terminal else ""] * 3
    assert captured.err.count("? ") == (0 if to_terminal else 3)


def test_ctrl_d_ends_the_prompt(monkeypatch):
    def end(text=""):
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    sys.stdin.isatty = lambda: True
    assert list(prompt._questions()) == []
