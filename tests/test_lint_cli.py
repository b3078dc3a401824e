"""`gswgraph lint`: one line a fault, a summary by kind, and its exit codes."""

from __future__ import annotations

import json

from click.testing import CliRunner

from gsw_graph.cli.lazy import LazyGroup
from gsw_graph.cli.load import SHOWN

PIER = {
    "title": "Stone Pier",
    "text": "The Stone Pier was built by Ana Ruiz.",
    "entities": [{"name": "Ana Ruiz"}, {"name": "Stone Pier"}],
    "verb_phrases": [
        {
            "phrase": "built",
            "questions": [{"text": "Who built the Stone Pier?", "answers": ["Ana Ruiz"]}, {"text": "What did Ana Ruiz build?", "answers": ["Stone Pier"]}],
        }
    ],
}


def run(*args, stdin=None):
    group = LazyGroup("main", table={"lint": ("load", "Look at workspaces.")})
    return CliRunner().invoke(group, ["lint", *map(str, args)], input=stdin)


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_sound_workspaces(tmp_path):
    result = run(write(tmp_path / "a.jsonl", PIER))
    assert (result.exit_code, result.output) == (0, "0 faults in 1 workspace\n")


def test_faults_are_listed_and_summed_up(tmp_path):
    asked = {"phrase": "knew", "questions": [{"text": "Whom did she know?", "answers": ["Ana Ruiz"]}]}
    broken = {**PIER, "id": "b", "entities": [*PIER["entities"], {"name": "Pier\x07"}, {"name": True}], "verb_phrases": [*PIER["verb_phrases"], asked]}
    result = run(write(tmp_path / "a.jsonl", PIER, broken))
    assert result.exit_code == 4
    start = f"{(tmp_path / 'a.jsonl').as_posix()}: b: "
    assert result.stdout.splitlines() == [
        f"{start}orphan: Pier: no question names it and none is answered by it",
        f"{start}no name: Whom did she know?: it names no entity, so that nothing leads to it",
        f"{start}pronoun: Whom did she know?: 'she' stands for no name in it",
        "3 faults in 2 workspaces",
        "  orphan        1  an entity in no question and no answer",
        "  no name       1  a question that names no entity",
        "  pronoun       1  a pronoun where a name belongs",
    ]
    assert "`entities[3].name` is not a string" in result.stderr


def test_json_lists_all(tmp_path):
    many = [{**PIER, "id": str(n), "entities": [*PIER["entities"], {"name": "Pier Head"}]} for n in range(SHOWN + 3)]
    path = write(tmp_path / "a.jsonl", *many)
    found = json.loads(run(path, "--json").stdout)
    assert found["workspaces"] == SHOWN + 3
    assert found["kinds"] == {"orphan": SHOWN + 3}
    assert found["faults"][0] == {
        "file": path.as_posix(),
        "source": "0",
        "passage": 0,
        "kind": "orphan",
        "subject": "Pier Head",
        "message": "no question names it and none is answered by it",
    }
    assert len(found["faults"]) == SHOWN + 3
    assert found["failures"] == []
    shown = run(path).stdout.splitlines()
    assert sum(": orphan: " in line for line in shown) == SHOWN
    assert "... and 3 more of orphan; --json lists all" in shown




def test_standard_input_folders_and_what_is_no_workspace(tmp_path):
    assert run("-", stdin=json.dumps(PIER)).output == "0 faults in 1 workspace\n"
    write(tmp_path / "a.jsonl", PIER)
    (tmp_path / "b.md").write_text("Plain text.", encoding="utf-8")
    assert run(tmp_path).output == "0 faults in 1 workspace\n"
    result = run(tmp_path / "b.md")
    assert result.exit_code == 1
    assert "there are no ready workspaces" in result.output
    assert run(tmp_path / "missing").exit_code == 1
