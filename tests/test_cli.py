"""The command line against a memory with canned results: what is parsed, printed where, and the exit codes."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import fake_memory
import pytest
from click.testing import CliRunner
from fake_memory import Progress, passage

from gsw_graph import __version__
from gsw_graph.cli import VERBS, main, output, progress, prompt, safe_text
from gsw_graph.errors import EngineError, InputError
from gsw_graph.model import Failure
from gsw_graph.results import DocumentCounts, Finding, Forgotten, LoadReport, RankedPassage, Status, Table

HOSTILE = 'a\x1b[31mred\x1b]0;t\x07 \x9b2J[bold]x[/bold] :smile:\r\u202eevil\udc00"'


@pytest.fixture
def fake(monkeypatch):
    for name in ("NEO4J_URI", "GSWGRAPH_DEBUG", "GSWGRAPH_LINKED_CLIENT_PASSAGES", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return fake_memory.install(monkeypatch)


def run(*args, stdin=None):
    return CliRunner().invoke(main, list(args), input=stdin)


def last_call(fake):
    return next(call for call in reversed(fake.calls) if call[0] != "close")


def commands():
    def walk(path, command):
        yield path, command
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                yield from walk((*path, name), command.resolve_command(click.Context(command), [name])[1])

    return list(walk((), main))


def examples(command):
    """The lines below `Example:` in a docstring."""
    return [line.strip() for line in re.search(r"Example:\n((?:[ \t]+\S.*\n?)+)", command.help).group(1).splitlines()]


# The group


def test_the_fake_has_the_surface_of_the_real_memory():
    from gsw_graph.memory import EXTRACTORS, Memory

    for name in ("open", "close", "load", "ask", "warm", "forget", "status", "doctor", "cypher"):
        real, ours = (list(inspect.signature(getattr(cls, name)).parameters) for cls in (Memory, fake_memory.FakeMemory))
        assert ours == real, name
    load = importlib.import_module("gsw_graph.cli.load")
    assert load.EXTRACTORS == EXTRACTORS


def test_every_verb_says_in_the_list_what_its_own_help_says():
    assert set(VERBS) == {path[0] for path, _ in commands() if len(path) == 1}
    shown = run("--help").output
    for name, text in VERBS.items():
        assert re.search(rf"^  {name} +{re.escape(text)}$", shown, re.MULTILINE)
        assert text.endswith(".")


@pytest.mark.parametrize(("path", "command"), commands(), ids=lambda value: "-".join(value) if isinstance(value, tuple) else "")
def test_help_has_examples_that_can_be_copied(path, command):
    result = run(*path, "--help")
    assert result.exit_code == 0
    lines = examples(command)
    assert lines
    for line in lines:
        assert f"\n    {line}\n" in result.output
        if line.startswith("export ") and path[:1] == ("db",):
            continue
        words = shlex.split(line)
        words = words[: words.index("<")] if "<" in words else words[: words.index(">")] if ">" in words else words
        assert words[0] == "gswgraph"
        if "query.cypher" not in words:  # parsed, and not run
            context = main.make_context("gswgraph", words[1:])
            name, verb, rest = main.resolve_command(context, [*context._protected_args, *context.args])
            assert verb.make_context(name, rest, parent=context).info_name == name


def test_every_verb_that_prints_results_has_json():
    for path, command in commands():
        if not isinstance(command, click.Group):
            assert "--json" in [name for option in command.params for name in option.opts], path


@pytest.mark.parametrize("args", [["--help"], ["--version"], *[[verb, "--help"] for verb in VERBS]], ids=" ".join)
def test_help_imports_nothing_heavy(args):
    heavy = ("torch", "numpy", "neo4j", "rich", "scipy", "sentence_transformers", "openai", "httpx", "gsw_graph.memory")
    code = (
        "import sys; from gsw_graph.cli import main\n"
        f"try: main({args!r})\n"
        f"except SystemExit as end: print('HEAVY', end.code, sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert done.stdout.splitlines()[-1] == "HEAVY 0 []", done.stdout + done.stderr


def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "gsw_graph.cli", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, f"gswgraph, version {__version__}")


def test_an_unknown_verb_is_a_usage_error_with_a_guess():
    result = run("lod")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "load" in result.stderr


@pytest.mark.parametrize(
    ("args", "url"),
    [
        (["status"], None),
        (["--memory", "there", "status"], "there"),
        (["status", "--memory", "there"], "there"),
        (["--memory", "here", "status", "--memory", "there"], "there"),
        (["--memory", "bolt://h:7687", "ask", "who"], "bolt://h:7687"),
    ],
)
def test_memory_may_be_named_before_or_after_the_verb(fake, args, url):
    assert run(*args).exit_code == 0
    assert fake.calls[0][:2] == ("open", (url,))
    assert fake.calls[-1][0] == "close"


def test_without_a_url_the_settings_of_the_environment_are_used(fake, monkeypatch):
    monkeypatch.setenv("NEO4J_URI", "bolt://envhost")
    run("status")
    assert fake.calls[0] == ("open", (None,), {"memory": "bolt://envhost"})


def test_an_empty_memory_url_is_a_usage_error(fake):
    assert run("--memory", "", "status").exit_code == 2
    assert fake.calls == []


# Errors


def test_an_expected_error_is_one_line_and_exit_code_1(fake):
    fake.raises = EngineError(f"gone {HOSTILE}", where="bolt://u:pa@ss@host", hint="Start it")
    result = run("status", "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: bolt://host: gone a")
    assert result.stderr.endswith("Start it\n")
    assert "pa@ss" not in result.stderr
    assert "\x1b" not in result.stderr
    assert "Traceback" not in result.output


def test_a_file_that_cannot_be_opened_is_one_line(fake):
    fake.raises = PermissionError(13, "Permission denied", "/secret")
    result = run("load", "x")
    assert (result.exit_code, result.stderr) == (1, "Error: /secret: Permission denied\n")


def test_debug_keeps_the_stack_trace(fake, monkeypatch):
    monkeypatch.setenv("GSWGRAPH_DEBUG", "1")
    fake.raises = EngineError("gone")
    assert run("status").exception is fake.raises


def test_a_fault_of_ours_is_not_hidden(fake):
    fake.raises = ZeroDivisionError()
    assert run("status").exception is fake.raises


def test_a_setting_that_is_no_number_is_an_error_that_names_it(fake, monkeypatch):
    monkeypatch.setenv("GSWGRAPH_LINKED_CLIENT_PASSAGES", "many")
    result = run("status")
    assert result.exit_code == 1
    assert "GSWGRAPH_" in result.stderr
    assert "many" in result.stderr


@pytest.mark.parametrize(("args", "note"), [(["load", "x"], "next load completes"), (["status"], "Interrupted.")])
def test_an_interrupt_ends_with_130(fake, args, note):
    fake.raises = KeyboardInterrupt()
    result = run(*args)
    assert (result.exit_code, result.stdout) == (130, "")
    assert note in result.stderr
    assert fake.calls[-1][0] == "close"


def test_a_reader_that_leaves_ends_it_quietly(fake):
    fake.raises = BrokenPipeError(32, "Broken pipe")
    result = run("status")
    assert (result.exit_code, result.output) == (1, "")


# load


def test_load_passes_its_options_on(fake):
    result = run("load", "a", "-", "--replace", "--dry-run", "--quiet", "--extractor", "none", stdin="text")
    assert result.exit_code == 0
    assert last_call(fake) == (
        "load",
        ("a", "-"),
        {"extractor": "none", "replace": True, "dry_run": True, "stdin": b"text", "progress": False},
    )
    assert result.output == ""


def test_load_needs_a_path_and_an_extractor_that_exists(fake):
    assert run("load").exit_code == 2
    assert run("load", "x", "--extractor", "magic").exit_code == 2
    assert fake.calls == []


def test_load_sums_up(fake):
    result = run("load", "x")
    assert result.stdout == "Documents: 2 new, 0 replaced, 1 unchanged, 0 failed; 1.2 s\nNodes: +5 Passage, -1 Concept\n"
    assert result.stderr == ""
    assert run("load", "x", "--dry-run").stdout.startswith("Would load: 2 new")


@pytest.mark.parametrize(
    ("counts", "failures", "code"),
    [
        (DocumentCounts(new=1, failed=1), 1, 4),
        (DocumentCounts(replaced=1), 1, 4),
        (DocumentCounts(unchanged=1, failed=2), 2, 4),
        (DocumentCounts(failed=1), 1, 1),
        (DocumentCounts(failed=1), 0, 1),
        (DocumentCounts(), 0, 0),
        (DocumentCounts(unchanged=3), 0, 0),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"], ["--quiet"], ["--dry-run"]], ids=str)
def test_exit_code_of_load(fake, counts, failures, code, options):
    fake.report = LoadReport(counts, {}, [Failure("f", "r")] * failures, {"total": 1})
    assert run("load", "x", *options).exit_code == code


def test_failures_are_listed_on_standard_error(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    here = tmp_path.as_posix()
    fake.report = LoadReport(DocumentCounts(new=1, failed=25), {}, [Failure(f"{here}/b{n}.txt", HOSTILE) for n in range(25)], {})
    result = run("load", "x", "--quiet")
    lines = result.stderr.splitlines()
    assert result.stdout == ""
    assert len(lines) == 21
    assert lines[0].startswith("Failed: b0.txt: ared")
    assert lines[-1] == "... and 5 more failures; --json lists all"
    assert "\x1b" not in result.stderr


def test_progress_in_a_pipe_is_a_line_every_ten_seconds(capsys):
    now = iter([0.0, 5.0, 10.0, 15.0, 21.0])
    lines = progress.PlainLines(clock=lambda: next(now))
    for n in (50, 100, 150, 210):
        lines.report(Progress(n // 10, n, 1000 if n < 200 else None, "loading"))
    assert capsys.readouterr() == (
        "",
        "loading: 10 documents, 100 passages of 1,000, 10 passages/s, about 1 min 30 s left\nloading: 21 documents, 210 passages, 10 passages/s\n",
    )


def test_a_rate_is_said_while_loading_only():
    assert progress.line(Progress(1, 9, 9, "indexing"), 3) == "indexing: 1 document, 9 passages of 9"
    assert progress.line(Progress(0, 0, 9, "loading"), 3) == "loading: 0 documents, 0 passages of 9"


def test_progress_on_a_terminal_is_a_bar_on_standard_error(monkeypatch, capsys):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.reporter(quiet=False) as report:
        report(Progress(2, 20, 40, "loading"))
        click.echo("out")
    assert "2 documents, 20 passages of 40" in terminal.getvalue()
    assert capsys.readouterr().out == "out\n"


# ask


def test_ask_passes_its_options_on(fake):
    assert run("ask", "Who", "is it?", "--strategy", "dense", "-k", "1", "--no-answer", "--trace").exit_code == 0
    assert last_call(fake) == ("ask", ("Who is it?",), {"strategy": "dense", "k": 1, "answer": False, "trace": True})


@pytest.mark.parametrize("args", [["-k", "0", "q"], ["--strategy", "magic", "q"], ["  "], [""]])
def test_ask_refuses(fake, args):
    assert run("ask", *args).exit_code == 2
    assert fake.calls == []


def test_ask_prints_the_passages_best_first(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fake.passages = [passage(1, source=f"{tmp_path.as_posix()}/notes/1.md", text="Title 1\nShort."), passage(2)]
    result = run("ask", "q")
    lines = result.stdout.splitlines()
    assert lines[:5] == ["1. Title 1  1", "   notes/1.md", "   Short.", "2. Title 2  0.5", "   /far/2.md"]
    assert len(lines) == 8
    assert lines[-1].endswith(" …")
    assert max(map(len, lines)) <= output.PIPE_WIDTH
    assert result.stderr == ""


def test_ask_draws_the_paths(fake):
    shown = run("ask", "q", "--trace").stdout
    assert 'Names linked: "the Foundry" is foundry\nSeeds: foundry 0.75\nWalked: whole graph, 1,234 passages\n' in shown
    assert '1. question -> [Foundry] -> "Title 1"\n' in shown
    assert '2. question -> [Foundry] -> "Title 1" -> [Ada] -> "Title 2"\n' in shown


def test_ask_shows_where_the_time_went(fake):
    assert "Time: embed 12 ms, total 1.5 s; 3 round trips; strategy linked" in run("ask", "q", "--timings").stdout
    assert "Time:" not in run("ask", "q").stdout


def test_not_in_memory_is_exit_code_3(fake):
    result = run("ask", "unknown")
    assert (result.exit_code, result.stdout) == (3, "Not in memory.\n")
    result = run("ask", "unknown", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["abstained"] is True


def test_without_a_question_it_reads_one_a_line(fake):
    result = run("ask", "-k", "1", stdin="\ufeffone\r\ntwo é\n\nthree\n")
    assert result.exit_code == 0
    assert result.stdout.count("1. Title 1") == 3
    assert [call[0] for call in fake.calls] == ["open", "warm", "ask", "ask", "ask", "close"]
    assert [call[1] for call in fake.calls if call[0] == "ask"] == [("one",), ("two é",), ("three",)]  # an empty line in a pipe asks nothing


def test_a_question_that_cannot_be_asked_does_not_end_the_prompt(fake):
    result = run("ask", "--json", stdin="one\nbad\nunknown\n")
    documents = [json.loads(line) for line in result.stdout.splitlines()]
    assert [document["question"] for document in documents] == ["one", "bad", "unknown"]
    assert documents[1]["error"] == "the question is bad"
    assert result.exit_code == 1
    assert result.stderr == "Error: the question is bad\n"


def test_any_other_error_ends_the_prompt(fake):
    fake.raises = EngineError("gone")
    result = run("ask", stdin="one\ntwo\n")
    assert (result.exit_code, result.stderr) == (1, "Error: gone\n")


@pytest.mark.parametrize("to_terminal", [True, False])
def test_a_terminal_is_asked_until_an_empty_line(monkeypatch, capsys, to_terminal):
    shown, typed = [], iter(["one", " two ", "", "three"])
    monkeypatch.setattr("builtins.input", lambda text="": shown.append(text) or next(typed))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    sys.stdin.isatty = lambda: True
    monkeypatch.setattr(sys.stdout, "isatty", lambda: to_terminal, raising=False)
    assert list(prompt._questions()) == ["one", "two"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Ask. ")
    assert shown == ["? " if to_terminal else ""] * 3
    assert captured.err.count("? ") == (0 if to_terminal else 3)


def test_ctrl_d_ends_the_prompt(monkeypatch):
    def end(text=""):
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    sys.stdin.isatty = lambda: True
    assert list(prompt._questions()) == []


# status, doctor, forget


def test_status_shows_what_is_held(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fake.state = Status("/m", "neo4j", "5.26", {"Document": 3, "Role": 0}, {"PART_OF": 12345}, ["/far/1.md"], 1, "mini", 384)
    shown = run("status").stdout
    assert shown.startswith("memory    /m\nengine    neo4j 5.26\nschema    1\nembedder  mini (384 dimensions)\n")
    assert "\nRelationships\n  PART_OF  12,345\n" in shown
    assert "The load of 1 was cut off; load again to complete:\n  /far/1.md\n" in shown
    assert "created" not in shown


def test_status_of_an_empty_memory_says_how_to_begin(fake):
    fake.state = Status("/m", "fake", "1", {}, {}, [])
    result = run("status")
    assert result.exit_code == 0
    assert "gswgraph load PATH" in result.stdout
    assert json.loads(run("status", "--json").stdout)["schema"] is None


def test_doctor_shows_the_line_that_mends(fake):
    assert run("doctor").exit_code == 0
    fake.findings = [Finding("engine", True, "up"), Finding("embedder", False, "[red]missing", "pip install 'gswgraph[offline]'")]
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "ok     engine    up",
        "WRONG  embedder  [red]missing",
        "       mend: pip install 'gswgraph[offline]'",
    ]


def test_doctor_in_json(fake):
    fake.findings = [Finding("engine", False, "down", "start it")]
    result = run("doctor", "--json")
    assert result.exit_code == 1
    expected = {"check": "engine", "ok": False, "found": "down", "mend": "start it"}
    assert json.loads(result.stdout) == {"ok": False, "findings": [expected]}


@pytest.mark.parametrize(("forgotten", "unknown", "code"), [(["a"], [], 0), (["a"], ["b"], 4), ([], ["b"], 1), ([], [], 0)])
@pytest.mark.parametrize("options", [[], ["--json"]], ids=str)
def test_exit_code_of_forget(fake, forgotten, unknown, code, options):
    fake.forgotten = Forgotten(forgotten, unknown)
    result = run("forget", "a", "b", *options)
    assert result.exit_code == code
    assert last_call(fake) == ("forget", ("a", "b"), {"everything": False})
    if options:
        assert json.loads(result.stdout) == {"forgotten": forgotten, "unknown": unknown}
    else:
        assert result.stdout == f"Forgot {len(forgotten)} document{'' if len(forgotten) == 1 else 's'}.\n"
        assert result.stderr == "".join(f"Unknown: {name}\n" for name in unknown)


@pytest.mark.parametrize("args", [[], ["a", "--all"]])
def test_forget_wants_sources_or_all(fake, args):
    assert run("forget", *args).exit_code == 2
    assert fake.calls == []


def test_forget_all_asks_first(fake):
    refused = run("--memory", "bolt://me:secret@host", "forget", "--all", "--json", stdin="n\n")
    assert (refused.exit_code, refused.stdout, fake.calls) == (1, "", [])
    assert "bolt://host?" in refused.stderr
    assert "secret" not in refused.output
    agreed = run("forget", "--all", "--json", stdin="y\n")
    assert agreed.exit_code == 0
    assert json.loads(agreed.stdout)["forgotten"] == ["/far/1.md"]
    assert last_call(fake) == ("forget", (), {"everything": True})
    assert run("forget", "--all", "--yes").stderr == ""
    assert run("forget", "--all", stdin="").exit_code == 1


# cypher, completion


def test_cypher_parameters_are_json_or_text(fake):
    pairs = ["a=1", "$b=[1, null]", "c=007", "d=NaN", "e=x=y", 'f="1"', "g=", "h=1e999", "i=" + "[" * 100_000]
    assert run("cypher", "RETURN 1", "--write", *(f"-p{pair}" for pair in pairs)).exit_code == 0
    name, args, found = last_call(fake)
    assert (name, args, found.pop("write")) == ("cypher", ("RETURN 1",), True)
    expected = {"a": 1, "b": [1, None], "c": "007", "d": "NaN", "e": "x=y", "f": "1", "g": "", "h": "1e999", "i": "[" * 100_000}
    assert found == expected


@pytest.mark.parametrize("args", [["-p", "a"], ["-p", "=1"], ["-p", "write=1"], ["-p", "a=1", "-p", "$a=2"]])
def test_cypher_refuses_parameters_without_a_name_of_their_own(fake, args):
    result = run("cypher", "RETURN 1", *args)
    assert (result.exit_code, fake.calls) == (2, [])


def test_cypher_reads_a_file_or_standard_input(fake, tmp_path):
    file = tmp_path / "q.cypher"
    file.write_text("\ufeffRETURN 'é'", encoding="utf-8")
    assert run("cypher", "--file", str(file)).exit_code == 0
    assert last_call(fake)[1:] == (("RETURN 'é'",), {"write": False})
    assert run("cypher", "-f", "-", stdin="RETURN 2").exit_code == 0
    assert last_call(fake)[1] == ("RETURN 2",)
    file.write_bytes(b"\xff")
    assert run("cypher", "--file", str(file)).exit_code == 2


@pytest.mark.parametrize("args", [[], [" "], ["RETURN 1", "--file", "-"], ["--file", "/no/such/file"]])
def test_cypher_wants_one_query(fake, args):
    assert run("cypher", *args).exit_code == 2
    assert fake.calls == []


def test_the_table_cuts_long_values_and_json_does_not(fake):
    long = "word " * 100
    fake.table = Table(["text", "list", "n"], [{"text": long, "list": list(range(100)), "n": 1.5}, {"text": "x[bold]y", "list": None, "n": 2}])
    shown = run("cypher", "q").stdout
    assert max(map(len, shown.splitlines())) < 3 * (output.CELL + 4)
    assert shown.count("…") == 2
    assert "x[bold]y" in shown
    assert shown.endswith("2 rows\n")
    assert json.loads(run("cypher", "q", "--json").stdout)["rows"][0]["text"] == long


def test_a_query_without_columns_has_no_table(fake):
    fake.table = Table([], [])
    assert run("cypher", "q").stdout == "0 rows\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_GSWGRAPH_COMPLETE" in result.stdout
    document = json.loads(run("completion", shell, "--json").stdout)
    assert document == {"shell": shell, "script": result.stdout.removesuffix("\n")}


def test_completion_knows_verbs_and_their_options():
    from click.shell_completion import ZshComplete

    made = ZshComplete(main, {}, "gswgraph", "_GSWGRAPH_COMPLETE")
    assert {"load", "ask"} <= {item.value for item in made.get_completions([], "")}
    assert [item.value for item in made.get_completions(["ask"], "--str")] == ["--strategy"]


# Hostile text


def hostile(fake):
    fake.passages = [RankedPassage("p1", HOSTILE, HOSTILE, HOSTILE, "d", float("nan"))]
    fake.report = LoadReport(DocumentCounts(new=1), {HOSTILE: 1}, [Failure(HOSTILE, HOSTILE)], {"total": 1.0})
    fake.state = Status(HOSTILE, HOSTILE, HOSTILE, {HOSTILE: 1}, {HOSTILE: 2}, [HOSTILE], 1, HOSTILE, 3)
    fake.findings = [Finding(HOSTILE, False, HOSTILE, HOSTILE)]
    fake.forgotten = Forgotten([HOSTILE], [HOSTILE])
    fake.table = Table([HOSTILE], [{HOSTILE: HOSTILE}, {HOSTILE: [HOSTILE]}])


CALLS = [["load", "x"], ["ask", "q", "--trace", "--timings"], ["status"], ["doctor"], ["forget", "x"], ["cypher", "q"]]


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
    parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
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


def test_an_input_error_of_a_loader_is_said_as_it_is(fake):
    fake.raises = InputError("no such file or folder", where="nosuch", hint="Check the path")
    result = run("load", "nosuch")
    assert (result.exit_code, result.stderr) == (1, "Error: nosuch: no such file or folder. Check the path\n")


@pytest.mark.parametrize(("seconds", "text"), [(0.0042, "4 ms"), (1.25, "1.2 s"), (12, "12 s"), (59.7, "1 min 0 s"), (200, "3 min 20 s"), (7300, "2 h 1 min")])
def test_duration(seconds, text):
    assert output.duration(seconds) == text
