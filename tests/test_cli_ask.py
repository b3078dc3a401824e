"""`gswgraph ask`: passages and the way to them, and lines of questions."""

from __future__ import annotations

import json
import os

import cli_runner
import pytest
from cli_runner import last_call, run
from fake_memory import canned, passage

from gsw_graph.cli import main
from gsw_graph.cli.text import output
from gsw_graph.cli.text.answers import NOT_ANSWERS
from gsw_graph.errors import EngineError, InputError

fake = cli_runner.fake


def test_ask_passes_its_options_on(fake):
    assert (
        run("ask", "Who", "is it?", "--strategy", "dense", "-k", "1", "--no-answer", "--trace").exit_code == 0
    )
    given = {
        "strategy": "dense",
        "plan": None,
        "k": 1,
        "answer": False,
        "trace": True,
        "llm": True,
        "keep": True,
        "budget": None,
        "question_cache": True,
    }
    assert last_call(fake) == ("ask", ("Who is it?",), given)
    assert (
        run("ask", "q", "--no-llm", "--forget-question", "--llm", "small", "--budget", "2000tok").exit_code
        == 0
    )
    given = last_call(fake)[2]
    assert given["llm"] is False
    assert given["keep"] is False
    assert given["budget"] == "2000tok"
    assert fake.calls[-3][2]["llm"] == "small"


@pytest.mark.parametrize("args", [["-k", "0", "q"], ["--strategy", "magic", "q"], ["  "], [""]])
def test_ask_refuses(fake, args):
    assert run("ask", *args).exit_code == 2
    assert fake.calls == []


def test_ask_prints_the_passages_best_first(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fake.passages = [
        passage(1, source=f"{tmp_path.as_posix()}/notes/1.md", text="Title 1\nShort."),
        passage(2, at="2024-06-20T10:30:00+00:00"),
    ]
    result = run("ask", "q")
    lines = result.stdout.splitlines()
    assert lines[:5] == [
        "1. Title 1",
        "   notes/1.md",
        "   Short.",
        "2. Title 2",
        "   /far/2.md, 2024-06-20 10:30",
    ]
    assert len(lines) == 11
    assert lines[8].endswith(" …")
    assert lines[9:] == ["", NOT_ANSWERS]
    assert max(map(len, lines)) <= output.PIPE_WIDTH
    assert result.stderr == ""


def test_not_in_memory_is_exit_code_3(fake):
    result = run("ask", "unknown")
    assert result.exit_code == 3
    assert result.stdout == "Not in memory: nothing was found.\n"
    result = run("ask", "unknown", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["abstained"] is True


def test_without_a_question_it_reads_one_a_line(fake):
    result = run("ask", "-k", "1", stdin="\ufeffone\r\ntwo é\n\nthree\n")
    assert result.exit_code == 0
    assert result.stdout.count("1. Title 1") == 3
    assert [line for line in result.stdout.splitlines() if line in ("one", "two é", "three")] == [
        "one",
        "two é",
        "three",
    ]
    assert [call[0] for call in fake.calls] == ["open", "warm", "ask", "ask", "ask", "close"]
    assert [call[1] for call in fake.calls if call[0] == "ask"] == [
        ("one",),
        ("two é",),
        ("three",),
    ]  # an empty line in a pipe asks nothing


def test_a_question_that_cannot_be_asked_does_not_end_the_lines(fake):
    result = run("ask", "--json", stdin="one\nbad\nunknown\n")
    documents = [json.loads(line) for line in result.stdout.splitlines()]
    assert [document["question"] for document in documents] == ["one", "bad", "unknown"]
    assert documents[1]["error"] == "the question is bad"
    assert result.exit_code == 1
    assert result.stderr == "Error: the question is bad\n"


def test_lines_end_when_the_server_has_gone(fake, monkeypatch):
    def ask(memory, question, **_):
        memory.calls.append(("ask", (question,), {}))
        raise EngineError("the engine does not answer any more", where="bolt://h")

    monkeypatch.setattr(fake, "ask", ask)
    result = run("ask", "--json", stdin="one\ntwo\n")
    assert result.exit_code == 1
    assert result.stderr == "Error: bolt://h: the engine does not answer any more\n"
    assert [call[1] for call in fake.calls if call[0] == "ask"] == [("one",)], (
        "nobody waits for a server that has gone"
    )


@pytest.mark.parametrize("verb", ["confirm", "reject"])
def test_what_people_say_of_an_answer(fake, verb):
    expected = f"{verb.capitalize()}ed: {' '.join(fake.kept.question.split())} -> {fake.kept.answer}\n"
    assert run(verb, "01234567").stdout == expected
    assert last_call(fake) == (verb, ("01234567",), {})
    assert json.loads(run(verb, "2", "--json").stdout)["verdict"] == f"{verb}ed"
    assert last_call(fake) == (verb, ("2",), {})


@pytest.mark.parametrize("at_terminal", [True, False])
def test_lines_at_a_terminal_are_turns_of_a_conversation(fake, monkeypatch, at_terminal):
    pty = pytest.importorskip("pty")
    asked = []

    def ask(memory, question, *, turns=(), **_):
        asked.append((question, [turn["question"] for turn in turns]))
        if question == "bad":
            raise InputError("the question is bad")
        return canned(question, list(memory.passages))

    monkeypatch.setattr(fake, "ask", ask)
    written, read = pty.openpty() if at_terminal else os.pipe()[::-1]
    os.write(written, b"one\nbad\ntwo\n" + b"\x04" * at_terminal)
    if not at_terminal:
        os.close(written)
    with os.fdopen(read, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert main.main(["ask"], standalone_mode=False) == 1
    earlier = ["one"] if at_terminal else []
    assert asked == [("one", []), ("bad", earlier), ("two", earlier)]
