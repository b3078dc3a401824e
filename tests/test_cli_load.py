"""`gswgraph load`: what is passed on, summed up and listed, its exit codes, and its progress."""

from __future__ import annotations

import json
from pathlib import Path

import cli_runner
import pytest
from cli_runner import HOSTILE, last_call, run
from fake_memory import Progress

from gsw_graph.cli.load import load_step
from gsw_graph.cli.text import output
from gsw_graph.model.documents import Failure, Skipped
from gsw_graph.model.results import DocumentCounts, LoadReport

fake = cli_runner.fake


def test_load_passes_its_options_on(fake):
    result = run("load", "a", "-", "--replace", "--dry-run", "--quiet", "--extractor", "none", stdin="text")
    assert result.exit_code == 0
    expected = (
        "load",
        ("a", "-"),
        {
            "extractor": "none",
            "replace": True,
            "upgrade": False,
            "second_pass": False,
            "batch": False,
            "dry_run": True,
            "budget": None,
        }
        | {"near": 0.0, "meta": (), "part": None, "follow_links": False, "stdin": None, "progress": False},
    )
    assert last_call(fake) == expected
    assert result.output == ""


def test_what_is_skipped_is_named_and_is_no_failure(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    here = tmp_path.as_posix()
    images = [
        Skipped(f"{here}/{n}.png", "a PNG image, which has no text to load", kinds=(("PNG image", 1),))
        for n in range(20)
    ]
    drawings = [
        Skipped(f"{here}/{n}.svg", "an SVG image, which has no text to load", kinds=(("SVG image", 1),))
        for n in range(2)
    ]
    skipped = [*images, *drawings, Skipped(f"{here}/a.txt", "empty")]
    fake.report = LoadReport(DocumentCounts(), {}, [], {"total": 1.0}, skipped=skipped)
    result = run("load", "x", "--follow-links")
    assert result.exit_code == 0
    assert last_call(fake)[2]["follow_links"]
    assert result.stdout == "Documents: 0 new, 0 replaced, 0 unchanged, 0 failed, 23 skipped; 1.0 s\n"
    textless = "20 PNG images, 2 SVG images skipped (they have no text): 0.png, 1.png, 2.png and 19 more\n"
    assert result.stderr == f"{textless}Skipped: a.txt: empty\n"
    assert run("load", "x", "--quiet").stderr == ""
    every = run("load", "x", "--verbose").stderr.splitlines()
    assert every == [f"Skipped: {Path(item.source).name}: {item.reason}" for item in skipped]
    assert len(json.loads(run("load", "x", "--json").stdout)["skipped"]) == 23


def test_a_dry_run_makes_no_memory(fake, tmp_path):
    assert run("--memory", str(tmp_path / "none"), "load", "x", "--dry-run").exit_code == 0
    (opened,) = fake.calls[0][1]
    assert opened != str(tmp_path / "none")
    assert not Path(opened).parent.exists()
    assert run("--memory", str(tmp_path / "none"), "load", "x").exit_code == 0
    found = [call[1] for call in fake.calls if call[0] == "open"][1]
    assert found == (str(tmp_path / "none"),)


def test_load_passes_on_what_concerns_a_language_model(fake):
    options = (
        "--extractor",
        "llm",
        "--llm",
        "small",
        "--upgrade",
        "--second-pass",
        "--batch",
        "--budget",
        "2.00",
        "--concurrency",
        "3",
    )
    assert run("load", "x", *options).exit_code == 0
    given = last_call(fake)[2]
    found = {name: given[name] for name in ("extractor", "upgrade", "second_pass", "batch", "budget")}
    expected = {
        "extractor": "llm",
        "upgrade": True,
        "second_pass": True,
        "batch": True,
        "budget": "2.00",
    }
    assert found == expected
    opened = fake.calls[0][2]
    assert opened["llm"] == "small"
    assert opened["concurrency"] == 3
    assert run("load", "x", "--concurrency", "0").exit_code == 2


@pytest.mark.parametrize(
    ("counts", "failures", "code"),
    [
        (DocumentCounts(new=1, failed=1), 1, 4),
        (DocumentCounts(failed=1), 1, 1),
        (DocumentCounts(failed=1), 0, 1),
        (DocumentCounts(), 0, 0),
    ],
)
def test_exit_code_of_load(fake, counts, failures, code):
    fake.report = LoadReport(counts, {}, [Failure("f", "r")] * failures, {"total": 1})
    assert run("load", "x").exit_code == code


def test_failures_are_listed_on_standard_error(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    here = tmp_path.as_posix()
    fake.report = LoadReport(
        DocumentCounts(new=1, failed=25),
        {},
        [Failure(f"{here}/b{n}.txt", f"{HOSTILE} {'x' * n}") for n in range(25)],
        {},
    )
    result = run("load", "x", "--quiet")
    lines = result.stderr.splitlines()
    assert result.stdout == ""
    assert len(lines) == 21
    assert lines[0].startswith("Failed: b0.txt: ared")
    assert lines[-1] == "... and 5 more; --json lists all"
    assert "\x1b" not in result.stderr
    fake.report = LoadReport(
        DocumentCounts(failed=25),
        {},
        [Failure(f"{here}/b{n}.txt", "the server is away") for n in range(25)],
        {},
    )
    assert (
        run("load", "x", "--quiet").stderr
        == "Failed: b0.txt, b1.txt, b2.txt and 22 more: the server is away\n"
    )
    bytes_ = [
        Failure(f"{here}/b{n}.txt:{n}", f"not UTF-8: byte 0x{n + 128:x} at column {n}") for n in range(25)
    ]
    fake.report = LoadReport(DocumentCounts(failed=25), {}, bytes_, {})
    assert (
        run("load", "x", "--quiet").stderr
        == "Failed: b0.txt:0, b1.txt:1, b2.txt:2 and 22 more: not UTF-8: byte 0x80 at column 0\n"
    )


def test_progress_in_a_pipe_is_a_line_every_ten_seconds_until_all_is_done(capsys, monkeypatch):
    now = iter([0.0, 5.0, 10.0, 15.0, 21.0, 40.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(now))
    with output.reporter(False, load_step) as report:
        for n in (50, 100, 150, 210):
            report(Progress(n // 10, n, 1000 if n < 200 else None, "loading"))
        report(Progress(100, 1000, 1000, "loading"))
    assert capsys.readouterr() == (
        "",
        "loading: 10 documents, 100 passages of 1,000, 10 passages/s, about 1 min 30 s left\nloading: 21 documents, 210 passages, 10 passages/s\n",
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("a.md", "--forget-gone"), "--forget-gone is for folders"),
        (("-", "--watch"), "--watch is for folders, and this is none: -"),
        (("notes", "http://a.example/", "--watch"), "this is none: http://a.example/"),
    ],
)
def test_options_of_folders_need_folders(fake, monkeypatch, tmp_path, arguments, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("Some words.")
    result = run("load", *arguments)
    assert result.exit_code == 2
    assert reason in result.stderr
