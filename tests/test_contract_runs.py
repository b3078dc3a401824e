"""Runs on every engine: built once, gone with what they stand on, and asked."""

from __future__ import annotations

import json
from dataclasses import replace

import engines
import pytest
import samples
import served
from contract import rows
from dump import differences, dump, version
from model_server import ModelServer, stage_of

from gsw_graph.ask.retrieve.strategies import STRATEGIES
from gsw_graph.memory import Memory

EDGES = {
    ("ana ruiz", "built", "stone pier", "Stone Pier", 0),
    ("ana ruiz", "was born", "valle alto", "Ana Ruiz", 0),
    ("valle alto", "lies on", "ombre", "Valle Alto", 0),
    ("ombre", "flows into", "salt sea", "Ombre", 0),
}
HELD = (
    "MATCH (p:Passage)<-[:IN]-(r:Run)-[h:HOLDS]->(x)-[:RELATES_BY]->(l:Relation) "
    "RETURN DISTINCT h.subject AS subject, l.name AS relation, h.object AS object, p.title AS title, h.position AS position"
)


def well(memory):
    return all(
        one.ok
        for deep in (False, True)
        for one in memory.doctor(deep=deep)
        if one.check not in ("embedder", "speed")
    )


def missing(memory):
    """Count the passages that say something and have no run yet."""
    return len(memory._reader.rows("read/passages_without_runs"))


def test_runs_are_built_once_and_stand_on_what_says_so(sample):
    stamp = version(sample)
    assert missing(sample) == 4
    built = sample.build_runs()
    nodes, edges = sample._reader.counts()
    assert built.passages == 4
    assert missing(sample) == 0
    assert nodes["Relation"] == 10
    assert nodes["Run"] == built.runs
    assert edges["HOLDS"] == 14
    assert set(rows(sample, HELD)) >= EDGES
    assert version(sample) == stamp, "no other cache looks at runs"
    assert well(sample)
    before = dump(sample)
    again = sample.build_runs()
    assert again.passages == 0
    assert again.runs == 0
    assert differences(dump(sample), before) == []
    vectors = rows(sample, "MATCH (n:Concept|Relation) RETURN n.vector IS NOT NULL AS there, count(*) AS n")
    assert dict(vectors)[True] >= 20


def test_what_is_forgotten_takes_its_runs_along(sample, tmp_path):
    """And what is loaded again has them again, the same: ids and numbers are made of contents."""
    sample.build_runs()
    before = dump(sample)
    sample.forget("pier")
    assert well(sample)
    assert not {edge for edge in rows(sample, HELD) if "stone pier" in edge}
    assert rows(sample, "MATCH (r:Relation {name: 'stands in'}) RETURN r.name AS name") == []
    sample.load(*samples.write(tmp_path))
    assert missing(sample) == 1
    sample.build_runs()
    assert differences(dump(sample), before) == []
    sample.forget(everything=True)
    assert {name: count for name, count in sample.status().nodes.items() if count} == {}
    sample.load(*samples.write(tmp_path))  # into an engine whose indexes stand
    sample.build_runs()
    assert differences(dump(sample), before) == []


def test_a_build_that_is_broken_off_goes_on(sample, monkeypatch):
    sample.build_runs()
    expected = dump(sample)
    sample.cypher("MATCH (r:Run) DETACH DELETE r", write=True)
    sample.cypher("MATCH (r:Relation) DETACH DELETE r", write=True)
    monkeypatch.setattr("gsw_graph.ask.codebook.WINDOW", 1)

    def stop(done, of):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample.build_runs(progress=stop)
    assert missing(sample) == 2
    assert well(sample)
    sample.build_runs()
    assert differences(dump(sample), expected) == []


def test_a_run_that_lost_its_edges_is_mended_and_built_again(sample):
    sample.build_runs()
    expected = dump(sample)
    sample.cypher("MATCH (r:Run)-[h:HOLDS]->() DELETE h", write=True)
    assert not well(sample)
    sample.doctor(mend=True)
    assert rows(sample, "MATCH (r:Run) WHERE r.edges > 0 RETURN count(r) AS n") == [(0,)]
    sample.build_runs()
    assert well(sample)
    assert differences(dump(sample), expected) == [], "no relation is there twice"


def test_a_question_builds_what_is_missing_and_shows_its_runs(sample, tmp_path):
    mine = Memory(sample._connection, replace(sample._settings, cache_dir=tmp_path / "cache"))
    answer = mine.ask("Who built the Stone Pier?", strategy="pruned", k=3, trace=True, keep=False)
    assert missing(mine) == 0
    assert answer.strategy == "pruned"
    assert answer.passages[0].title == "Stone Pier"
    assert answer.trace is not None
    scores = [run.score for run in answer.trace.runs]
    assert scores == sorted(scores, reverse=True)
    found = [(run.channel, edge) for run in answer.trace.runs for edge in run.edges]
    ((channel, edge),) = [
        one for one in found if one[1].relation == "built" and one[1].object == "Stone Pier"
    ]
    assert channel == "facts"
    assert edge.subject == "Ana Ruiz"
    assert edge.passage == answer.passages[0].id
    assert rows(mine, "MATCH (n {id: $id})-[:IN]->(p) RETURN p.id AS id", id=edge.statement) == [
        (edge.passage,)
    ]
    assert answer.to_dict()["trace"]["runs"][0]["edges"][0]["relation"]


def test_a_server_that_only_reads_says_how_runs_are_built(sample):
    """Once they stand, it is asked as any other."""
    asked = {"question": "Who built the Stone Pier?", "strategy": "pruned"}
    with served.served(sample, read_only=True) as server:
        for route in ("ask", "search"):
            refused = server.client.post(f"/api/{route}", json=asked)
            assert refused.status_code == 400
            assert refused.json()["hint"] == "Ask once with --strategy pruned where the memory may be written"
            assert "and 4 have none yet" in refused.json()["error"]
        assert missing(sample) == 4
        sample.build_runs()
        for route in ("ask", "search"):
            assert server.client.post(f"/api/{route}", json=asked).json()["strategy"] == "pruned"


@pytest.fixture
def shown(sample, tmp_path):
    """Ask `pruned` with a language model; the facts it is shown, by channel, and its answer."""
    requests = []
    stages = []

    def reply(body):
        stages.append(stage_of(body))
        if stages[-1] == "plan":
            return {"plan": [{"id": 1, "question": "Who built the Stone Pier?", "retrieve": True}]}
        if stages[-1] == "pruned_question":
            return "builder | built | Stone Pier"
        requests.append(body["messages"][1]["content"].splitlines()[1])
        number = next(
            n
            for runs in json.loads(requests[-1]).values()
            for n, facts in runs.items()
            if "Ana Ruiz" in json.dumps(facts)
        )
        return f"Answer: Ana Ruiz\nSources: {number}"

    with ModelServer(reply) as server:
        settings = replace(
            engines.own_replies(sample.settings, tmp_path / "cache"), llm="m", llm_url=server.url
        )
        reading = Memory(sample._connection, settings)

        def ask(question="Who built the Stone Pier?", form="default", options={"plan": False}, **recipe):  # noqa: B006
            usual = STRATEGIES["pruned"]
            chosen = usual.with_recipe(replace(usual.recipes[form], **recipe))
            answer = reading.ask(question, strategy=chosen, trace=True, **{"keep": False, **options})
            return answer, json.loads(requests[-1])

        ask.stages = stages

        yield ask
        reading._close_chat()


def test_a_language_model_reads_the_runs_that_were_selected(shown):
    """Each choice sends another request; no edge is said twice, and a number leads to its passage."""
    answer, everything = shown(facts="all", passages=0)
    assert answer.answer == "Ana Ruiz"
    assert [cited.title for cited in answer.citations] == ["Stone Pier"]
    assert list(everything) == ["facts"]
    said = [
        f"{about} {fact}"
        for run in everything["facts"].values()
        for about, facts in run.items()
        for fact in facts
    ]
    assert "Ana Ruiz built Stone Pier" in said
    assert len(said) == len(set(said))
    traced = {
        f"{edge.subject} {edge.relation} {edge.object}" for run in answer.trace.runs for edge in run.edges
    }
    assert set(said) <= traced
    _, unique = shown(facts="unique", same=0.0, passages=0)
    assert len(unique["facts"]) < len(everything["facts"])
    none, passages = shown(facts="none", passages=1)
    assert none.trace.runs == []
    assert list(passages) == ["passages"]
    assert none.tokens["evidence"] != answer.tokens["evidence"]
    assert none.passages


def facts_of(payload):
    return [fact for about in payload["facts"].values() for facts in about.values() for fact in facts]


def test_a_run_over_the_budget_is_cut(shown):
    """One such run, as the best, once took all others along: no run was read, and nothing was found."""
    whole = facts_of(shown(passages=0)[1])
    part = facts_of(shown(passages=0, tokens=12)[1])
    assert 0 < len(part) < len(whole)
    assert set(part) < set(whole)


def test_runs_are_read_whatever_form_of_evidence_is_named(shown):
    """A form that was named, as `--reader paper` does, once took the place of runs without a word."""
    _, usual = shown()
    _, named = shown(options={"plan": False, "evidence": "passages"})
    assert named == usual


def test_the_form_of_the_paper_compares_all_runs_with_the_triples_of_the_question(shown):
    """Sections 2.2, 2.4 and A.3: no plan is made, and no statement decides which runs come into question."""
    answer, payload = shown(form="paper", options={}, near=1, common=0)
    assert answer.answer == "Ana Ruiz"
    assert answer.plan is None
    assert shown.stages == ["pruned_question", "answer_compact"]
    assert payload["facts"]
    assert len(answer.trace.runs) > 1, "whatever the database would bring"
    assert [step.outcome for step in answer.trace.steps] == ["builder built Stone Pier"]
    found = {(edge.subject, edge.object) for run in answer.trace.runs for edge in run.edges}
    assert ("Ana Ruiz", "Stone Pier") in found


def test_what_was_answered_within_a_scope_is_used_again_within_it(shown):
    """Questions about a novel, each with the novel as its scope: no earlier answer was ever found."""
    options = {"plan": False, "inside": "pier", "folder": None, "keep": True}
    first, _ = shown(form="paper", options=options)
    assert {run.channel for run in first.trace.runs} == {"facts"}
    second, payload = shown("Who has built the Stone Pier?", form="paper", options=options)
    assert {run.channel for run in second.trace.runs} == {"answers", "facts"}
    assert "questions" in payload


def test_the_codebook_of_all_runs_follows_the_memory(sample, tmp_path):
    """It is read once for each version, and a question sees only what is in its scope and not excluded."""
    asked = {"strategy": "pruned[recipe=paper]", "trace": True, "keep": False, "k": 20}
    question = "Who built the Stone Pier?"

    def passages(answer):
        return {edge.passage for run in answer.trace.runs for edge in run.edges}

    first = sample.ask(question, **asked)
    trips = first.round_trips
    assert sample.ask(question, **asked).round_trips < trips
    pier = first.passages[0].id
    assert pier in passages(first)
    assert pier not in passages(sample.ask(question, excluded=(pier,), **asked))
    source = first.passages[0].source
    assert passages(sample.ask(question, inside=source, folder=None, **asked)) == {pier}
    assert passages(sample.ask(question, **asked)) == passages(first)
    sample.forget("pier")
    assert pier not in passages(sample.ask(question, **asked))


def test_after_a_merge_no_edge_stands_twice_and_none_leads_to_itself(sample, tmp_path):
    """Lemma 9: the number of an edge is that of the names that were joined."""
    names = ("W. H. O.", "World Health Organization", "Geneva")
    asked = [
        ("sits in", "Where does W. H. O. sit?", names[2]),
        ("sits in", "Where does World Health Organization sit?", names[2]),
        ("is", "What is W. H. O.?", names[1]),
    ]
    phrases = [
        {"phrase": phrase, "questions": [{"text": text, "answers": [answer]}]}
        for phrase, text, answer in asked
    ]
    text = "W. H. O. is World Health Organization, which sits in Geneva."
    record = {
        "id": "who",
        "title": "Health",
        "text": text,
        "entities": [samples.entity(name) for name in names],
        "verb_phrases": phrases,
    }
    sample.load(samples.jsonl(tmp_path / "who.jsonl", [record]))
    sample.build_runs()
    joined = "MATCH (a:Concept {name: $alias}), (c:Concept {name: $name}), (m:Memory) CREATE (a)-[:ALIAS_OF]->(c) SET m.version = m.version + 1"
    sample.cypher(joined.replace("$alias", f"'{names[0]}'").replace("$name", f"'{names[1]}'"), write=True)
    answer = sample.ask(
        "Where does World Health Organization sit?", strategy="pruned", trace=True, keep=False
    )
    assert answer.trace is not None
    runs = [
        [edge for edge in run.edges if "Organization" in edge.subject + edge.object]
        for run in answer.trace.runs
    ]
    edges = {(edge.subject, edge.relation, edge.object, edge.number) for run in runs for edge in run}
    assert [edge[:3] for edge in edges] == [(names[1], "sits in", names[2])]
    assert max(map(len, runs)) == 1
