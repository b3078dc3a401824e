"""`gswgraph ask --plan`: what is said, what it stands on, what was considered, and what is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import cli_runner
import pytest
from cli_runner import HOSTILE, last_call, run
from fake_memory import BORN, chained, hop

from gsw_graph.ask.plan import parse
from gsw_graph.model.results import QA, Candidate, Chain, Citation, HopTrace, Trace

fake = cli_runner.fake

PLAN = '["Who founded the foundry?", "Where was #1 born?"]'


def ask(*args):
    return run("ask", "Where was its founder born?", "--plan", PLAN, *args)


@pytest.mark.parametrize("name", ["plan.json", None])
def test_a_plan_is_a_file_or_json(fake, tmp_path, name):
    if name:
        (tmp_path / name).write_text(PLAN, encoding="utf-8")
    result = run("ask", "q", "--strategy", "ricr", "--plan", str(tmp_path / name) if name else PLAN)
    assert result.exit_code == 0
    expected = {
        "strategy": "ricr",
        "plan": parse(PLAN),
        "k": 5,
        "answer": True,
        "trace": False,
        "llm": True,
        "keep": True,
        "budget": None,
        "question_cache": True,
    }
    assert last_call(fake) == ("ask", ("q",), expected)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ('["Who?", "Where was #4 born?"]', "step 2 refers to #4, and there is no step 4"),
        ('["Where was #2 born?", "Where was #1 born?"]', "in a circle: 1 -> 2 -> 1"),
        ("[broken", "the plan is not JSON"),
        ("[]", "the plan is empty"),
        ("", "the plan is empty"),
        ("nosuch.json", "nosuch.json: the plan cannot be read"),
        ('["a\\u0000b"]', "without NUL"),
    ],
)
def test_a_plan_that_cannot_be_followed_is_one_clear_line(fake, tmp_path, monkeypatch, plan, said):
    monkeypatch.chdir(tmp_path)
    result = run("ask", "q", "--plan", plan, "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert fake.calls == []
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr


def test_a_plan_wants_its_question(fake):
    result = run("ask", "--plan", PLAN, stdin="q\n")
    assert result.exit_code == 2
    assert fake.calls == []
    assert "give the question too" in result.stderr


def test_the_answer_comes_first_then_what_it_stands_on(fake):
    result = ask()
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:14] == [
        "Skarholm  (confidence 0.75, read off a chain)",
        "",
        '[1] "Ada founded it."',
        "    Title 1, /far/1.md",
        '[2] "She is from Skarholm."',
        "    Title 2, /far/2.md",
        "",
        "Chain, score 0.80 of 1:",
        "1. Who founded the foundry? -> Ada  0.90 (vector, name)",
        "2. Where was #1 born? -> Where was Ada born? -> Skarholm  0.75 (vector, name)",
        "",
        "Passages:",
        "1. Title 1",
        "   /far/1.md",
    ]


@pytest.mark.parametrize(
    ("confidence", "said"), [(1.0, "above 0.99"), (0.991, "above 0.99"), (0.5, "0.50"), (0.001, "below 0.01")]
)
def test_a_confidence_is_never_certain(fake, confidence, said):
    fake.along_plan = chained("q", confidence=confidence)
    assert ask().stdout.startswith(f"Skarholm  (confidence {said}, read off a chain)\n")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"confidence": 0.05}, "nothing answers the question well enough (confidence 0.05)"),
        ({"chains": [Chain(0.9, BORN.hops[:1])]}, "no chain leads to step 2 of the plan"),
        ({"chains": []}, "no chain of answers leads to the end of the plan"),
        ({"chains": [], "passages": []}, "nothing was found"),
    ],
)
@pytest.mark.parametrize("options", [[], ["--no-answer"], ["--json"]], ids=str)
def test_not_in_memory_is_said_with_what_is_nearest(fake, changes, said, options):
    fake.along_plan = chained(
        "q", **({"answer": None, "answer_source": "none", "abstained": True, "citations": []} | changes)
    )
    result = ask(*options)
    assert result.exit_code == 3
    if "--json" in options:
        assert json.loads(result.stdout)["abstained"] is True
        return
    assert result.stdout.startswith(f"Not in memory: {said}.\n")
    assert ("What is nearest:\n" in result.stdout) == bool(changes.get("passages", True))
    assert ("Nearest chain:\n" in result.stdout) == bool(fake.along_plan.chains)
    assert "\nChain" not in result.stdout


def hostile(monkeypatch, fake):
    pair = QA(HOSTILE, HOSTILE, [HOSTILE])
    link = replace(
        hop(1, HOSTILE, HOSTILE + "!", HOSTILE, float("nan")), qa=pair, passage=HOSTILE, via=[HOSTILE]
    )
    hops = [
        HopTrace(
            1,
            HOSTILE,
            True,
            [Candidate(pair, [HOSTILE], 0.5, HOSTILE), Candidate(pair, [], float("inf"), "kept")],
        )
    ]
    monkeypatch.setattr("fake_memory.ASKED", hops)
    citation = Citation(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    fake.along_plan = chained(
        "q",
        answer=HOSTILE,
        answer_source=HOSTILE,
        confidence=float("nan"),
        citations=[citation],
        chains=[Chain(0.5, [link])],
    )
    return Trace(hops=hops)


def test_text_of_chains_cannot_drive_the_terminal(fake, monkeypatch):
    hostile(monkeypatch, fake)
    result = ask("--trace", "--timings")
    assert result.exit_code == 0
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", result.output)
    assert result.output.count("[bold]x[/bold] :smile:") >= 8
    for line in ("ared", '[1] "ared', "1. ared"):
        assert f"\n{line}" in f"\n{result.output}"
