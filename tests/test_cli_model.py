"""What the command line shows of language models: answers as they come, plans, notes, tokens, what it took in all, and who read what."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace

import cli_runner
import pytest
from cli_runner import HOSTILE, run
from fake_memory import ASKED, chained

from gsw_graph.cli.text.answers import print_answer
from gsw_graph.cli.text.output import Streamed
from gsw_graph.config import Settings
from gsw_graph.model.results import Trace
from gsw_graph.models.chat.cache import FILE, Cache, Entry, Ledger

fake = cli_runner.fake


def shown(capsys: pytest.CaptureFixture[str], streamed: str = "", timings: bool = False, **changes: object) -> str:
    print_answer(chained("q", **{"models": {"llm": "small"}, **changes}), streamed=streamed, timings=timings)
    return capsys.readouterr().out


def test_an_answer_is_streamed_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = Streamed(lambda: None)
    nowhere.on_text("Skarholm")
    assert (nowhere.end(), capsys.readouterr().out) == ("", "")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    there = Streamed(lambda: None)
    for piece in ("Skar", "holm", HOSTILE):
        there.on_text(piece)
    out = capsys.readouterr().out
    assert there.end() == f"Skarholm{HOSTILE}"
    assert out.startswith("Skarholm")
    assert "\x1b" not in out


def test_a_streamed_answer_is_not_said_twice(capsys: pytest.CaptureFixture[str]) -> None:
    whole = shown(capsys, answer_source="llm")
    assert whole.startswith("Skarholm  (confidence 0.75, from the model small)\n")
    rest = shown(capsys, answer_source="llm", streamed="Skarholm")
    assert rest.startswith("  (confidence 0.75, from the model small)\n")
    assert rest.partition("\n")[2] == whole.partition("\n")[2]
    assert shown(capsys, answer_source="llm", inferred=True).startswith("Skarholm  (confidence 0.75, inferred, from the model small)\n")
    noted = shown(capsys, answer_source="llm", streamed="Skarholm", note="small made no plan")
    assert noted.startswith("  (confidence 0.75, from the model small)\n\nNote: small made no plan\n\n")


@pytest.mark.parametrize("streamed", ["Oslo, or", "Skar", "Skarholm it is"])
def test_what_was_streamed_and_is_not_the_answer_does_not_stand_for_it(streamed: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(capsys, streamed=streamed, answer_source="llm")
    assert said.startswith("\nSkarholm  (confidence 0.75, from the model small)\n")
    said = shown(capsys, streamed=streamed, answer_source="chain", note="small gave no answer")
    assert said.startswith("\nNote: small gave no answer\n\nSkarholm  (confidence 0.75, read off a chain)\n")


def test_a_streamed_answer_that_is_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(
        capsys, streamed="Oslo", answer=None, answer_source="none", abstained=True, missing="nothing in memory supports the model's answer", citations=[]
    )
    assert said.startswith("\nNot in memory: nothing in memory supports the model's answer.\n")


def test_what_is_missing_and_a_note_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    said = shown(capsys, answer=None, answer_source="none", abstained=True, missing=f"when she died {HOSTILE}", note="m made no plan: refused")
    assert said.startswith("Note: m made no plan: refused\n\nNot in memory: when she died ared")
    assert "\x1b" not in said


def test_the_plan_of_a_model_can_be_copied(capsys: pytest.CaptureFixture[str], fake: type) -> None:
    plan = [{"id": 1, "question": "Who's there?"}, {"id": 2, "question": "Is #1 old?", "retrieve": False}]
    said = shown(capsys, plan=plan, plan_source="llm", trace=Trace(hops=ASKED))
    line = next(line for line in said.splitlines() if line.startswith("  --plan "))
    assert json.loads(shlex.split(line)[1]) == plan
    assert "Plan of the language model" not in shown(capsys, plan=plan, plan_source="given", trace=Trace(hops=ASKED))


def test_timings_have_the_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    models = {"embedder": "mini", "reranker": "cosine", "llm": "small"}
    said = shown(capsys, timings=True, models=models, tokens={"in": 1234, "out": 56, "evidence": 78, "prompt": 910}, dollars=0.00123)
    assert "tokens\n  in        1,234\n  out       56\n  evidence  78\n  prompt    910\n" in said
    assert said.endswith("dollars       0.00123\n")


def test_calls_that_failed_are_said(capsys: pytest.CaptureFixture[str], fake: type) -> None:
    models = {"embedder": "mini", "reranker": "cosine", "llm": "small"}
    said = shown(capsys, timings=True, models=models, calls=6, failed_calls=6, dollars=0.0)
    assert said.endswith("calls         6\nfailed_calls  6\ndollars       0\n")
    fake.report = replace(fake.report, calls=6, failed_calls=5, dollars=0.0)
    assert "calls         6\nfailed_calls  5\n" in run("load", "x").stdout


def test_status_counts_what_no_model_could_read(fake: type) -> None:
    assert "could read" not in run("status").output
    fake.state = replace(fake.state, unread={"/far/a.md": [3], "/far/b.md": list(range(1, 24))})
    lines = run("status").output.splitlines()
    assert "No language model could read 24 passages; the next load of the same file asks again. gswgraph list --unfinished" in lines
    assert json.loads(run("status", "--json").stdout)["unread"]["/far/a.md"] == [3]


def test_the_ledger_sums_by_stage_and_document(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("GSWGRAPH_CACHE", str(tmp_path))
    assert run("ledger").output == "No language model was asked yet.\n"
    cache = Cache(Settings.from_env().cache_dir / FILE)
    ledger = Ledger(cache)
    ledger.add(Entry("a.md", "extract", "small", calls=2, prompt_tokens=100, completion_tokens=10, seconds=1.25, dollars=0.5))
    ledger.add(Entry("b.md", "extract", "small", calls=1, failed=1, prompt_tokens=900, completion_tokens=90, seconds=2.0, dollars=1.5))
    ledger.add(Entry("b.md", "mend", "unpriced", calls=1))
    ledger.add(Entry("", "answer", "small", cached=3))
    cache.close()
    said = json.loads(run("ledger", "--json").output)
    assert (said["total"]["calls"], said["total"]["prompt_tokens"], said["total"]["dollars"], len(said["rows"])) == (4, 1000, 2.0, 4)
    lines = [line.split() for line in run("ledger").output.splitlines()]
    assert ["extract", "small", "3", "0", "1", "1000", "100", "3.2", "$2.00"] in lines
    assert ["answer", "small", "0", "3", "0", "0", "0", "0.0", "price", "not", "known"] in lines
    assert ["b.md", "2", "0", "1", "900", "90", "2.0", "at", "least", "$1.50"] in lines
    assert ["a.md", "2", "0", "0", "100", "10", "1.2", "$0.50"] in lines
    documents = [line[0] for line in lines if line and line[0] in ("a.md", "b.md")]
    assert documents == ["b.md", "a.md"], "the dearest first"


def test_status_says_who_read_what_where_that_differs(fake: type) -> None:
    assert "extractor" not in run("status").output
    fake.state = replace(fake.state, extractors={"rules": 2, "llm (small)": 1})
    assert run("status").output.count("extractors\n  rules        2\n  llm (small)  1\n") == 1
