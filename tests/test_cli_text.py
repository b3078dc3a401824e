"""What reaches the terminal and the reader of JSON, whatever documents say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import cli_runner
import pytest
from cli_runner import HOSTILE, run

from gsw_graph.cli.text import output
from gsw_graph.model.documents import Failure
from gsw_graph.model.results import (
    DocumentCounts,
    Finding,
    Forgotten,
    LoadReport,
    RankedPassage,
    Status,
    Table,
)
from gsw_graph.text import safe_text

fake = cli_runner.fake


def hostile(fake):
    fake.passages = [RankedPassage("p1", HOSTILE, HOSTILE, HOSTILE, "d", float("nan"))]
    fake.report = LoadReport(DocumentCounts(new=1), {HOSTILE: 1}, [Failure(HOSTILE, HOSTILE)], {"total": 1.0})
    fake.state = Status(HOSTILE, HOSTILE, HOSTILE, {HOSTILE: 1}, {HOSTILE: 2}, [HOSTILE], 1, HOSTILE, 3)
    fake.findings = [Finding(HOSTILE, False, HOSTILE, HOSTILE)]
    fake.forgotten = Forgotten([HOSTILE], [HOSTILE])
    fake.table = Table([HOSTILE], [{HOSTILE: HOSTILE}, {HOSTILE: [HOSTILE]}])


CALLS = [
    ["load", "x"],
    ["ask", "q", "--trace", "--timings"],
    ["status"],
    ["doctor"],
    ["forget", "x"],
    ["cypher", "RETURN 1"],
]


@pytest.mark.parametrize("args", CALLS, ids=lambda args: args[0])
def test_text_cannot_drive_the_terminal(fake, args):
    hostile(fake)
    result = run(*args)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", result.output)
    assert "[bold]x[/bold] :smile:" in result.output
    assert "<U+202E>" in result.output


@pytest.mark.parametrize("args", CALLS, ids=lambda args: args[0])
def test_json_is_one_document_whatever_the_text(fake, args):
    hostile(fake)
    result = run(*args, "--json")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert HOSTILE in strings(json.loads(result.stdout, parse_constant=pytest.fail))
    assert result.stderr == ""


def strings(value):
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    else:
        parts = value if isinstance(value, list) else []
    return set().union(*map(strings, parts))


def test_json_fits_the_encoding_of_its_reader():
    assert output.to_json({"a": "é\udc00😀"}) == '{"a": "é\\udc00😀"}'
    for encoding in ("ascii", "cp1252"):
        text = output.to_json({"a": "é\udc00😀"}, encoding)
        assert text.isascii()
        assert json.loads(text) == {"a": "é\udc00😀"}


def test_a_terminal_that_cannot_show_a_letter_is_no_error():
    code = (
        "import pytest, fake_memory\nfrom gsw_graph.cli import main\n"
        "with pytest.MonkeyPatch.context() as patch:\n"
        "    fake = fake_memory.install(patch)\n"
        "    fake.passages = [fake_memory.passage(1, title='Zoë 漢', text='漢字')]\n"
        "    main(['ask', 'q'])"
    )
    env = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env)
    assert done.returncode == 0, done.stderr
    assert b"1. Zo\xeb \\u6f22" in done.stdout


def test_colours_are_for_terminals(fake, monkeypatch):
    assert "\x1b" not in run("ask", "q").output
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in run("ask", "q").output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run("doctor").output


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a\tb\nc\r\nd\re", "a\tb\nc\nde"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link", "]8;;http://xlink"),
        ("\x9b31mx\x85\x00\x7f", "x"),
        ("שלום \u200f \u2067x", "שלום \u200f <U+2067>x"),
        ("\ud800", "\ufffd"),
    ],
)
def test_clean(text, safe):
    assert safe_text.clean(text) == safe


def test_a_source_is_shown_relative_to_the_working_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    here = tmp_path.as_posix()
    assert safe_text.short_source(f"{here}/a/b.md") == "a/b.md"
    assert safe_text.short_source(f"{here}x/b.md") == f"{here}x/b.md"
    assert safe_text.short_source(here) == here
    assert safe_text.short_source("https://x/y") == "https://x/y"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0042, "4 ms"),
        (1.25, "1.2 s"),
        (12, "12 s"),
        (59.7, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7300, "2 h 1 min"),
    ],
)
def test_duration(seconds, text):
    assert output.duration(seconds) == text
