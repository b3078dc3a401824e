"""`gswgraph merge` and `unmerge`."""

from __future__ import annotations

import json
from dataclasses import replace

import cli_runner
from cli_runner import last_call, run
from fake_memory import DOCUMENT

from gsw_graph.model.results import Correction, Documents

fake = cli_runner.fake


def test_a_dry_run_lists_groups_and_what_is_not_sure(fake):
    result = run("merge", "--dry-run")
    assert last_call(fake) == ("merge", (), {"dry_run": True, "near": 0.0, "at_most": 0})
    assert result.stdout.splitlines() == [
        "groups",
        "  name: World Tide Office, passages: 3",
        "    name: WTO, passages: 2, score: 0.97, reason: abbreviation stated: World Tide Office (WTO), method: rules, run: 3f9a01c2",
        "suspicious",
        "  names: Stone Pier; Stone-Pier, score: 0.7, reason: the same letters; but each is a title",
    ]
    found = json.loads(run("merge", "--dry-run", "--json").stdout)
    assert (found["run"], found["groups"][0]["aliases"][0]["id"], found["suspicious"][0]["score"]) == (None, "wto", 0.7)


def test_a_merge_says_how_to_take_it_back(fake):
    result = run("merge", "--near", "0.93", "--at-most", "9")
    assert last_call(fake) == ("merge", (), {"dry_run": False, "near": 0.93, "at_most": 9})
    assert result.stdout.splitlines()[-1] == "Take it back: gswgraph unmerge 3f9a01c2"


def test_what_is_merged_is_shown_whole_or_by_a_name(fake):
    result = run("merge", "--show", "World", "Tide", "Office")
    assert last_call(fake) == ("merged", ("World Tide Office",), {})
    assert result.stdout.splitlines()[:2] == ["groups", "  name: World Tide Office, passages: 3"]
    for wrong in (("merge", "WTO"), ("merge", "--show", "--dry-run")):
        assert run(*wrong).exit_code == 2


def test_unmerge_takes_a_name_a_run_or_all(fake):
    result = run("unmerge", "World Tide Office")
    assert last_call(fake) == ("unmerge", ("World Tide Office",), {})
    assert result.stdout.splitlines() == ["groups   World Tide Office", "aliases  WTO"]
    assert json.loads(run("unmerge", "all", "--json").stdout) == {"groups": ["World Tide Office"], "aliases": ["WTO"]}


def test_corrections_are_listed_with_both_texts_and_what_has_lapsed(fake):
    made = Correction("3f9a01c2", "supersede", "p1", "p2", "Ada", "2026-01-02T03:04:05", ["It was\nlit.", "It is dark."], lapsed=True)
    fake.corrections = lambda self: [made]
    assert run("correct", "--list").stdout == (
        "id: 3f9a01c2, action: supersede, target: p1, value: p2, by: Ada, at: 2026-01-02T03:04:05, texts: It was lit.; It is dark., lapsed: yes\n"
    )


def test_list_says_what_is_superseded(fake):
    fake.stored = Documents(1, [replace(DOCUMENT, superseded=1)])
    assert ", superseded: 1" in run("list", "--long").stdout
    assert "superseded" in run("list").stdout.splitlines()[0].split()
