"""`gswgraph load`: what is passed on, summed up and listed, its exit codes, and its progress."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cli_runner
import pytest
from cli_runner import HOSTILE, last_call, run
from fake_memory import Progress

from gsw_graph.cli.load import load_step
from gsw_graph.cli.text import output
from gsw_graph.model.documents import Failure, Skipped
from gsw_graph.model.results import DocumentCounts, Estimate, LoadReport

fake = cli_runner.fake


def test_load_passes_its_options_on(fake):
    result = run("load", "a", "-", "--replace", "--dry-run", "--quiet", "--extractor", "none", stdin="text")
    assert result.exit_code == 0
    assert last_call(fake) == (
        "load",
        ("a", "-"),
        {"extractor": "none", "replace": True, "upgrade": False, "second_pass": False, "batch": False, "dry_run": True, "budget": None}
        | {"near": 0.0, "meta": (), "follow_links": False, "stdin": None, "progress": False},
    )
    assert result.output == ""


def test_what_is_skipped_is_named_and_is_no_failure(fake, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    here = tmp_path.as_posix()
    images = [Skipped(f"{here}/{n}.png", "a PNG image, which has no text to load", kinds=(("PNG image", 1),)) for n in range(20)]
    drawings = [Skipped(f"{here}/{n}.svg", "an SVG image, which has no text to load", kinds=(("SVG image", 1),)) for n in range(2)]
    skipped = [*images, *drawings, Skipped(f"{here}/a.txt", "empty")]
    fake.report = LoadReport(DocumentCounts(), {}, [], {"total": 1.0}, skipped=skipped)
    result = run("load", "x", "--follow-links")
    assert result.exit_code == 0
    assert last_call(fake)[2]["follow_links"]
    assert result.stdout == "Documents: 0 new, 0 replaced, 0 unchanged, 0 failed; 1.0 s\nskipped  23\n"
    assert result.stderr.splitlines() == [
        "Skipped: 0.png, 1.png, 2.png and 17 more: a PNG image, which has no text to load",
        "Skipped: 0.svg, 1.svg: an SVG image, which has no text to load",
        "Skipped: a.txt: empty",
    ]
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
    assert [call[1] for call in fake.calls if call[0] == "open"][1] == (str(tmp_path / "none"),)


def test_load_passes_on_what_concerns_a_language_model(fake):
    options = ("--extractor", "llm", "--llm", "small", "--upgrade", "--second-pass", "--batch", "--budget", "2.00", "--concurrency", "3")
    assert run("load", "x", *options).exit_code == 0
    given = last_call(fake)[2]
    assert {name: given[name] for name in ("extractor", "upgrade", "second_pass", "batch", "budget")} == {
        "extractor": "llm",
        "upgrade": True,
        "second_pass": True,
        "batch": True,
        "budget": "2.00",
    }
    opened = fake.calls[0][2]
    assert (opened["llm"], opened["concurrency"]) == ("small", 3)
    assert run("load", "x", "--concurrency", "0").exit_code == 2


def test_load_says_what_a_language_model_took(fake):
    fake.report = replace(fake.report, calls=12, cached=3, tokens={"in": 34_567, "out": 8_900}, dollars=0.0281, faults=[Failure("f", "r", part=True)])
    assert run("load", "x").stdout.splitlines()[4:] == ["calls    12", "cached   3", "tokens", "  in   34,567", "  out  8,900", "dollars  0.0281", "faults   1"]
    fake.report = replace(fake.report, calls=0, cached=0, faults=[], estimate=Estimate("small", 7, 2, 5_000, 7_000, None))
    shown = run("load", "x", "--dry-run").stdout.split("estimate\n")[1].split()
    assert shown == ["model", "small", "calls", "7", "cached", "2", "prompt_tokens", "5,000", "completion_tokens", "7,000"]




def test_load_sums_up(fake):
    result = run("load", "x")
    assert result.stdout == "Documents: 2 new, 0 replaced, 1 unchanged, 0 failed; 1.2 s\nnodes\n  Passage  5\n  Concept  -1\n"
    assert result.stderr == ""
    assert run("load", "x", "--dry-run").stdout.startswith("Would load: 2 new")


def test_load_says_that_metadata_changed(fake):
    fake.report = LoadReport(DocumentCounts(unchanged=14, described=3), {}, [], {"total": 1.0})
    assert run("load", "x").stdout == "Documents: 0 new, 0 replaced, 14 unchanged, 0 failed; 1.0 s\ndescribed  3\n"


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
    fake.report = LoadReport(DocumentCounts(new=1, failed=25), {}, [Failure(f"{here}/b{n}.txt", f"{HOSTILE} {'x' * n}") for n in range(25)], {})
    result = run("load", "x", "--quiet")
    lines = result.stderr.splitlines()
    assert result.stdout == ""
    assert len(lines) == 21
    assert lines[0].startswith("Failed: b0.txt: ared")
    assert lines[-1] == "... and 5 more; --json lists all"
    assert "\x1b" not in result.stderr
    fake.report = LoadReport(DocumentCounts(failed=25), {}, [Failure(f"{here}/b{n}.txt", "the server is away") for n in range(25)], {})
    assert run("load", "x", "--quiet").stderr == "Failed: b0.txt, b1.txt, b2.txt and 22 more: the server is away\n"
    bytes_ = [Failure(f"{here}/b{n}.txt:{n}", f"not UTF-8: byte 0x{n + 128:x} at column {n}") for n in range(25)]
    fake.report = LoadReport(DocumentCounts(failed=25), {}, bytes_, {})
    assert run("load", "x", "--quiet").stderr == "Failed: b0.txt:0, b1.txt:1, b2.txt:2 and 22 more: not UTF-8: byte 0x80 at column 0\n"


def test_progress_in_a_pipe_is_a_line_every_ten_seconds_until_all_is_done(capsys, monkeypatch):
    now = iter([0.0, 5.0, 10.0, 15.0, 21.0, 40.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(now))
    with output.reporter(False, load_step) as report:
        for n in (50, 100, 150, 210):
            report(Progress(n // 10, n, 1000 if n < 200 else None, "loading"))
        report(Progress(100, 1000, 1000, "loading"))
    assert capsys.readouterr() == (
        "",
        "loading: 10 documents, 100 passages of 1,000, about 1 min 30 s left\nloading: 21 documents, 210 passages\n",
    )




def test_nothing_is_left_when_all_is_done():
    assert load_step(Progress(1, 40, 40, "loading", written=8), 10).text == "loading: 1 document, 40 passages of 40, written: 8"
    assert load_step(Progress(1, 40, 40, "loading", written=40), 10).text == "loading: 1 document, 40 passages of 40, written: 40"


def test_progress_counts_what_the_language_model_does_as_it_comes():
    said = load_step(Progress(0, 0, 7, "loading", written=0, answered=6, replies=8, failed_calls=2, problem="it did not answer in time"), 60).text
    assert said == (
        "loading: 0 documents, 6 passages of 7, replies: 8, failed calls: 2 (last: it did not answer in time), about 10 s left"
    )
    assert load_step(Progress(0, 0, 7, "loading", answered=0, replies=1), 1).text.endswith("0 passages of 7, replies: 1")


def test_progress_says_what_failed_and_how_far_a_batch_is():
    said = load_step(Progress(2, 20, 40, "loading", 3, "no\nreply " * 30), 10).text
    assert said.startswith("loading: 2 documents, 20 passages of 40, failed: 3 (last: no reply no reply")
    assert said.endswith("…), about 10 s left")
    assert load_step(Progress(0, 7, 90, "waiting"), 10).text.startswith("waiting for the batch: 7 of 90 requests done")






def test_what_was_left_out_is_counted_by_kind(fake):
    left_out = [Skipped("a.docx", "2 comments", part=True, kinds=(("comment", 2),)), Skipped("b.docx", "1 comment", part=True, kinds=(("comment", 1), ("picture", 1)))]
    fake.report = LoadReport(DocumentCounts(new=2), {}, [], {"total": 1.0}, skipped=left_out)
    assert "left_out\n  comment  3\n  picture  1\n" in run("load", "x").stdout
    assert json.loads(run("load", "x", "--json").stdout)["left_out"] == {"comment": 3, "picture": 1}


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
