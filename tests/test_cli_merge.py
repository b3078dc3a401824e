"""`gswgraph merge` and `unmerge`."""

from __future__ import annotations

import json

import cli_runner
from cli_runner import last_call, run

from gsw_graph.model.results import Correction

fake = cli_runner.fake


def test_a_dry_run_lists_groups_and_what_is_not_sure(fake):
    result = run("merge", "--dry-run")
    assert last_call(fake) == ("merge", (), {"dry_run": True, "near": 0.0, "at_most": 0})
    assert result.stdout.splitlines() == [
        "World Tide Office (3 passages)",
        "  = WTO (2)  0.97, rules, run 3f9a01c2: abbreviation stated: World Tide Office (WTO)",
        "",
        "Not sure enough:",
        "  Stone Pier / Stone-Pier  0.70: the same letters; but each is a title",
        "Would merge 1 name in 1 group.",
    ]
    found = json.loads(run("merge", "--dry-run", "--json").stdout)
    assert found["run"] is None
    assert found["groups"][0]["aliases"][0]["id"] == "wto"
    assert found["suspicious"][0]["score"] == 0.7


def test_unmerge_takes_a_name_a_run_or_all(fake):
    result = run("unmerge", "World Tide Office")
    assert last_call(fake) == ("unmerge", ("World Tide Office",), {})
    assert result.stdout.splitlines() == ["World Tide Office", "Took 1 name out of 1 group."]
    assert json.loads(run("unmerge", "all", "--json").stdout) == {
        "groups": ["World Tide Office"],
        "aliases": ["WTO"],
    }


def test_corrections_are_listed_with_both_texts_and_what_has_lapsed(fake):
    made = Correction(
        "3f9a01c2",
        "supersede",
        "p1",
        "p2",
        "Ada",
        "2026-01-02T03:04:05",
        ["It was\nlit.", "It is dark."],
        lapsed=True,
    )
    fake.corrections = lambda self: [made]
    lines = run("correct", "--list").stdout.splitlines()
    assert lines[1:] == [
        "  old: It was lit.",
        "  new: It is dark.",
        "  no longer applies, as the old text has changed or gone; take it back: gswgraph correct --undo 3f9a01c2",
    ]
