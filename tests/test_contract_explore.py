"""The analyses of `cypher/explore/` on a memory of which every answer is known, on every engine."""

from __future__ import annotations

import json

import explore_world
import pytest
import samples

from gsw_graph.errors import InputError
from gsw_graph.explore.analyses import analyses

CASES = json.loads((samples.DATA / "explore.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def world(shared, tmp_path_factory):
    shared.forget(everything=True)
    explore_world.fill(shared, tmp_path_factory.mktemp("world"))
    return shared


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join([case["analysis"], *map(str, case["parameters"].values())])
)
def test_each_analysis_gives_what_its_comment_says(world, case):
    found = world.explore(case["analysis"], **case["parameters"])
    rows = [list(row.values()) for row in found.rows]
    assert rows == case["rows"]
    if rows:
        assert found.columns == case["columns"]


def test_every_analysis_is_tested():
    assert {case["analysis"] for case in CASES} == set(analyses())


@pytest.mark.parametrize("name", analyses())
def test_a_file_runs_as_it_stands_with_its_defaults(world, name):
    """As it is pasted into Browser: the same rows, and what Browser draws beside them."""
    pasted = world.cypher(analyses()[name].query).rows
    without = [{column: value for column, value in row.items() if column != "drawing"} for row in pasted]
    assert without == world.explore(name).rows
    if "AS drawing" in analyses()[name].query and pasted:
        assert all(row["drawing"] for row in pasted if name != "questions"), (
            "a question may have used nothing"
        )


def test_an_unknown_name_is_told_with_the_nearest(world):
    with pytest.raises(InputError, match=r"valle altoo: no name in the memory is so\. Near it: Valle Alto"):
        world.explore("chains", concept="Valle Alto", other="the Valle Altoo")
    with pytest.raises(InputError, match=r"zzz: no name in the memory is so$"):
        world.explore("concept", concept="zzz")


def test_loose_nodes_and_unfinished_loads_are_listed(world):
    try:
        world.cypher(
            "CREATE (:Role {name: 'nobody'}), (:QAPair {id: 'loose', question: 'Whose?', answer: '', answers: []})",
            write=True,
        )
        world.cypher(
            "MATCH (d:Document {source: 'guide'}) SET d.status = 'loading', d.unread = [0, 2]", write=True
        )
        found = [tuple(row.values()) for row in world.explore("orphans").rows]
        expected = [
            ("pair in no passage", 1, "Whose?"),
            ("role of nobody", 1, "nobody"),
        ]
        assert found == expected
        found = [tuple(row.values()) for row in world.explore("unfinished").rows]
        expected = [("Harbour Guide", "loading", [1, 3], "workspaces", "2026-01-02 11:30", "guide")]
        assert found == expected
    finally:
        world.cypher(
            "MATCH (n) WHERE n:Role AND n.name = 'nobody' OR n:QAPair AND n.id = 'loose' DETACH DELETE n",
            write=True,
        )
        world.cypher(
            "MATCH (d:Document {source: 'guide'}) SET d.status = 'ready', d.unread = null", write=True
        )


def test_what_a_model_found_of_a_name_is_not_crowded_out_by_places(sample, tmp_path):
    plain = [{"title": f"Note {number}", "text": f"Note {number} names Ana Ruiz."} for number in range(520)]
    before = {row["kind"] for row in sample.explore("concept", concept="ana ruiz").rows}
    sample.load(samples.jsonl(tmp_path / "notes.jsonl", plain))
    after = {row["kind"] for row in sample.explore("concept", concept="ana ruiz").rows}
    assert before == after > {"role", "pair about it"}
