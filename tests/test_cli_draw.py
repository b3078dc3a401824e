"""`gswgraph draw` and `gswgraph ask --html`: what they ask for, write and say."""

from __future__ import annotations

import json

import cli_runner
import pytest
from cli_runner import last_call, run

fake = cli_runner.fake


def test_draw_writes_a_page(fake, tmp_path):
    file = tmp_path / "a.html"
    result = run(
        "draw", "MATCH (n) RETURN n", "--html", str(file), "-p", "id=vellmouth", "-p", "n=3", "--timeout", "5"
    )
    assert result.exit_code == 0
    assert result.stdout == f"2 nodes and 1 edge drawn: {file}\nSome are left out.\n"
    assert last_call(fake) == ("draw", ("MATCH (n) RETURN n",), {"id": "vellmouth", "n": 3})
    assert fake.timeout == 5
    assert "Ada" in file.read_text(encoding="utf-8")
    told = json.loads(run("draw", "RETURN 1", "--json", "--html", str(file)).stdout)
    assert told == {"html": str(file), "nodes": 2, "edges": 1, "notes": ["Some are left out."]}
    assert fake.timeout is None


@pytest.mark.parametrize(
    "args",
    [
        ["RETURN 1"],
        ["--html", "a.html"],
        [" ", "--html", "a.html"],
        ["RETURN 1", "--html", "a.html", "-p", "x"],
    ],
)
def test_draw_refuses(fake, args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("draw", *args).exit_code == 2
    assert fake.calls == []


@pytest.mark.parametrize("verb", ["draw", "ask"])
def test_nothing_is_asked_where_nothing_can_be_written(fake, verb, tmp_path):
    result = run(verb, "q", "--html", str(tmp_path / "none/a.html"))
    assert result.exit_code == 1
    assert result.stderr == f"Error: {tmp_path / 'none'}: there is no such folder. Make it first\n"
    assert fake.calls == []


def test_ask_draws_its_answer_and_says_so_beside_it(fake, tmp_path):
    file = tmp_path / "a.html"
    plan = '["Who founded the foundry?", "Where was #1 born?"]'
    plain = run("ask", "Where?", "--plan", plan)
    result = run("ask", "Where?", "--plan", plan, "--html", str(file))
    assert result.exit_code == 0
    assert result.stdout == plain.stdout
    assert result.stderr == f"Picture: {file}\n"
    assert [call[2]["trace"] for call in fake.calls if call[0] == "ask"] == [
        False,
        True,
    ]  # the way is drawn, and not printed
    assert "Hop 2: Where was #1 born?" in file.read_text(encoding="utf-8")
    told = run("ask", "Where?", "--json", "--html", str(file))
    assert json.loads(told.stdout)["trace"] is None
    found = json.loads(run("ask", "Where?", "--json", "--trace", "--html", str(file)).stdout)["trace"][
        "walked"
    ]
    assert found == "neighbourhood"
    assert run("ask", "unknown", "--html", str(file)).exit_code == 3
