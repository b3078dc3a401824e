"""Ready workspaces, on every engine: what stands in the graph is what the file says."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import samples
from contract import rows
from dump import differences, dump

from gsw_graph import Memory
from gsw_graph.store.vectors import pack_vector, unpack_vectors
from gsw_graph.text.names import normalise


def test_counts_are_those_of_the_files(sample):
    nodes, relationships = samples.counts()
    status = sample.status()
    named = rows(sample, "MATCH (c:Concept) WHERE c.passages = 0 RETURN c.id AS id")
    assert status.nodes == {**nodes, "Concept": nodes["Concept"] + len(named)}, (
        "and names that rules found in the texts alone"
    )
    assert (
        len(rows(sample, "MATCH ()-[n:NAMES]->() RETURN n.weight AS weight"))
        == status.relationships["NAMES"]
        > 0
    )
    assert {**status.relationships, "NAMES": 0} == {**relationships, "NAMES": 0}
    assert [finding for finding in sample.doctor() if not finding.ok] == []


def test_pairs_stand_with_their_phrases_and_passages(sample):
    found = rows(
        sample,
        "MATCH (d:Document)<-[:PART_OF]-(p:Passage)<-[:IN]-(q:QAPair)<-[:ASKS]-(v:VerbPhrase)-[:IN]->(p)"
        " RETURN d.source AS source, v.phrase AS phrase, q.question AS question, q.answers AS answers, q.answer AS answer, q.vector AS vector,"
        " q.embedding AS embedding",
    )
    expected = {
        (f"{r['id']}", phrase, question, answers)
        for r in samples.RECORDS
        for phrase, question, answers in samples.pairs(r)
    }
    assert {row[:4] for row in found} == expected
    assert len(found) == len(expected)
    for _, _, question, answers, answer, vector, embedding in found:
        assert answer == ", ".join(answers)
        (one,) = sample.embedder.encode([f"{question} {answer}" if answers else question])
        assert np.asarray(embedding) == pytest.approx(one, abs=1e-6)
        assert bytes.fromhex(str(vector)) == pack_vector(one)
        assert unpack_vectors([pack_vector(one)])[0] == pytest.approx(one, abs=0.5 / 127 + 1e-6)


def test_concepts_join_documents_and_spellings(sample):
    places = {}
    for record in [*samples.RECORDS, *samples.OPENIE["docs"]]:
        for name in samples.names(record):
            places.setdefault(normalise(name), set()).add(record["id"])
    found = rows(
        sample, "MATCH (c:Concept)<-[:REFERS_TO]-() RETURN DISTINCT c.id AS id, c.passages AS passages"
    )
    assert dict(found) == {
        key: len(documents) for key, documents in places.items()
    }  # two spellings in one passage are one passage
    assert dict(found)["ana ruiz"] == 2
    assert rows(
        sample,
        "MATCH (c:Concept {id: 'beyonce'})<-[:REFERS_TO]-(e:Entity) RETURN c.name AS name, count(e) AS n",
    ) == [("Beyoncé", 2)]
    titles = rows(
        sample, "MATCH (e:Entity)-[i:IN]->(p:Passage) WHERE i.title RETURN e.name AS name, p.title AS title"
    )
    assert set(titles) == {(t, t) for t in ("Stone Pier", "Ana Ruiz", "Valle Alto", "Ombre")}


def test_the_graph_is_the_same_on_every_engine(sample, sample_folder, tmp_path):
    with Memory.open(shutil.copytree(sample_folder, tmp_path / "memory")) as embedded:
        assert differences(dump(sample, vectors=False), dump(embedded, vectors=False)) == []
