"""Loading, on every engine: what stands in the graph afterwards, whatever the way and the order."""

from __future__ import annotations

from pathlib import Path

import fakes
import pytest
from contract import CORPUS, CORPUS_NODES, CORPUS_RELATIONSHIPS, FILES, records
from dump import differences, dump, version

from gsw_graph.errors import SchemaError
from gsw_graph.extract import Rules
from gsw_graph.load import loading
from gsw_graph.memory import Memory
from gsw_graph.store import writer
from gsw_graph.store.schema import SCHEMA


def test_from_nothing(fresh_settings, fake_embedder):
    with Memory.open(settings=fresh_settings) as memory:
        before = memory.status()
        assert before.nodes == {}
        assert before.relationships == {}
        assert before.schema is None
        assert before.version is None
        assert before.indexed is None
        assert memory.ask("Who is Ana?").abstained
        assert memory.ask("Who is Ana?", strategy="bm25").passages == []
        assert memory.forget("x").unknown == ["x"]
        assert memory.load(CORPUS, dry_run=True).documents.new == len(FILES)
        assert memory.status().schema is None  # a dry run writes nothing, not even a schema
        assert all(finding.ok for finding in memory.doctor())
        report = memory.load(CORPUS)
        assert report.documents.new == len(FILES)
        assert report.documents.failed == 0
        assert report.failures == []
        assert report.nodes == CORPUS_NODES
        after = memory.status()
        assert after.nodes == CORPUS_NODES
        assert after.relationships == CORPUS_RELATIONSHIPS
        assert after.schema == SCHEMA
        assert after.embedder == fresh_settings.embedder
        assert after.dimension == fakes.DIMENSION
        assert after.indexed is True
        assert after.unfinished == []
        assert all(finding.ok for finding in memory.doctor())
        assert memory.ask("Who is Ingrid Sølvær?").passages


def test_a_database_of_another_application_is_left_alone(fresh_settings, fake_embedder, tmp_path):
    with Memory.open(settings=fresh_settings) as memory:
        memory.cypher("CREATE (:Document {id: 'theirs', name: 'invoice'})", write=True)
        with pytest.raises(SchemaError, match=r"nodes with the label Document.*NEO4J_DATABASE"):
            memory.load(records(tmp_path, "So Ana."))
        assert memory.cypher("MATCH (n) RETURN count(n) AS n").rows == [{"n": 1}]


def test_another_extractor_reads_again_when_asked_to(fresh_settings, fake_embedder, tmp_path):
    with Memory.open(settings=fresh_settings) as memory:
        path = records(tmp_path, "So Ana Petrova sang in 1901.")
        assert memory.load(path, extractor="none").nodes["Entity"] == 0
        assert memory.load(path, extractor="rules").documents.unchanged == 1
        report = memory.load(path, extractor="rules", upgrade=True)
        assert report.documents.replaced == 1
        assert report.nodes["Entity"] > 0
        assert report.nodes["Passage"] == 0
        assert memory.load(path).documents.unchanged == 1


def test_the_graph_is_the_same_on_every_engine(corpus, embedded_corpus):
    assert differences(dump(corpus, vectors=False), dump(embedded_corpus, vectors=False)) == []


def test_the_second_load_writes_nothing(corpus):
    before = dump(corpus)
    stamp = version(corpus)
    report = corpus.load(CORPUS)
    assert report.documents.new == 0
    assert report.documents.unchanged == len(FILES)
    assert report.documents.replaced == 0
    assert not any(report.nodes.values())
    assert version(corpus) == stamp
    assert differences(dump(corpus), before) == []


@pytest.mark.parametrize("way", ["backwards in parts", "replaced"])
def test_the_graph_does_not_depend_on_the_way_of_loading(corpus, tmp_path, monkeypatch, way):
    spellings = records(
        tmp_path,
        *[
            f"Then {name} came to Vellmouth."
            for name in ("BEYONCE", "Beyoncé", "Beyonce", "beyoncé Knowles", "Vellmouth")
        ],
    )
    corpus.load(spellings)
    expected = dump(corpus)
    if way == "replaced":
        monkeypatch.setattr(loading, "_COMPARED", 7)
        monkeypatch.setattr(Rules, "window", 7)
        assert corpus.load(CORPUS, spellings, replace=True).documents.replaced == len(FILES) + 5
    else:
        corpus.forget(everything=True)
        monkeypatch.setattr(loading, "_COMPARED", 3)
        monkeypatch.setattr(Rules, "window", 3)
        monkeypatch.setattr(writer, "BATCH_BYTES", 1)
        lines = Path(spellings).read_text().splitlines()[::-1]
        Path(spellings).write_text("\n".join(lines))
        paths = [*FILES, spellings][::-1]
        corpus.load(*paths[10:])
        corpus.load(*paths)
    assert differences(dump(corpus), expected) == []


def test_changed_content_replaces_the_old(memory, tmp_path):
    old = "Then Old Name met Shared Name in 1901 by Only Once. And BEYONCÉ sang."
    path = records(tmp_path, old, "So Shared Name stayed. Then Beyonce sang. So Beyonce sang.")
    memory.load(path)
    report = memory.load(
        records(
            tmp_path,
            "Then New Name met Shared Name.\n\nAnd all.",
            "So Shared Name stayed. Then Beyonce sang. So Beyonce sang.",
        )
    )
    assert report.documents.new == 0
    assert report.documents.replaced == 1
    assert report.documents.unchanged == 1
    after = dump(memory)
    rows = memory.cypher("MATCH (c:Concept) RETURN c.id AS id, c.name AS name, c.passages AS passages").rows
    assert {(row["id"], row["name"], row["passages"]) for row in rows} == {
        ("new name", "New Name", 1),
        ("shared name", "Shared Name", 2),
        ("beyonce", "Beyonce", 1),  # BEYONCÉ is gone with its document
    }
    assert memory.status().nodes["Role"] == 0  # nothing is a date any more
    assert memory.cypher("MATCH (p:Passage) WHERE p.text CONTAINS 'Old Name' RETURN p").rows == []
    memory.forget(everything=True)
    memory.load(path)
    assert differences(dump(memory), after) == []


def test_what_fails_is_listed_and_the_rest_is_loaded(memory, tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"id": "good", "text": "So Ana met Bo."}\n{"id": "bad"}\n[1\n', encoding="utf-8")
    report = memory.load(str(path))
    assert report.documents.new == 1
    assert report.documents.failed == 2
    assert len(report.failures) == 2
    assert memory.status().nodes["Document"] == 1
