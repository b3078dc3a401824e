"""An answer in full in Python, on the command line and for agents: its statements with their notes, what is missing, lines that fit."""

from __future__ import annotations

import json
import sys

import anyio
import cli_runner
import pytest
import served
from cli_runner import HOSTILE, run
from fake_memory import passage
from full_answer import CODE, TEXT, full_answer
from mcp import Client
from scripted_chat import ScriptedChat

from gsw_graph.ask.answer.evidence import select_evidence
from gsw_graph.ask.answer.reader import in_full
from gsw_graph.ask.strategy import RetrievalResult
from gsw_graph.cli.text.answers import print_answer
from gsw_graph.cli.text.output import COMPLETED, Streamed, Waiting
from gsw_graph.explore.full_text import Lines, marked_text, short_and_full
from gsw_graph.model.results import Answer, Statement
from gsw_graph.serve.client import rebuild

fake = cli_runner.fake
FOLLOWS = "It was 43 years old. (not stated, follows from [1, 2])"
INVENTED = "Fennick & Sons sold `pumps[1]`. [2] (in no source: Fennick & Sons)"
NORWAY = {"answer": "Norway", "text": "Norway", "missing": None}


def shown(capsys, streamed="", **changes):
    print_answer(full_answer(**changes), streamed=streamed)
    return capsys.readouterr().out


def test_each_statement_is_marked_where_it_stands():
    text = marked_text(full_answer())
    assert text.startswith(TEXT.partition("It was")[0])
    assert text.endswith(f"\n[2]\n{FOLLOWS} {INVENTED}")


@pytest.mark.parametrize(
    ("text", "statements", "marked"),
    [
        ("A. [1] B. [1]", [Statement("B.", [0])], "A. [1] B. [1]"),
        ("A. [1]", [Statement("other", [0])], "A. [1]"),
        ("A. [1]", [Statement("other", [0], True)], "A. [1] (not stated, follows from [1])"),
        (
            "A",
            [Statement("A", [0], True, ["B", "C"])],
            "A (not stated, follows from [1]; in no source: B, C)",
        ),
        (f"{CODE}\n[1]", [Statement(CODE, [0], True)], f"{CODE} (not stated, follows from [1])"),
        (
            "a[1] is. a[1] is. [2]",
            [Statement("a[1] is.", []), Statement("a[1] is.", [1])],
            "a[1] is. a[1] is. [2]",
        ),
        (None, [Statement("", [0])], ""),
        ("A [1]", [Statement("", []), Statement("A", [0], True)], "A (not stated, follows from [1])"),
        (None, [], ""),
    ],
)
def test_what_is_behind_a_statement(text, statements, marked):
    assert marked_text(full_answer(text=text, statements=statements)) == marked


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (None, ("Norway", "")),
        ("Norway", ("Norway", "")),
        ("Norway. [1]", ("", "Norway. [1]")),
        ("Norway [1][2]\n", ("", "Norway [1][2]")),
        ("In Norway. [1]", ("Norway", "In Norway. [1]")),
    ],
)
def test_what_is_said_twice_is_shown_once(text, parts, capsys):
    changes = NORWAY | {"text": text, "statements": []}
    assert short_and_full(full_answer(**changes)) == parts
    said = shown(capsys, **changes)
    assert said.count("Norway") == len(list(filter(None, parts)))


def test_the_short_answer_stands_first_and_code_keeps_its_lines(capsys):
    lines = shown(capsys).splitlines()
    assert lines[:2] == ["no, unless it was primed", ""]
    assert CODE.splitlines()[1] in lines
    assert max(map(len, lines)) <= 100
    assert lines.index("(from the model small)") < lines.index("Missing: Who sells the pump?")
    assert lines.index("Missing: Who sells the pump?") < lines.index('[1] "The pump does not start dry."')
    assert "(in no source: Fennick & Sons)" in " ".join(lines).replace("  ", " ")


def test_a_text_that_was_streamed_is_not_printed_twice(capsys):
    there = shown(capsys, streamed=f"no, unless it was primed\n\n{TEXT}")
    assert "Fill the chamber" not in there
    assert "no, unless" not in there
    assert "It was 43 years old. (not stated, follows from [1, 2])" in there, "which the text does not say"
    again = shown(capsys, streamed="no, unless it was primed\n\nFill the chamber and wait.")
    assert again.startswith("\nno, unless it was primed\n\nFill the chamber to")


@pytest.mark.parametrize("streamed", ["", "1. Close it. [1]\n2. Open `a[1]`. [2]"])
def test_steps_stand_without_a_short_answer(streamed, capsys):
    steps = [Statement("1. Close it.", [0]), Statement("2. Open `a[1]`.", [1])]
    text = "1. Close it. [1]\n2. Open `a[1]`. [2]"
    there = shown(capsys, streamed, answer="1. Close it.\n2. Open `a[1]`.", text=text, statements=steps)
    assert there.startswith("\n\n(from the model" if streamed else f"{text}\n\n(from the model")
    assert "Close" not in there.replace(text, "")


@pytest.mark.parametrize("streamed", ["", "Norway"])
def test_a_short_answer_has_its_note(streamed, capsys):
    there = shown(capsys, streamed, **NORWAY, statements=[Statement("Norway", [0, 1], follows=True)])
    assert there.lstrip().startswith("Norway (not stated, follows from [1, 2])\n\n(from the model small)\n")
    assert "Missing" not in there


def test_what_is_streamed_breaks_between_words(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    there = Streamed(Waiting())
    for start in range(0, len(TEXT), 7):
        there.on_text(TEXT[start : start + 7])
    lines = capsys.readouterr().out.split("\n")
    assert there.end() == TEXT
    assert CODE.splitlines()[1] in lines
    assert [line for line in lines if len(line) > 37 and line not in CODE] == []


def test_a_completed_answer_stands_below_the_first_and_is_not_printed_again(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    there = Streamed(Waiting())
    there.on_stage("answer", None)
    there.on_text("no, unless it was primed")
    there.on_stage("answer", "it did not answer in time")
    there.on_text("\n\nFill the chamber. [1]")
    for stage in ("search", "answer", "embed"):
        there.on_stage(stage, None)
        if stage == "answer":
            there.on_text(f"no, unless it was primed\n\n{TEXT}")
    print_answer(full_answer(), streamed=there.end())
    text = capsys.readouterr().out
    assert text.startswith(f"no, unless it was primed\n\nFill the chamber. [1]\n\n{COMPLETED}\n\nno, unless")
    assert text.count("pumpctl prime --wait") == 1


def test_a_second_reading_without_an_answer_prints_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    there = Streamed(Waiting())
    there.on_text(f"no, unless it was primed\n\n{TEXT}")
    there.on_stage("answer", None)
    print_answer(full_answer(), streamed=there.end())
    text = capsys.readouterr().out
    assert COMPLETED not in text
    assert text.count("pumpctl prime --wait") == 1


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("one  two \n three", ["one  two ", " three"]),
        ("longerthanaline is", ["longerthanaline", "is"]),
        ("    code is as it is\nand text", ["    code is as it is", "and text"]),
        ("~~~\na long line\n~~~\na long line", ["~~~", "a long line", "~~~", "a long", "line"]),
        ("a\n\n\nb", ["a", "", "", "b"]),
    ],
)
def test_lines_fit(text, lines):
    assert Lines(8).add(text).split("\n") == lines
    letter_by_letter = Lines(80)
    assert "".join(map(letter_by_letter.add, text)) == Lines(80).add(text)


def test_a_hostile_text_drives_no_terminal_and_writes_no_html(capsys):
    script = f"<script>alert(1)</script>{HOSTILE}"
    answer = full_answer(
        text=f"{script} [1]\n{script}", missing=script, statements=[Statement(script, [0], True, [script])]
    )
    print_answer(answer)
    for text in (capsys.readouterr().out, str(answer), answer._repr_html_()):
        assert not set(text) & set("\x1b\x9b\x07\u202e\udc00")
    assert "<script" not in answer._repr_html_()


def test_a_short_answer_is_asked_for(fake):
    given = []
    ask = fake.ask
    fake.ask = lambda *args, short=False, **options: given.append(short) or ask(*args, **options)
    for options in (["--short"], []):
        assert run("ask", "Who?", *options).exit_code == 0
    assert given == [True, False]


def test_a_server_says_all_of_it():
    answer = full_answer()
    assert rebuild(Answer, answer.to_dict()) == answer


def test_an_agent_gets_the_text_with_numbered_sources(embedded_sample, monkeypatch):
    asked = []
    answer = full_answer()
    monkeypatch.setattr(
        type(embedded_sample), "ask", lambda _, question, **options: asked.append(options) or answer
    )

    async def say():
        async with Client(f"{one.url}/mcp") as client:
            result = await client.call_tool("ask", {"question": "How?", "short": True})
            return result.content[0].text

    with served.served(embedded_sample, read_only=True) as one:
        reply = anyio.run(say)
        by_http = one.ask("How?", short=True)
    assert [options["short"] for options in asked if "short" in options] == [True, True]
    said = json.loads(reply)
    assert said["text"] == marked_text(answer)
    assert [(citation["number"], citation["title"]) for citation in said["citations"]] == [
        (1, "Pumps"),
        (2, "pumpctl"),
    ]
    assert said["missing"] == answer.missing
    assert by_http["text"] == TEXT
    assert by_http["statements"][2]["follows"] is True


BRIDGE = "The bridge is long. Ana Ruiz built the bridge."
BORN = "Ana Ruiz was born in Port Ellery. She died in Oslo. Run ferry to port there."
REPLIES = [
    "Answer: Port Ellery\nIn full:\nAna Ruiz was born in Port Ellery. [2]\nShe built the bridge. [1]\nMissing: When was she born?",
    "Answer: Port Ellery\nIn full:\nShe moved from there. [follows from 1, 2]",
    "Answer: Port Ellery\nSources: 2",
    "Ana Ruiz was born in Port Ellery. [2]",
    "In full:\nAsk in Port Ellery:\n```\nferry to port\n```\n[2]\nShe died in Oslo. [2]",
]


@pytest.mark.parametrize("reply", REPLIES)
def test_what_a_model_says_is_printed_once_as_it_comes(reply, monkeypatch, capsys):
    question = "Where was the builder of the bridge born?"
    lines = select_evidence(question, RetrievalResult([passage(1, text=BRIDGE), passage(2, text=BORN)]))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    streamed = Streamed(Waiting())
    draft = in_full(question, lines, ScriptedChat(reply, reply), on_text=streamed.on_text)
    said = {"text": draft.text or draft.answer, "statements": draft.statements}
    print_answer(
        full_answer(answer=draft.answer, **said, citations=[], passages=[], missing=draft.missing),
        streamed=streamed.end(),
    )
    shown = capsys.readouterr().out
    text = " ".join(shown.partition("(from the model small)")[0].split())
    for statement in draft.statements:
        assert " ".join(statement.text.split()) in text
    assert text.count("In full") == 0
    assert text.count("Port Ellery") == reply.count("Port Ellery")
    assert ("not stated, follows from [1, 2]" in text) is ("follows" in reply)
