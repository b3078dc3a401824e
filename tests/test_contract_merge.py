"""Merging on every engine: what is one becomes one for every strategy, and all of it can be taken back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import engines
import merge_world
import pytest
import samples
from contract import rows, troubles
from dump import differences, dump, version
from model_server import Fault, ModelServer

from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.results import Merged

CHAIN = ["Who founded the World Tide Office?", "Where was #1 born?"]


@pytest.fixture
def world(memory: Memory, tmp_path: Path) -> Memory:
    assert memory.load(merge_world.write(tmp_path)).failures == []
    return memory


def named(found: Merged) -> dict[str, set[str]]:
    return {group.name: {alias.name for alias in group.aliases} for group in found.groups}


def test_a_dry_run_changes_nothing_and_says_what_would_be(world: Memory) -> None:
    before, stamp = dump(world), version(world)
    found = world.merge(dry_run=True)
    assert (named(found), found.run, version(world)) == (merge_world.GROUPS, None, stamp)
    assert {frozenset(one.names) for one in found.suspicious} >= {frozenset(("Stone Pier", "Stone-Pier")), frozenset(("WTX", "Western Trout Order"))}
    assert differences(dump(world), before) == []


def test_merge_and_unmerge_leave_the_graph_as_it_was(world: Memory) -> None:
    before, stamp = dump(world), version(world)
    found = world.merge()
    assert (named(found), version(world) > stamp) == (merge_world.GROUPS, True)
    assert world.status().relationships["ALIAS_OF"] == 4
    assert named(world.merged()) == merge_world.GROUPS
    assert {(alias.run, alias.method) for group in world.merged().groups for alias in group.aliases} == {(found.run, "rules")}
    assert named(world.merged("tilly of the QUAY")) == {"Ottilie Grau": merge_world.GROUPS["Ottilie Grau"]}
    again = world.merge()
    assert (again.groups, again.run, world.status().relationships["ALIAS_OF"]) == ([], None, 4)
    assert troubles(world) == {}
    one = world.unmerge("Ottilie Maria Grau")
    assert (one.groups, set(one.aliases)) == (["Ottilie Grau"], merge_world.GROUPS["Ottilie Grau"])
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


def test_strategies_find_what_stands_under_the_other_name(world: Memory) -> None:
    """The writer of the office is born in a passage that spells him otherwise."""

    def first(question: str, strategy: str, memory: Memory = world) -> list[str]:
        return [one.title for one in memory.ask(question, strategy=strategy, k=3, keep=False).passages]

    def named_pairs() -> set[str]:
        found = world.ask("Who is J. R. R. Halloran?", strategy="ricr", plan=["Who is J. R. R. Halloran?"], trace=True, keep=False)
        assert found.trace is not None
        return {one.qa.question for hop in found.trace.asked for one in hop.candidates if "name" in one.via}

    other = Memory(world._connection, world._settings)  # as another process of a server would be, its caches filled
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
    chains = world.ask("Where was the founder of the World Tide Office born?", strategy="ricr", plan=CHAIN, llm=False, keep=False).chains
    assert [hop.answer for hop in chains[0].hops] == ["J. R. R. Halloran", "Vellmouth"]
    names = world._context(None, None, trace=False).reader.claims([row[0] for row in rows(world, "MATCH (p:Passage) RETURN p.id")])
    assert {"jrr halloran"} <= {about for one in names for about in one.about}
    assert "j. r. r. halloran" not in {about for one in names for about in one.about}
    world.unmerge("all")
    assert "Where was JRR Halloran born?" not in named_pairs()


def test_forgetting_takes_merges_with_it_and_leaves_none_loose(world: Memory) -> None:
    world.merge()
    world.forget("office")  # the only one with the long name; the canonical stays
    assert named(world.merged()) == {"Ottilie Grau": merge_world.GROUPS["Ottilie Grau"]}
    assert (troubles(world), world.status().relationships["ALIAS_OF"]) == ({}, 2)
    world.forget("grau")
    assert world.status().relationships["ALIAS_OF"] == 0
    assert troubles(world) == {}


def test_what_is_loaded_again_stays_merged_and_new_names_join_with_the_next_merge(world: Memory, tmp_path: Path) -> None:
    world.merge()
    before = dump(world)
    world.load(merge_world.write(tmp_path))
    assert differences(dump(world), before) == []
    changed = [{**one, "text": f"{one['text']} So it is."} for one in merge_world.WORLD if one["id"] in ("grau", "office")]
    assert world.load(samples.jsonl(tmp_path / "again.jsonl", changed)).documents.replaced == 2
    assert named(world.merged()) == merge_world.GROUPS
    new = merge_world.record("new", "", "J.R.R. Halloran, a tall man.", samples.entity("J.R.R. Halloran", person=["tall"]))
    world.load(samples.jsonl(tmp_path / "new.jsonl", [new]))
    assert named(world.merged()) == merge_world.GROUPS
    assert named(world.merge()) == {"JRR Halloran": {"J.R.R. Halloran"}}
    assert named(world.merged())["JRR Halloran"] == {"J. R. R. Halloran", "J.R.R. Halloran"}


def test_the_doctor_takes_away_merges_that_are_no_star(world: Memory) -> None:
    world.merge()
    before = dump(world)
    world.cypher("MATCH (a:Concept {id: 'wto'}), (b:Concept {id: 'bo lind'}) CREATE (b)-[:ALIAS_OF]->(b)", write=True)
    assert "1 wrong merges" in troubles(world)["graph"]
    world.doctor(mend=True)
    assert (troubles(world), differences(dump(world), before)) == ({}, [])


@pytest.fixture
def replies() -> dict[str, str]:
    return {}


@pytest.fixture
def server(replies: dict[str, str]) -> Iterator[ModelServer]:
    with ModelServer(lambda body: verdicts(body, replies)) as running:
        yield running


def verdicts(body: dict[str, Any], replies: dict[str, str]) -> Any:
    """What a model says that knows the pairs whose first name stands in `replies`, and says `different` of all others."""
    pairs = body["messages"][1]["content"].split("\n\n")
    said = [replies.get(name, "different") for name in (pair.split("A: ")[1].split(" (")[0].split("\n")[0] for pair in pairs)]
    return {"verdicts": [{"pair": number, "verdict": verdict} for number, verdict in enumerate(said, 1)]}


def test_a_model_settles_what_rules_leave_open(fresh_settings: Settings, fake_embedder: None, server: ModelServer, replies: dict[str, str], tmp_path: Path) -> None:
    settings = replace(engines.own_replies(fresh_settings, tmp_path / "cache"), llm="m", llm_url=server.url)
    with Memory.open(settings=settings) as memory:
        memory.load(merge_world.write(tmp_path), extractor="rules")
        assert server.count() == 0
        plain = memory.merge(dry_run=True)
        assert server.count() == 0, "a merge asks no model unless it is told to"
        replies["Stone Pier"] = "same"
        asked = memory.merge(dry_run=True, ask_model=True)
        assert server.count() == 1
        assert {"Stone Pier", "Stone-Pier"} == next({group.name, *named(asked)[group.name]} for group in asked.groups if "Stone" in group.name)
        assert {one.verdict for one in asked.suspicious} <= {"different"}
        assert len(asked.suspicious) < len(plain.suspicious)
        assert asked.tokens["in"] > 0
        done = memory.merge(ask_model=True)
        assert server.count() == 1, "replies are kept"
        assert {alias.method for group in done.groups for alias in group.aliases} == {"rules", "m"}
        memory.unmerge("all")
        memory.load(samples.jsonl(tmp_path / "more.jsonl", [merge_world.record(name, name, "A film.", samples.entity(name, work=["film"])) for name in ("Tide Rail Song", "Tide-Rail Song")]), extractor="rules")
        server.faults = (Fault("key"),)
        refused = memory.merge(ask_model=True)
        assert "m was not asked further" in (refused.note or "")
        assert refused.groups, "what rules are sure of is merged all the same"


def test_loads_go_on_while_a_model_is_asked_and_what_they_changed_is_not_merged(
    fresh_settings: Settings, fake_embedder: None, tmp_path: Path
) -> None:
    asked, loaded = threading.Event(), threading.Event()

    def model(body: dict[str, Any]) -> Any:
        asked.set()
        loaded.wait(30)
        return verdicts(body, {"Stone Pier": "same"})

    with (
        ModelServer(model) as server,
        Memory.open(settings=replace(engines.own_replies(fresh_settings, tmp_path / "cache"), llm="m", llm_url=server.url)) as memory,
        ThreadPoolExecutor(1) as pool,
    ):
        memory.load(merge_world.write(tmp_path), extractor="rules")
        merging = pool.submit(memory.merge, ask_model=True)
        assert asked.wait(60)
        changed = merge_world.record("titled", "Stone-Pier", "Stone-Pier was a man.", samples.entity("Stone-Pier", person=["sailor"]))
        report = memory.load(samples.jsonl(tmp_path / "world.jsonl", [changed]), extractor="rules")
        assert (report.documents.replaced, merging.done()) == (1, False), "the load does not wait for the model"
        loaded.set()
        done = merging.result(60)
    assert "JRR Halloran" in named(done), "what still holds is merged"
    assert not [name for name in named(done) if "Stone" in name]


def test_a_model_that_is_not_set_is_an_error(world: Memory) -> None:
    with pytest.raises(InputError, match="no language model is set"):
        world.merge(ask_model=True)
    assert json.loads(json.dumps(world.merge(dry_run=True).to_dict()))["groups"]
