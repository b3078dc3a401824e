"""The doctor, on every engine: what is wrong is found and mended, and what does not fit is refused."""

from __future__ import annotations

import pytest
from contract import CORPUS, troubles
from dump import dump

from gsw_graph.errors import InputError, SchemaError
from gsw_graph.memory import Memory
from gsw_graph.store import schema


def test_a_sound_memory_is_well(corpus):
    findings = corpus.doctor()
    assert all(finding.ok for finding in findings)
    assert [finding.check for finding in findings] == [
        "engine",
        "embedder",
        "memory",
        "indexes",
        "documents",
        "graph",
    ]
    assert all(finding.mend is None for finding in findings)


@pytest.mark.parametrize("index", ["passage_embedding", "entity_text"])
def test_a_lost_index_is_found_and_made_again(corpus, index):
    corpus._connection.dialect.run_schema(f"DROP INDEX {index}")
    try:
        assert list(troubles(corpus)) == ["indexes"]
        assert index in troubles(corpus)["indexes"]
        assert "gswgraph doctor --mend" in troubles(corpus)["indexes"]
        if index.startswith("passage"):
            corpus.load(CORPUS)
    finally:
        corpus.doctor(mend=True)
    assert troubles(corpus) == {}
    for strategy in ("linked", "dense", "bm25"):
        assert corpus.ask("Who is Ingrid Sølvær?", strategy=strategy).passages


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("MATCH (c:Concept {id: 'vellmouth'}) SET c.passages = c.passages + 1", "1 miscounted"),
        ("CREATE (:Concept {id: 'x y z', name: 'X', passages: 1})", "1 miscounted"),
        ("CREATE (:Entity {id: 'x', name: 'X'})", "1 loose entities"),
        ("CREATE (:Passage {id: 'x', text: 'X'})", "1 loose passages"),
        ("CREATE (:QAPair {id: 'x', question: 'x'})", "1 loose pairs"),
        ("CREATE (:Role {name: 'x'})", "1 roles of nobody"),
    ],
)
def test_damage_is_found_and_mended(corpus, harm, words):
    before = dump(corpus)
    corpus.cypher(harm, write=True)
    try:
        assert list(troubles(corpus)) == ["graph"]
        assert words in troubles(corpus)["graph"]
        assert "gswgraph doctor --mend" in troubles(corpus)["graph"]
    finally:
        corpus.doctor(mend=True)
    assert troubles(corpus) == {}
    assert dump(corpus) == before


def test_a_first_load_that_was_cut_off_is_found_and_mended(corpus):
    corpus.cypher("MATCH (m:Memory) SET m.indexed = false", write=True)
    fresh = Memory(corpus._connection, corpus._settings)
    assert "not built" in troubles(fresh)["indexes"]
    assert fresh.ask("Who is Ingrid Sølvær?").passages
    assert troubles(fresh) == {}
    corpus.cypher("MATCH (m:Memory) SET m.indexed = false", write=True)
    corpus.load(CORPUS)
    assert troubles(corpus) == {}


def test_a_memory_of_a_newer_program_is_refused(corpus):
    corpus.cypher("MATCH (m:Memory) SET m.schema = 99", write=True)
    try:
        fresh = Memory(corpus._connection, corpus._settings)
        for refused in (lambda: fresh.load(CORPUS), lambda: fresh.ask("Who?")):
            with pytest.raises(SchemaError, match="schema 99"):
                refused()
    finally:
        corpus.cypher("MATCH (m:Memory) SET m.schema = $now", write=True, now=schema.SCHEMA)


def test_case_27_nodes_of_other_people_are_named_and_left_alone(corpus):
    corpus.cypher("CREATE (:Document {title: 'mine'}), (:Entity {name: 'theirs'})", write=True)
    try:
        findings = {finding.check: finding for finding in corpus.doctor(mend=True)}
        assert "1 Document, 1 Entity" in findings["other nodes"].result
        assert findings["graph"].ok
        assert corpus.documents().total == corpus.status().nodes["Document"]
        assert "mine" not in [document.title for document in corpus.documents().documents]
        with pytest.raises(InputError):
            corpus.show("mine")
        assert corpus.cypher(
            "MATCH (d:Document {title: 'mine'}), (e:Entity {name: 'theirs'}) RETURN count(*) AS n"
        ).rows == [{"n": 1}]
    finally:
        corpus.cypher("MATCH (n) WHERE n.title = 'mine' OR n.name = 'theirs' DELETE n", write=True)


def test_a_changed_text_is_found_by_a_deep_look(corpus):
    corpus.cypher(
        "MATCH (p:Passage)-[:PART_OF]->(d:Document) WITH p, d ORDER BY p.id LIMIT 1 SET p.text = p.text + '!'",
        write=True,
    )
    try:
        found = [finding for finding in corpus.doctor(deep=True) if not finding.ok]
        assert [finding.check for finding in found] == ["document", "texts"]
        assert found[0].mend
        assert found[0].mend.startswith("gswgraph load --replace ")
    finally:
        corpus.load(CORPUS, replace=True)
    assert all(finding.ok for finding in corpus.doctor(deep=True))
