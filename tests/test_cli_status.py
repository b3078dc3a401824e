"""`gswgraph status`, `doctor` and `forget`."""

from __future__ import annotations

import json
from dataclasses import replace

import cli_runner
import pytest
from cli_runner import last_call, run
from fake_memory import canned

from gsw_graph.model.results import Documents, Finding, Forgotten, Status, StoredMemory

fake = cli_runner.fake


def test_status_shows_what_is_held(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    fake.state = Status("/m", "neo4j", "5.26", {"Document": 3, "Role": 0}, {"PART_OF": 12345}, ["/far/1.md"], 1, "mini", 384)
    shown = run("status").stdout
    assert shown.startswith("memory          /m\nengine          neo4j\nengine_version  5.26\n")
    assert "schema          1\nembedder        mini\ndimension       384\n" in shown
    assert "\nrelationships\n  PART_OF  12,345\n" in shown
    assert "The load of 1 document was cut off; load again to complete. gswgraph list --unfinished\n" in shown
    assert "created" not in shown


def test_status_of_an_empty_memory_says_how_to_begin(fake):
    fake.state, fake.stored = Status("/m", "fake", "1", {}, {}, []), []
    result = run("status")
    assert result.exit_code == 0
    assert "gswgraph load PATH" in result.stdout
    assert json.loads(run("status", "--json").stdout)["schema"] is None


@pytest.mark.parametrize("command", [("status",), ("list",), ("ask", "unknown")])
def test_an_empty_memory_names_the_others_of_its_database(fake, command):
    fake.state = Status("/m", "fake", "1", {}, {}, [])
    fake.documents = lambda self, *args, **kwargs: Documents(0, [])
    fake.ask = lambda self, question, **options: replace(canned(question, []), missing="the memory is empty")
    fake.stored = [StoredMemory("ferry", "mini", "2026-01-03", 2, 3), StoredMemory("muehle", "mini", "2026-01-03", 2, 3)]
    assert "This database has memories: ferry, muehle (?memory=NAME behind its address)\n" in run(*command).stderr
    fake.stored = []
    assert "memories" not in run(*command).stderr


def test_memories_are_listed_by_name(fake):
    fake.stored = [StoredMemory("", "mini", "2026-01-02", 1234, 5), StoredMemory("letters", "mini", "2026-01-03", 2, 3)]
    lines = run("memories").stdout.splitlines()
    assert lines[2].split() == ["(the", "default", "memory)", "1234", "5", "mini", "2026-01-02"]
    assert lines[3].split() == ["letters", "2", "3", "mini", "2026-01-03"]
    assert json.loads(run("memories", "--json").stdout)["memories"][1]["name"] == "letters"


def test_doctor_shows_the_line_that_mends(fake):
    assert run("doctor").exit_code == 0
    fake.findings = [Finding("engine", True, "up"), Finding("embedder", False, "[red]missing", "pip install 'gswgraph[offline]'")]
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "ok     engine: up",
        "WRONG  embedder: [red]missing",
        "       mend: pip install 'gswgraph[offline]'",
    ]


def test_doctor_in_json(fake):
    fake.findings = [Finding("engine", False, "down", "start it")]
    result = run("doctor", "--json")
    assert result.exit_code == 1
    expected = {"check": "engine", "ok": False, "result": "down", "mend": "start it"}
    assert json.loads(result.stdout) == {"ok": False, "findings": [expected]}


@pytest.mark.parametrize("mend", [False, True])
def test_a_deep_doctor_asks_nothing(fake, mend):
    result = run("doctor", "--deep", *(["--mend"] if mend else []), "--json", stdin="")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["ok"] is True
    assert last_call(fake) == ("doctor", (), {"mend": mend, "deep": True})


@pytest.mark.parametrize(("forgotten", "unknown", "code"), [(["a"], [], 0), (["a"], ["b"], 4), ([], ["b"], 1), ([], [], 0)])
@pytest.mark.parametrize("options", [[], ["--json"]], ids=str)
def test_exit_code_of_forget(fake, forgotten, unknown, code, options):
    fake.forgotten = Forgotten(forgotten, unknown)
    result = run("forget", "a", "b", *options)
    assert result.exit_code == code
    assert last_call(fake) == ("forget", ("a", "b"), {"everything": False})
    if options:
        assert json.loads(result.stdout) == {"forgotten": forgotten, "unknown": unknown, "questions": 0, "folders": {}}
    else:
        assert result.stdout == f"Forgot {len(forgotten)} document{'' if len(forgotten) == 1 else 's'}.\n"
        assert result.stderr == "".join(f"Unknown: {name}\n" for name in unknown)


@pytest.mark.parametrize("args", [[], ["a", "--all"]])
def test_forget_wants_sources_or_all(fake, args):
    assert run("forget", *args).exit_code == 2
    assert fake.calls == []


def test_forget_says_that_a_folder_ends_with_a_slash(fake):
    fake.forgotten = Forgotten([], ["notes/tools", "x"], folders={"notes/tools": 12})
    lines = run("forget", "notes/tools", "x").stderr.splitlines()
    assert lines == ["Unknown: notes/tools, a folder of 12 documents; a folder ends with a slash: notes/tools/", "Unknown: x"]


@pytest.mark.parametrize("args", [[""], [" "], ["a.md", ""], ["", "--yes"]])
def test_case_01_an_empty_name_forgets_nothing(fake, args):
    result = run("forget", *args)
    assert result.exit_code == 2
    assert "An empty name means no document (an unset variable?)" in result.stderr
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


@pytest.mark.parametrize("args", [["status"], ["ask", "Who?"], ["doctor"], ["cypher", "RETURN 1"], ["forget", "x"], ["eval", "q.json"]])
def test_what_reads_makes_no_memory(monkeypatch, tmp_path, args):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.json").write_text('[{"id": "1", "question": "Who?"}]')
    result = run("--memory", "mistyped", *args)
    assert result.exit_code == 1
    assert "there is no memory here" in " ".join(result.stderr.split())
    assert str(tmp_path / "mistyped") in result.stderr.replace("\n", "")
    assert not (tmp_path / "mistyped").exists()
