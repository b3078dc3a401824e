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
    lines = result.stdout.splitlines()
    assert [lines[0].split(), lines[2].split()] == [["source", "title", "passages", "unread"], ["/far/1.md", "Foundry", "2", "1"]]
    assert lines[3:] == ["1 of 7 documents; -n shows more"]
    assert run("list", "--long").stdout.splitlines() == [
        "source: /far/1.md, title: Foundry, loader: markdown, extractor: llm, model: small, loaded_at: 2026-01-02T03:04:05+00:00, passages: 2, unread: 1",
        "1 of 7 documents; -n shows more",
    ]


def test_a_document_of_the_list_fits_a_line_of_the_terminal(fake, monkeypatch):
    first = fake.stored.documents[0]
    long = replace(first, source="/very/long" * 12 + "/guide/testing.md", title="The title of a document " * 9, meta={"author": "x" * 90})
    fake.stored = Documents(2, [first, long])
    for columns in ("60", "80", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        lines = run("list").stdout.splitlines()
        assert max(map(len, lines)) <= int(columns)
        assert "esting.md   The title" in lines[3], "a source is told by its end"
        assert lines[3].split()[-2:] == ["2", "1"], "numbers are whole"
    monkeypatch.delenv("COLUMNS")
    assert long.source in run("list").stdout, "a pipe gets all of it"




def test_show_has_the_text_and_what_was_found(fake):
    result = run("show", "The", "Foundry", "-p", "1")
    assert last_call(fake) == ("show", ("The Foundry", 1), {})
    for lines in (
        "source      /far/1.md\ntitle       Foundry\n",
        "Passage 1  Foundry  p1\nAda founded it\nin 1871.\n",
        "names  ada\n",
        "entities\n  name: Foundry, title: yes\n  name: 1871, title: no, roles: date of founding, from_: 1871-01-01, to: 1871-12-31\n",
        "phrases\n  phrase: was founded by\n    question: Who founded the foundry?, answers: Ada\n",
        "propositions\n  text: Ada founded the foundry.\n",
    ):
        assert lines in result.stdout
    found = json.loads(run("show", "x", "--json").stdout)
    assert found["passages"][0]["phrases"][0]["pairs"][0]["answers"] == ["Ada"]


def test_history_lists_answers_and_what_they_took(fake):
    result = run("history", "--find", "found", "-n", "1")
    assert last_call(fake) == ("history", ("found",), {"limit": 1})
    lines = result.stdout.splitlines()
    assert lines[2].split()[:7] == ["1", "Who", "founded", "it?", "Ada", "0.75", "ricr"]
    assert lines[2].split()[-5:] == ["1.5", "s", "small", "1230", "$0.02"]
    assert lines[-2:] == ["1 of 3 questions; -n shows more", "All together: 2,400 tokens in and 60 out, $0.04"]
    assert json.loads(run("history", "--json").stdout)["total"] == 3
    fake.questions = History(0, {"in": 0, "out": 0}, None, [])
    assert run("history").stdout == "0 questions\n"




def test_one_question_again(fake):
    result = run("history", "2")
    assert last_call(fake) == ("question", ("2",), {})
    for words in ("Who founded it?\n", "abc123\n", "question: Who founded the foundry?", "question Who founded the foundry?; answers Ada, hop: 1", "source: /far/1.md, rank: 1, cited: yes"):
        assert words in result.stdout
    assert json.loads(run("history", "abc", "--json").stdout)["pairs"][0]["qa"]["answers"] == ["Ada"]
    assert last_call(fake) == ("question", ("abc",), {})


@pytest.mark.parametrize("args", [["history", "1", "--find", "x"], ["show"], ["list", "-n", "0"]])
def test_what_does_not_fit_is_refused(fake, args):
    assert run(*args).exit_code == 2
    assert fake.calls == []


def test_hostile_text_drives_no_terminal(fake):
    document = replace(fake.shown.document, title=HOSTILE, source=HOSTILE)
    fake.stored = Documents(1, [document])
    fake.shown = replace(fake.shown, document=document, passages=[replace(fake.shown.passages[0], text=HOSTILE, names=[HOSTILE])])
    fake.kept = replace(fake.kept, question=HOSTILE, answer=HOSTILE)
    fake.questions = History(1, {"in": 0, "out": 0}, None, [fake.kept])
    for args in (["list"], ["show", "x"], ["history"], ["history", "1"]):
        shown = run(*args).stdout
        assert "[bold]x[/bold]" in shown
        assert not set(shown) & set("\x1b\x9b\x07\u202e\udc00")
