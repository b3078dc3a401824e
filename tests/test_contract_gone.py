"""Documents whose files are gone from a folder, and a folder that is watched, on every engine."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import run
from test_serve_process import COMMAND
from waiting import until

from gsw_graph.errors import InputError


def write(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(f"Words of {name}.", encoding="utf-8")


def records(path, *ids):
    path.write_text(
        "".join(json.dumps({"id": id_, "title": id_, "text": f"Words of {id_}."}) + "\n" for id_ in ids)
    )


def names(sources):
    return sorted(Path(source).name for source in sources)


def test_what_is_gone_from_a_folder_is_forgotten_and_nothing_else(memory, tmp_path):
    notes = tmp_path / "notes"
    other = tmp_path / "notes2"
    write(notes, "a.md", "b.md", "C#.md")
    write(notes / "sub", "c.md")
    write(other, "d.md")
    records(notes / "list.jsonl", "one", "two")
    records(notes / "sub/broken.jsonl", "three")
    memory.load(str(notes), str(other))
    assert memory.forget(str(notes), gone=True).forgotten == []
    for path in (notes / "a.md", notes / "C#.md", notes / "sub/c.md", other / "d.md"):
        path.unlink()
    write(other, "e.md")
    (notes / "b.md").write_bytes(b"")
    records(notes / "list.jsonl", "two")
    (notes / "sub/broken.jsonl").write_text('{"title": "three"')
    gone = ["C#.md", "a.md", "c.md", "one"]
    assert names(memory.forget(str(notes), gone=True, dry_run=True).forgotten) == gone
    assert names(memory.forget(f"{notes}/", gone=True).forgotten) == gone
    left = names([document.source for document in memory.documents().documents])
    assert left == ["b.md", "d.md", "three", "two"]


def test_a_folder_that_is_not_there_forgets_nothing(memory, tmp_path):
    drive = tmp_path / "drive"
    write(drive, "a.md")
    memory.load(str(drive))
    (drive / "a.md").unlink()
    with pytest.raises(InputError, match="empty"):
        memory.forget(str(drive), gone=True)
    drive.rmdir()
    with pytest.raises(InputError, match="cannot be read"):
        memory.forget(str(drive), gone=True)
    assert memory.documents().total == 1


def test_load_says_what_is_gone_and_forgets_it(tmp_path, monkeypatch, fake_embedder):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEO4J_URI", raising=False)
    write(tmp_path / "notes", "a.md", "b.md")
    loaded = run("load", "notes")
    assert loaded.exit_code == 0, loaded.output
    (tmp_path / "notes/a.md").unlink()
    rehearsed = run("load", "notes", "--forget-gone", "--dry-run")
    assert rehearsed.stderr == "Gone: notes/a.md\n"
    assert "Would forget: 1 document\n" in rehearsed.stdout
    done = run("load", "notes", "--forget-gone", "--json")
    assert done.stderr.startswith("Gone: notes/a.md\n")
    assert names(json.loads(done.stdout)["forgotten"]) == ["a.md"]
    assert json.loads(run("list", "--json").stdout)["total"] == 1
    (tmp_path / "notes").rename(tmp_path / "elsewhere")
    missing = run("load", "notes", "--forget-gone")
    assert missing.exit_code == 1
    assert "nothing is forgotten" in missing.stderr


def test_a_watched_folder_is_loaded_as_it_changes(tmp_path):
    notes = tmp_path / "notes"
    out = tmp_path / "out"
    write(notes, "a.md", "b.md")
    (notes / ".gitignore").write_text("*.tmp.md\n")
    command = [
        *COMMAND,
        "--memory",
        str(notes / "memory"),
        "load",
        str(notes),
        "--watch",
        "--forget-gone",
        "--json",
    ]

    def reports():
        return [json.loads(line) for line in out.read_text().splitlines()]

    def counts(name):
        return sum(report["documents"][name] for report in reports())  # type: ignore[index]

    with out.open("w") as stream, subprocess.Popen(command, stdout=stream, stderr=subprocess.PIPE) as process:
        try:
            until(lambda: counts("new") == 2, 300)
            write(notes / "deep/er", "c.md", "d.tmp.md")
            until(lambda: counts("new") == 3, 300)
            (notes / "a.md").write_text("Other words.")
            until(lambda: counts("replaced") == 1, 300)
            (notes / "b.md").unlink()
            until(
                lambda: (
                    [name for report in reports() for name in report["forgotten"]]
                    == [(notes / "b.md").as_posix()]
                ),
                300,
            )  # type: ignore[attr-defined]
            assert not any(report["failures"] for report in reports())
            process.send_signal(signal.SIGINT)
            assert process.wait(120) in (0, 130)
        finally:
            process.kill()
    assert counts("new") == 3
    listed = subprocess.run(
        [sys.executable, "-m", "gsw_graph.cli", "--memory", str(notes / "memory"), "list", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert names([document["source"] for document in json.loads(listed.stdout)["documents"]]) == [
        "a.md",
        "c.md",
    ]
