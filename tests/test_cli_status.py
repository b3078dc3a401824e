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


@pytest.mark.parametrize("command", [("status",), ("list",), ("ask", "unknown")])
def test_an_empty_memory_names_the_others_of_its_database(fake, command):
    fake.state = Status("/m", "fake", "1", {}, {}, [])
    fake.documents = lambda self, *args, **kwargs: Documents(0, [])
    fake.ask = lambda self, question, **options: replace(canned(question, []), missing="the memory is empty")
    fake.stored = [
        StoredMemory("ferry", "mini", "2026-01-03", 2, 3),
        StoredMemory("muehle", "mini", "2026-01-03", 2, 3),
    ]
    assert (
        "This database has memories: ferry, muehle (?memory=NAME behind its address)\n"
        in run(*command).stderr
    )
    fake.stored = []
    assert "memories" not in run(*command).stderr


def test_memories_are_listed_by_name(fake):
    fake.stored = [
        StoredMemory("", "mini", "2026-01-02", 1234, 5),
        StoredMemory("letters", "mini", "2026-01-03", 2, 3),
    ]
    assert run("memories").stdout.splitlines() == [
        "(the default memory): 1,234 documents, 5 passages, mini, since 2026-01-02",
        "letters: 2 documents, 3 passages, mini, since 2026-01-03",
    ]
    assert json.loads(run("memories", "--json").stdout)["memories"][1]["name"] == "letters"


def test_doctor_in_json(fake):
    fake.findings = [Finding("engine", False, "down", "start it")]
    result = run("doctor", "--json")
    assert result.exit_code == 1
    expected = {"check": "engine", "ok": False, "result": "down", "mend": "start it"}
    assert json.loads(result.stdout) == {"ok": False, "findings": [expected]}


@pytest.mark.parametrize("mend", [False, True])
def test_a_deep_doctor_asks_nothing(fake, mend):
    result = run("doctor", "--deep", *(["--mend"] if mend else []), "--json", stdin="")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert json.loads(result.stdout)["ok"] is True
    assert last_call(fake) == ("doctor", (), {"mend": mend, "deep": True})


@pytest.mark.parametrize(
    ("forgotten", "unknown", "code"), [(["a"], [], 0), (["a"], ["b"], 4), ([], ["b"], 1), ([], [], 0)]
)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=str)
def test_exit_code_of_forget(fake, forgotten, unknown, code, options):
    fake.forgotten = Forgotten(forgotten, unknown)
    result = run("forget", "a", "b", *options)
    assert result.exit_code == code
    assert last_call(fake) == ("forget", ("a", "b"), {"everything": False})
    if options:
        assert json.loads(result.stdout) == {
            "forgotten": forgotten,
            "unknown": unknown,
            "questions": 0,
            "folders": {},
        }
    else:
        expected = f"Forgot {len(forgotten)} document{'' if len(forgotten) == 1 else 's'}.\n"
        assert result.stdout == expected
        assert result.stderr == "".join(f"Unknown: {name}\n" for name in unknown)


@pytest.mark.parametrize("args", [[], ["a", "--all"]])
def test_forget_wants_sources_or_all(fake, args):
    assert run("forget", *args).exit_code == 2
    assert fake.calls == []


@pytest.mark.parametrize("args", [[""], [" "], ["a.md", ""], ["", "--yes"]])
def test_case_01_an_empty_name_forgets_nothing(fake, args):
    result = run("forget", *args)
    assert result.exit_code == 2
    assert "An empty name means no document (an unset variable?)" in result.stderr
    assert fake.calls == []


def test_forget_all_asks_first(fake):
    refused = run("--memory", "bolt://me:secret@host", "forget", "--all", "--json", stdin="n\n")
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert fake.calls == []
    assert "bolt://host?" in refused.stderr
    assert "secret" not in refused.output
    agreed = run("forget", "--all", "--json", stdin="y\n")
    assert agreed.exit_code == 0
    assert json.loads(agreed.stdout)["forgotten"] == ["/far/1.md"]
    assert last_call(fake) == ("forget", (), {"everything": True})
    assert run("forget", "--all", "--yes").stderr == ""
    assert run("forget", "--all", stdin="").exit_code == 1


@pytest.mark.parametrize(
    "args",
    [["status"], ["ask", "Who?"], ["doctor"], ["cypher", "RETURN 1"], ["forget", "x"], ["eval", "q.json"]],
)
def test_what_reads_makes_no_memory(monkeypatch, tmp_path, args):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.json").write_text('[{"id": "1", "question": "Who?"}]')
    result = run("--memory", "mistyped", *args)
    assert result.exit_code == 1
    assert "there is no memory here" in " ".join(result.stderr.split())
    assert str(tmp_path / "mistyped") in result.stderr.replace("\n", "")
    assert not (tmp_path / "mistyped").exists()
