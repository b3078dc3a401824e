"""`gswgraph list`, `show` and `history`."""

from __future__ import annotations

import json
from dataclasses import replace

import cli_runner
import pytest
from cli_runner import HOSTILE, last_call, run

from gsw_graph.model.results import Documents, History

fake = cli_runner.fake


def test_list_shows_a_line_a_document(fake):
    result = run("list", "iron", "works", "--extractor", "llm", "--unfinished", "-n", "1")
    given = {"extractor": "llm", "loader": None, "unfinished": True, "limit": 1}
    assert last_call(fake) == ("documents", ("iron works",), given)
    assert result.stdout.splitlines() == [
        "/far/1.md  Foundry, 2 passages, 1 not read",
        "1 of 7 documents; -n shows more",
    ]
    assert run("list", "--long").stdout.splitlines() == [
        "/far/1.md  Foundry, 2 passages, llm (small), 2026-01-02, 1 passage not read; the next load asks again",
        "1 of 7 documents; -n shows more",
    ]


def test_show_has_the_text_and_what_was_found(fake):
    result = run("show", "The", "Foundry", "-p", "1")
    assert last_call(fake) == ("show", ("The Foundry", 1), {})
    assert result.stdout.splitlines()[:2] == ["Foundry", "/far/1.md"]
    for lines in (
        "Passage 1  p1\nAda founded it\nin 1871.\n",
        "Names\n  Foundry  (the title)\n  1871  (date: of founding, 1871-01-01 to 1871-12-31)\n",
        "Names that rules found\n  ada\n",
        "  was founded by\n    Who founded the foundry? -> Ada\n",
        "Propositions\n  Ada founded the foundry.\n",
    ):
        assert lines in result.stdout
    found = json.loads(run("show", "x", "--json").stdout)
    assert found["passages"][0]["phrases"][0]["pairs"][0]["answers"] == ["Ada"]


@pytest.mark.parametrize("args", [["history", "1", "--find", "x"], ["show"], ["list", "-n", "0"]])
def test_what_does_not_fit_is_refused(fake, args):
    assert run(*args).exit_code == 2
    assert fake.calls == []


def test_hostile_text_drives_no_terminal(fake):
    document = replace(fake.shown.document, title=HOSTILE, source=HOSTILE)
    fake.stored = Documents(1, [document])
    fake.shown = replace(
        fake.shown,
        document=document,
        passages=[replace(fake.shown.passages[0], text=HOSTILE, names=[HOSTILE])],
    )
    fake.kept = replace(fake.kept, question=HOSTILE, answer=HOSTILE)
    fake.questions = History(1, {"in": 0, "out": 0}, None, [fake.kept])
    for args in (["list"], ["show", "x"], ["history"], ["history", "1"]):
        shown = run(*args).stdout
        assert "[bold]x[/bold]" in shown
        assert not set(shown) & set("\x1b\x9b\x07\u202e\udc00")
