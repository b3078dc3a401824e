"""The command line as a whole, against a memory with canned results: its verbs, their help, where the memory is named, and errors."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys

import cli_runner
import click
import fake_memory
import pytest
from cli_runner import HOSTILE, run

from gsw_graph import __version__
from gsw_graph.cli import COMMANDS, main
from gsw_graph.errors import EngineError

fake = cli_runner.fake


def commands():
    def walk(path, command):
        yield path, command
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                yield from walk((*path, name), command.resolve_command(click.Context(command), [name])[1])

    return list(walk((), main))


def examples(command):
    """The lines below `Example:` in a docstring."""
    return [
        line.strip()
        for line in re.search(r"Example:\n((?:[ \t]+\S.*\n?)+)", command.help).group(1).splitlines()
    ]


def test_the_fake_has_the_surface_of_the_real_memory():
    from gsw_graph.memory import Memory

    for name in (
        "open",
        "close",
        "load",
        "ask",
        "warm",
        "forget",
        "status",
        "documents",
        "show",
        "history",
        "question",
        "doctor",
        "cypher",
    ):
        real, ours = (
            list(inspect.signature(getattr(cls, name)).parameters)[1:]
            for cls in (Memory, fake_memory.FakeMemory)
        )
        assert ours == real, name


@pytest.mark.parametrize(
    ("path", "command"), commands(), ids=lambda value: "-".join(value) if isinstance(value, tuple) else ""
)
def test_help_has_examples_that_can_be_copied(path, command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "memory.jsonl").touch()  # `restore` wants the file of its example to be there
    result = run(*path, "--help")
    assert result.exit_code == 0
    lines = examples(command)
    assert lines
    for line in lines:
        assert f"\n    {line}\n" in result.output
        if line.startswith("export ") and path[:1] == ("db",):
            continue
        words = shlex.split(line)
        if "<" in words:
            words = words[: words.index("<")]
        else:
            words = words[: words.index(">")] if ">" in words else words
        assert words[0] == "gswgraph"
        if "query.cypher" not in words:  # parsed, and not run
            context = main.make_context("gswgraph", words[1:])
            name, verb, rest = main.resolve_command(context, [*context._protected_args, *context.args])
            assert verb.make_context(name, rest, parent=context).info_name == name


def test_the_demo_loads_and_asks(fake):
    shown = run("demo").stdout
    assert shown.startswith("$ gswgraph --memory gswgraph-demo load ")
    assert shown.count("$ gswgraph --memory gswgraph-demo ask -k 2 ") == 3
    document = json.loads(run("--memory", "there", "demo", "--json").stdout)
    assert list(document) == ["memory", "load", "answers"]
    assert document["memory"] == "there"
    assert document["load"]["documents"]["new"] == 2
    expected = [call[1][0] for call in fake.calls if call[0] == "ask"][3:]
    assert [answer["question"] for answer in document["answers"]] == expected
    assert {call[2]["llm"] for call in fake.calls if call[0] == "ask"} == {False}


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], *[[verb, "--help"] for verb in COMMANDS]], ids=" ".join
)
def test_help_imports_nothing_heavy(args):
    heavy = (
        "torch",
        "numpy",
        "neo4j",
        "rich",
        "scipy",
        "sentence_transformers",
        "openai",
        "httpx",
        "gsw_graph.memory",
    )
    code = (
        "import sys; from gsw_graph.cli import main\n"
        f"try: main({args!r})\n"
        f"except SystemExit as end: print('HEAVY', end.code, sorted(set({heavy!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert done.stdout.splitlines()[-1] == "HEAVY 0 []", done.stdout + done.stderr


def test_it_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "gsw_graph.cli", "--version"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stdout.strip() == f"gswgraph, version {__version__}"


def test_an_unknown_verb_is_a_usage_error_with_a_guess():
    result = run("lod")
    assert result.exit_code == 2
    assert result.stdout == ""
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


def test_an_empty_memory_url_is_a_usage_error(fake):
    assert run("--memory", "", "status").exit_code == 2
    assert fake.calls == []


def test_completion_knows_verbs_and_their_options():
    from click.shell_completion import ZshComplete

    made = ZshComplete(main, {}, "gswgraph", "_GSWGRAPH_COMPLETE")
    assert {"load", "ask"} <= {item.value for item in made.get_completions([], "")}
    assert [item.value for item in made.get_completions(["ask"], "--str")] == ["--strategy", "--strict"]


# Errors


def test_an_expected_error_is_one_line_and_exit_code_1(fake):
    fake.raises = EngineError(f"gone {HOSTILE}", where="bolt://u:pa@ss@host", hint="Start it")
    result = run("status", "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: bolt://host: gone a")
    assert result.stderr.endswith("Start it\n")
    assert "pa@ss" not in result.stderr
    assert "\x1b" not in result.stderr
    assert "Traceback" not in result.output


def test_a_file_that_cannot_be_opened_is_one_line(fake):
    fake.raises = PermissionError(13, "Permission denied", "/secret")
    result = run("load", "x")
    assert result.exit_code == 1
    assert result.stderr == "Error: /secret: Permission denied\n"


def test_debug_keeps_the_stack_trace(fake, monkeypatch):
    monkeypatch.setenv("GSWGRAPH_DEBUG", "1")
    fake.raises = EngineError("gone")
    assert run("status").exception is fake.raises


def test_a_fault_of_ours_is_not_hidden(fake):
    fake.raises = ZeroDivisionError()
    assert run("status").exception is fake.raises


def test_a_setting_that_is_no_number_is_an_error_that_names_it(fake, monkeypatch):
    monkeypatch.setenv("GSWGRAPH_CONCURRENCY", "many")
    result = run("status")
    assert result.exit_code == 1
    assert "GSWGRAPH_" in result.stderr
    assert "many" in result.stderr


@pytest.mark.parametrize(
    ("args", "note"), [(["load", "x"], "The same command completes"), (["status"], "Interrupted.")]
)
def test_an_interrupt_ends_with_130(fake, args, note):
    fake.raises = KeyboardInterrupt()
    result = run(*args)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert note in result.stderr
    assert fake.calls[-1][0] == "close"


def test_a_reader_that_leaves_ends_it_quietly(fake):
    fake.raises = BrokenPipeError(32, "Broken pipe")
    result = run("status")
    assert result.exit_code == 1
    assert result.output == ""


def test_every_verb_that_prints_results_has_json():
    for path, command in commands():
        if not isinstance(command, click.Group) and path not in {
            ("mcp",),
            ("eval", "corpus"),
            ("eval", "fit"),
        }:  # a protocol, and lines of JSON
            assert "--json" in [name for option in command.params for name in option.opts], path
