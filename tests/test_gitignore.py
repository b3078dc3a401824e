"""What `.gitignore` leaves out of a folder, beside git itself."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from gsw_graph.loaders import read
from gsw_graph.loaders.files import walk
from gsw_graph.loaders.ignored import IGNORED
from gsw_graph.model.documents import Document, Skipped

NAMES = "a b ab x.md y.log docs".split()
LINES = "*.log *.md a a/ /a docs/ docs/** docs/* !docs/x.md !x.md !*.log **/b a/**/b * /* !/docs !docs/ !*/ !**/ #x [ab] a? !a \\!a a/b docs/a/ ** !b/".split()


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def loaded(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in walk(folder, set()) if isinstance(path, Path)
    )


def test_gitignore_is_followed_and_what_is_named_is_loaded(tmp_path):
    files = {
        name: f"Words of {name}."
        for name in ("a.md", "draft.md", "build/b.md", "sub/draft.md", "sub/c.log", "keep.log")
    }
    rules = {
        ".gitignore": "draft.md\nbuild/\n*.log\n!keep.log\n[z-a]\n!\n",
        "sub/.gitignore": "!draft.md\n!build/\n",
    }
    write(tmp_path, {**files, **rules})
    items = list(read([str(tmp_path)]))
    found = [
        Path(item.source).relative_to(tmp_path).as_posix() for item in items if isinstance(item, Document)
    ]
    assert found == ["a.md", "keep.log", "sub/draft.md"]
    left_out = [item for item in items if isinstance(item, Skipped)]
    assert {item.reason for item in left_out} == {IGNORED}
    assert [Path(item.source).name for item in left_out] == ["build", "draft.md", "c.log"]
    named = [str(tmp_path / "draft.md"), str(tmp_path / "build")]
    assert [Path(item.source).name for item in read(named) if isinstance(item, Document)] == [
        "draft.md",
        "b.md",
    ]


def test_a_line_that_takes_folders_in_takes_no_file_in(tmp_path):
    write(
        tmp_path,
        dict.fromkeys(
            ("docs/a.md", "docs/secret.env", "secret.env", "docs/build/b.env", "docs/build/c.md"), "Words."
        ),
    )
    write(tmp_path, {".gitignore": "*\n!*/\n!*.md\n", "docs/.gitignore": "!build/\n"})
    assert loaded(tmp_path) == ["docs/a.md", "docs/build/c.md"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("seed", range(25))
def test_the_same_files_are_left_out_as_by_git(tmp_path, seed):
    chance = random.Random(seed)
    for _ in range(14):
        path = tmp_path.joinpath(
            *chance.choices([*NAMES[:3], "docs"], k=chance.randint(0, 3)), chance.choice(NAMES)
        )
        if not any(part.is_file() for part in path.parents) and not path.exists():
            write(tmp_path, {str(path): "Words."})
    for folder in (
        tmp_path,
        *(path for path in tmp_path.rglob("*") if path.is_dir() and chance.random() < 0.3),
    ):
        (folder / ".gitignore").write_text("\n".join(chance.choices(LINES, k=chance.randint(1, 4))))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-per-directory=.gitignore"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded(tmp_path) == sorted(
        name for name in listed.stdout.splitlines() if not name.endswith(".gitignore")
    )
