"""Merging on every engine: what is one becomes one for every strategy, and all of it can be taken back."""

from __future__ import annotations

import merge_world
import pytest
import samples
from contract import rows, troubles
from dump import differences, dump, version

from gsw_graph.ask.options import AskOptions
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory

CHAIN = ["Who founded the World Tide Office?", "Where was #1 born?"]


@pytest.fixture
def world(memory, tmp_path):
    assert memory.load(merge_world.write(tmp_path)).failures == []
    return memory


def named(found):
    return {group.name: {alias.name for alias in group.aliases} for group in found.groups}


def test_a_dry_run_changes_nothing_and_says_what_would_be(world):
    before = dump(world)
    stamp = version(world)
    found = world.merge(dry_run=True)
    assert named(found) == merge_world.GROUPS
    assert found.run is None
    assert version(world) == stamp
    assert {frozenset(pair.names) for pair in found.suspicious} >= {frozenset(("Stone Pier", "Stone-Pier"))}
    assert differences(dump(world), before) == []


def test_merge_and_unmerge_leave_the_graph_as_it_was(world):
    before = dump(world)
    stamp = version(world)
    found = world.merge()
    assert named(found) == merge_world.GROUPS
    assert version(world) > stamp
    assert world.status().relationships["ALIAS_OF"] == 3
    assert named(world.merged()) == merge_world.GROUPS
    assert {(alias.run, alias.method) for group in world.merged().groups for alias in group.aliases} == {
        (found.run, "rules")
    }
    assert named(world.merged("tilly of the QUAY")) == {"Ottilie Grau": merge_world.GROUPS["Ottilie Grau"]}
    again = world.merge()
    assert again.groups == []
    assert again.run is None
    assert world.status().relationships["ALIAS_OF"] == 3
    assert troubles(world) == {}
    one = world.unmerge("Tilly of the Quay")
    assert one.groups == ["Ottilie Grau"]
    assert set(one.aliases) == merge_world.GROUPS["Ottilie Grau"]
    second = world.merge()
    assert set(named(second)) == {"Ottilie Grau"}
    assert world.unmerge(second.run or "").groups == ["Ottilie Grau"]
    assert set(named(world.merged())) == set(merge_world.GROUPS) - {"Ottilie Grau"}
    stamp = version(world)
    assert len(world.unmerge("all").aliases) == 2
    assert version(world) > stamp
    assert differences(dump(world), before) == []
    with pytest.raises(InputError, match="no merged name and no run 'nobody'"):
        world.unmerge("nobody")
    with pytest.raises(InputError, match="not merged"):
        world.merged("Bo Lind")


def test_strategies_find_what_stands_under_the_other_name(world):
    """The writer of the office is born in a passage that spells him otherwise."""

    def first(question, strategy, memory=world):
        return [
            passage.title for passage in memory.ask(question, strategy=strategy, k=3, keep=False).passages
        ]

    def named_pairs():
        found = world.ask(
            "Who is J. R. R. Halloran?",
            strategy="ricr",
            plan=["Who is J. R. R. Halloran?"],
            trace=True,
            keep=False,
        )
        assert found.trace is not None
        return {
            candidate.qa.question
            for hop in found.trace.hops
            for candidate in hop.candidates
            if "name" in candidate.via
        }

    other = Memory(
        world._connection, world._settings
    )  # as another process of a server would be, its caches filled
    question = "Who is J. R. R. Halloran?"
    assert first(question, "linked", other)
    assert "Where was JRR Halloran born?" not in named_pairs()
    world.merge()
    assert "Where was JRR Halloran born?" in named_pairs()
    for strategy, memory in (("linked", world), ("linked", other), ("proprag", world), ("fusion", world)):
        assert set(first(question, strategy, memory)) >= {"JRR Halloran", "World Tide Office"}, strategy
    traced = world.ask(question, strategy="linked", trace=True, keep=False).trace
    assert traced is not None
    assert {"text": "J. R. R. Halloran", "concept": "jrr halloran"} in traced.linked
    chains = world.ask(
        "Where was the founder of the World Tide Office born?",
        strategy="ricr",
        plan=CHAIN,
        llm=False,
        keep=False,
    ).chains
    assert [hop.answer for hop in chains[0].hops] == ["J. R. R. Halloran", "Vellmouth"]
    names = world._context(AskOptions()).reader.claims(
        [row[0] for row in rows(world, "MATCH (p:Passage) RETURN p.id")]
    )
    assert {"jrr halloran"} <= {about for name in names for about in name.about}
    assert "j. r. r. halloran" not in {about for name in names for about in name.about}
    world.unmerge("all")
    assert "Where was JRR Halloran born?" not in named_pairs()


def test_forgetting_takes_merges_with_it_and_leaves_none_loose(world):
    world.merge()
    world.forget("office")  # the only one with the long name; the canonical stays
    assert named(world.merged()) == {"Ottilie Grau": merge_world.GROUPS["Ottilie Grau"]}
    assert troubles(world) == {}
    assert world.status().relationships["ALIAS_OF"] == 1
    world.forget("grau")
    assert world.status().relationships["ALIAS_OF"] == 0
    assert troubles(world) == {}


def test_what_is_loaded_again_stays_merged_and_new_names_join_with_the_next_merge(world, tmp_path):
    world.merge()
    before = dump(world)
    world.load(merge_world.write(tmp_path))
    assert differences(dump(world), before) == []
    changed = [
        {**one, "text": f"{one['text']} So it is."}
        for one in merge_world.WORLD
        if one["id"] in ("grau", "office")
    ]
    assert world.load(samples.jsonl(tmp_path / "world.jsonl", changed)).documents.replaced == 2
    assert named(world.merged()) == merge_world.GROUPS
    new = merge_world.record(
        "new", "", "J.R.R. Halloran, a tall man.", samples.entity("J.R.R. Halloran", person=["tall"])
    )
    world.load(samples.jsonl(tmp_path / "new.jsonl", [new]))
    assert named(world.merged()) == merge_world.GROUPS
    assert named(world.merge()) == {"JRR Halloran": {"J.R.R. Halloran"}}
    assert named(world.merged())["JRR Halloran"] == {"J. R. R. Halloran", "J.R.R. Halloran"}


def test_the_doctor_takes_away_merges_that_are_no_star(world):
    world.merge()
    before = dump(world)
    world.cypher(
        "MATCH (a:Concept {id: 'wto'}), (b:Concept {id: 'bo lind'}) CREATE (b)-[:ALIAS_OF]->(b)", write=True
    )
    assert "1 wrong merges" in troubles(world)["graph"]
    world.doctor(mend=True)
    assert troubles(world) == {}
    assert differences(dump(world), before) == []


def test_names_with_near_vectors_are_proposed_joined_within_a_budget_and_taken_apart(world, tmp_path):
    before = dump(world)
    proposed = world.merge(dry_run=True, near=0.3)
    near = [alias for group in proposed.groups for alias in group.aliases if alias.method == "vectors"]
    assert near
    assert all("the cosine of the names is" in alias.reason for alias in near)
    assert differences(dump(world), before) == []
    concepts = world.status().nodes["Concept"]
    few = world.merge(dry_run=True, near=0.3, at_most=concepts - 1)
    assert len([alias for group in few.groups for alias in group.aliases if alias.method == "vectors"]) <= 1
    done = world.merge(near=0.3)
    assert {alias.method for group in world.merged().groups for alias in group.aliases} == {
        "rules",
        "vectors",
    }
    world.unmerge(done.run or "")
    assert differences(dump(world), before) == []
    assert world.load(samples.jsonl(tmp_path / "one.jsonl", samples.RECORDS[:1]), near=0.3).failures == []
    assert world.merged().groups, "a load may end with it"
