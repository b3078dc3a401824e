"""`gswgraph ask`: passages and the way to them, and lines of questions."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import cli_runner
import pytest
from cli_runner import last_call, run
from fake_memory import canned, passage

from gsw_graph.cli.text import output
from gsw_graph.cli.text.answers import NOT_ANSWERS
from gsw_graph.errors import EngineError
from gsw_graph.model.results import CachedAnswer

fake = cli_runner.fake


def test_ask_passes_its_options_on(fake):
    assert run("ask", "Who", "is it?", "--strategy", "dense", "-k", "1", "--no-answer", "--trace").exit_code == 0
    given = {"strategy": "dense", "plan": None, "k": 1, "answer": False, "trace": True, "llm": True, "keep": True, "budget": None, "question_cache": True}
    assert last_call(fake) == ("ask", ("Who is it?",), given)
    assert run("ask", "q", "--no-llm", "--forget-question", "--llm", "small", "--budget", "2000tok").exit_code == 0
    given = last_call(fake)[2]
    assert (given["llm"], given["keep"], given["budget"], fake.calls[-3][2]["llm"]) == (False, False, "2000tok", "small")


@pytest.mark.parametrize("args", [["-k", "0", "q"], ["--strategy", "magic", "q"], ["  "], [""]])
def test_ask_refuses(fake, args):
    assert run("ask", *args).exit_code == 2
    assert fake.calls == []


def test_ask_prints_the_passages_best_first(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fake.passages = [passage(1, source=f"{tmp_path.as_posix()}/notes/1.md", text="Title 1\nShort."), passage(2, at="2024-06-20T10:30:00+00:00")]
    result = run("ask", "q")
    lines = result.stdout.splitlines()
    assert lines[:5] == ["1. Title 1", "   notes/1.md", "   Short.", "2. Title 2", "   /far/2.md, 2024-06-20 10:30"]
    assert len(lines) == 11
    assert lines[8].endswith(" …")
    assert lines[9:] == ["", NOT_ANSWERS]
    assert max(map(len, lines)) <= output.PIPE_WIDTH
    assert result.stderr == ""


def test_passages_are_not_said_to_be_answers(fake):
    assert NOT_ANSWERS in run("ask", "q").stdout
    assert NOT_ANSWERS not in run("ask", "unknown").stdout
    assert NOT_ANSWERS not in run("ask", "q", "--plan", '["Who?"]', "--strategy", "ricr").stdout


def test_ask_draws_the_paths(fake):
    shown = run("ask", "q", "--trace").stdout
    assert "linked\n  text: the Foundry, concept: foundry\nseeds\n  concept: foundry, weight: 0.75\n" in shown
    assert "walked           neighbourhood\npassages_walked  1,234\n" in shown
    assert '1. question -> [Foundry] -> "Title 1"\n' in shown
    assert '2. question -> [Foundry] -> "Title 1" -> [Ada] -> "Title 2"\n' in shown


def test_ask_shows_where_the_time_went(fake):
    assert "seconds\n  embed  0.0123\n  total  1.5\nround_trips  3\nstrategy     linked\n" in run("ask", "q", "--timings").stdout
    assert "round_trips" not in run("ask", "q").stdout


def test_ask_says_why_a_strategy_was_taken(fake, monkeypatch):
    ask = fake.ask
    monkeypatch.setattr(fake, "ask", lambda self, question, **how: replace(ask(self, question, **how), why="the memory holds no pairs"))
    assert "strategy     linked\nwhy          the memory holds no pairs\n" in run("ask", "q", "--timings").stdout
    assert "\nStrategy: linked, as the memory holds no pairs\n" in run("ask", "q", "--trace").stdout
    assert "as the memory" not in run("ask", "q").stdout
    # Who asks for a strategy and gets another is told in any case.
    assert "\nStrategy: linked, as the memory holds no pairs\n" in run("ask", "q", "--strategy", "ricr").stdout


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
    assert [line for line in result.stdout.splitlines() if line in ("one", "two é", "three")] == ["one", "two é", "three"]
    assert [call[0] for call in fake.calls] == ["open", "warm", "ask", "ask", "ask", "close"]
    assert [call[1] for call in fake.calls if call[0] == "ask"] == [("one",), ("two é",), ("three",)]  # an empty line in a pipe asks nothing


def test_a_question_that_cannot_be_asked_does_not_end_the_lines(fake):
    result = run("ask", "--json", stdin="one\nbad\nunknown\n")
    documents = [json.loads(line) for line in result.stdout.splitlines()]
    assert [document["question"] for document in documents] == ["one", "bad", "unknown"]
    assert documents[1]["error"] == "the question is bad"
    assert result.exit_code == 1
    assert result.stderr == "Error: the question is bad\n"


def test_any_other_error_ends_the_lines(fake):
    fake.raises = EngineError("gone")
    result = run("ask", stdin="one\ntwo\n")
    assert (result.exit_code, result.stderr) == (1, "Error: gone\n")


def test_lines_end_when_the_server_has_gone(fake, monkeypatch):
    def ask(memory, question, **_):
        memory.calls.append(("ask", (question,), {}))
        raise EngineError("the engine does not answer any more", where="bolt://h")

    monkeypatch.setattr(fake, "ask", ask)
    result = run("ask", "--json", stdin="one\ntwo\n")
    assert (result.exit_code, result.stderr) == (1, "Error: bolt://h: the engine does not answer any more\n")
    assert [call[1] for call in fake.calls if call[0] == "ask"] == [("one",)], "nobody waits for a server that has gone"


def test_where_an_answer_came_from_is_said(fake, monkeypatch):
    cached = CachedAnswer("0123456789abcdef", "Who\nwas it?", "Ada", True, "2026-03-01T12:00:00+00:00", "answer")
    answer = replace(canned("Who?", [passage(1)]), answer="Ada", answer_source="cache", cached=cached, id="fedcba9876543210")
    monkeypatch.setattr(fake, "ask", lambda *_, **how: answer if how["question_cache"] else replace(answer, cached=None))
    shown = run("ask", "Who?").stdout
    assert "Ada  (from the question cache)" in shown
    assert re.search(r"As asked on 2026-03-0\d \d\d:\d\d \(confirmed\): Who was it\? -> Ada  \[01234567\]\n", shown)
    assert "gswgraph confirm fedcba98, or gswgraph reject fedcba98" in shown
    assert "As asked on" not in run("ask", "Who?", "--no-question-cache").stdout
    assert json.loads(run("ask", "Who?", "--json").stdout)["cached"]["confirmed"] is True


@pytest.mark.parametrize("verb", ["confirm", "reject"])
def test_what_people_say_of_an_answer(fake, verb):
    assert run(verb, "01234567").stdout == f"{verb.capitalize()}ed: {' '.join(fake.kept.question.split())} -> {fake.kept.answer}\n"
    assert last_call(fake) == (verb, ("01234567",), {})
    assert json.loads(run(verb, "2", "--json").stdout)["verdict"] == f"{verb}ed"
    assert last_call(fake) == (verb, ("2",), {})
