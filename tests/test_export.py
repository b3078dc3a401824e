"""Export: files that Panini's code reads, the same on every engine, and a memory that comes back from them."""

from __future__ import annotations

import json
from pathlib import Path

import cli_runner
import pytest

from gsw_graph.ask.plan import load as load_plan
from gsw_graph.config import Settings
from gsw_graph.load import moving as exporting
from gsw_graph.memory import Memory
from gsw_graph.model.results import Exported

fake = cli_runner.fake

EXAMPLES = Path(__file__).parents[1] / "examples"
RECORDS = [json.loads(line) for line in (EXAMPLES / "workspaces.jsonl").read_text(encoding="utf-8").splitlines()]
QUESTION = "Which river flows through the town where the builder of the Marrow Bridge was born?"
KINDS = {  # everything but what the shape has no place for
    "documents": "MATCH (d:Document) RETURN d.id AS id, d.source AS source, d.title AS title",
    "passages": "MATCH (p:Passage) RETURN p.id AS id, p.title AS title, p.text AS text, p.position AS position",
    "names": "MATCH (p:Passage)-[n:NAMES]->(c:Concept) RETURN p.id AS id, c.id AS name, n.title AS title",
    "entities": "MATCH (e:Entity)-[i:IN]->(p:Passage) RETURN e.id AS id, e.name AS name, e.description AS description, e.from AS start, p.id AS p, i.title AS t",
    "roles": "MATCH (e:Entity)-[r:PLAYS]->(role:Role) RETURN e.id AS id, role.name AS role, r.states AS states",
    "phrases": "MATCH (v:VerbPhrase)-[:ASKS]->(q:QAPair)-[:IN]->(p:Passage) RETURN v.id AS id, v.phrase AS phrase, q.id AS q, p.id AS p",
    "pairs": "MATCH (q:QAPair) RETURN q.id AS id, q.question AS question, q.answers AS answers",
    "answered": "MATCH (q:QAPair)-[a:ANSWERED_BY]->(e:Entity) RETURN q.id AS id, e.id AS e, a.position AS position",
    "about": "MATCH (q:QAPair)-[:ABOUT]->(e:Entity) RETURN q.id AS id, e.id AS e",
    "concepts": "MATCH (c:Concept) RETURN c.id AS id, c.name AS name, c.passages AS passages",
}


def content(memory):
    return {kind: sorted(map(repr, memory.cypher(query).rows)) for kind, query in KINDS.items()}


def evidence(answer):
    return [[(hop.step, hop.concrete_question, hop.answer, hop.qa, hop.passage) for hop in chain.hops] for chain in answer.chains]


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def read(folder):
    return {path.relative_to(folder).as_posix(): json.loads(path.read_text(encoding="utf-8")) for path in folder.rglob("*.json")}


@pytest.fixture
def memory(tmp_path, fake_embedder):
    with Memory.open(settings=Settings(memory=str(tmp_path / "memory"))) as opened:
        yield opened


def test_a_memory_comes_back_from_its_export(fresh_settings, fake_embedder, tmp_path):
    records = [{key: value for key, value in record.items() if key not in ("id", "propositions")} for record in RECORDS]
    records[0]["entities"][0]["roles"] += [{"role": "arch", "states": ["arch", "bridge"]}, {"role": "a", "states": []}]
    records[1]["text"] = f"Ilse Tarn\n{records[1]['text']}"  # a text that begins with its title
    records.append({**records[2], "title": "", "text": "A first line\nand a second."})
    with Memory.open(settings=fresh_settings) as memory:
        assert not memory.load(write(tmp_path / "w.jsonl", records)).failures
        before = content(memory)
        answer = memory.ask(QUESTION, strategy="ricr", plan=load_plan(str(EXAMPLES / "plan.json")))
        found = memory.export(tmp_path / "out")
        assert found == Exported(8, 17, str(tmp_path / "out"))
        memory.forget(everything=True)
        assert not memory.load(str(tmp_path / "out" / "networks_raw")).failures
        assert content(memory) == before
        again = memory.ask(QUESTION, strategy="ricr", plan=load_plan(str(EXAMPLES / "plan.json")))
        assert (again.answer, again.citations) == (answer.answer, answer.citations)
        assert evidence(again) == evidence(answer)  # the ways a pair came are the engine's: its word index may still count what was forgotten
        assert [chain.score for chain in again.chains] == pytest.approx([chain.score for chain in answer.chains], abs=1e-5)
        memory.export(tmp_path / "again")
    assert read(tmp_path / "again") == read(tmp_path / "out")


def test_the_files_are_what_panini_reads(memory, tmp_path):
    memory.load(str(EXAMPLES / "workspaces.jsonl"))
    memory.export(tmp_path / "out")
    files = read(tmp_path / "out")
    ordered = sorted(RECORDS, key=lambda record: record["id"])
    assert files["corpus.json"] == [{"title": record["title"], "text": record["text"]} for record in ordered]
    names = [f"doc_{n}/gsw_{n}_0.json" for n in range(7)]
    assert set(files) == {"corpus.json", *(f"{kind}/{name}" for kind in ("networks", "networks_raw") for name in names)}
    for number, (name, record) in enumerate(zip(names, ordered, strict=True)):
        gsw, chunk = files[f"networks/{name}"], files[f"networks_raw/{name}"]
        assert (chunk["gsw"], chunk["doc_idx"], chunk["chunk_idx"], chunk["global_id"]) == (gsw, number, 0, f"{number}_0")
        assert chunk["text"] == f"{record['title']}\n{record['text']}"
        asked = {(verb["phrase"], question["text"]) for verb in record["verb_phrases"] for question in verb["questions"]}
        assert {(verb["phrase"], question["text"]) for verb in gsw["verb_phrase_nodes"] for question in verb["questions"]} == asked
        ids = {entity["id"] for entity in gsw["entity_nodes"]}
        answers = [answer for verb in gsw["verb_phrase_nodes"] for question in verb["questions"] for answer in question["answers"]]
        assert all(answer in ids or answer.startswith("TEXT:") for answer in answers)


def test_an_export_that_fails_leaves_nothing(memory, tmp_path, monkeypatch):
    memory.load(str(EXAMPLES / "workspaces.jsonl"))
    real, calls = exporting.bare, []

    def failing(*args):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(exporting, "bare", failing)
    with pytest.raises(KeyboardInterrupt):
        memory.export(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["memory"]


# The command
