"""What the command line shows of language models: answers as they come, plans, notes, tokens, what it took in all, and who read what."""

from __future__ import annotations

import json
import shlex
import sys

import cli_runner
import pytest
from cli_runner import HOSTILE, run
from fake_memory import ASKED, chained

from gsw_graph.cli.text.answers import print_answer
from gsw_graph.cli.text.output import Streamed, Waiting
from gsw_graph.config import Settings
from gsw_graph.model.results import Trace
from gsw_graph.models.chat.cache import FILE, Cache, Entry, Ledger

fake = cli_runner.fake


def shown(capsys, streamed="", timings=False, **changes):
    print_answer(chained("q", **{"models": {"llm": "small"}, **changes}), streamed=streamed, timings=timings)
    return capsys.readouterr().out


def test_an_answer_is_streamed_on_a_terminal_alone(monkeypatch, capsys):
    nowhere = Streamed(Waiting())
    nowhere.on_text("Skarholm")
    assert nowhere.end() == ""
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    there = Streamed(Waiting())
    for piece in ("Skar", "holm", HOSTILE):
        there.on_text(piece)
    out = capsys.readouterr().out
    assert there.end() == f"Skarholm{HOSTILE}"
    assert out.startswith("Skarholm")
    assert "\x1b" not in out


@pytest.mark.parametrize("streamed", ["Oslo, or", "Skar", "Skarholm it is"])
def test_what_was_streamed_and_is_not_the_answer_does_not_stand_for_it(streamed, capsys):
    said = shown(capsys, streamed=streamed, answer_source="llm")
    assert said.startswith("\nSkarholm  (confidence 0.75, from the model small)\n")
    said = shown(capsys, streamed=streamed, answer_source="chain", note="small gave no answer")
    assert said.startswith("\nNote: small gave no answer\n\nSkarholm  (confidence 0.75, read off a chain)\n")


def test_the_plan_of_a_model_can_be_copied(capsys, fake):
    plan = [{"id": 1, "question": "Who's there?"}, {"id": 2, "question": "Is #1 old?", "retrieve": False}]
    said = shown(capsys, plan=plan, plan_source="llm", trace=Trace(hops=ASKED))
    assert "Plan of the language model:\n  #1  Who's there?\n  #2  Is #1 old?  (compares)\n" in said
    line = next(line for line in said.splitlines() if line.startswith("  --plan "))
    assert json.loads(shlex.split(line)[1]) == plan
    assert "Plan of the language model" not in shown(
        capsys, plan=plan, plan_source="given", trace=Trace(hops=ASKED)
    )


def test_the_ledger_sums_by_stage_and_document(monkeypatch, tmp_path):
    monkeypatch.setenv("GSWGRAPH_CACHE", str(tmp_path))
    assert run("ledger").output == "No language model was asked yet.\n"
    cache = Cache(Settings.from_env().cache_dir / FILE)
    ledger = Ledger(cache)
    ledger.add(
        Entry(
            "a.md",
            "extract",
            "small",
            calls=2,
            prompt_tokens=100,
            completion_tokens=10,
            seconds=1.25,
            dollars=0.5,
        )
    )
    ledger.add(
        Entry(
            "b.md",
            "extract",
            "small",
            calls=1,
            failed=1,
            prompt_tokens=900,
            completion_tokens=90,
            seconds=2.0,
            dollars=1.5,
        )
    )
    ledger.add(Entry("b.md", "mend", "unpriced", calls=1))
    ledger.add(Entry("", "answer", "small", cached=3))
    cache.close()
    said = json.loads(run("ledger", "--json").output)
    assert said["total"]["calls"] == 4
    assert said["total"]["prompt_tokens"] == 1000
    assert said["total"]["dollars"] == 2.0
    assert len(said["rows"]) == 4
    lines = [line.split() for line in run("ledger").output.splitlines()]
    assert ["extract", "small", "3", "0", "1", "1000", "100", "3.2", "$2.00"] in lines
    assert ["answer", "small", "0", "3", "0", "0", "0", "0.0", "price", "not", "known"] in lines
    assert ["b.md", "2", "0", "1", "900", "90", "2.0", "at", "least", "$1.50"] in lines
    assert ["a.md", "2", "0", "0", "100", "10", "1.2", "$0.50"] in lines
    documents = [line[0] for line in lines if line and line[0] in ("a.md", "b.md")]
    assert documents == ["b.md", "a.md"], "the dearest first"
