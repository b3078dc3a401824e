"""Ready workspaces, on every engine: the ways of loading that end in the same graph, what replaces what, and what goes when they are forgotten."""

from __future__ import annotations

import json

import pytest
import samples
from contract import rows
from dump import differences, dump, version

from gsw_graph.extract import Rules
from gsw_graph.load import loading
from gsw_graph.store import writer


def states(report):
    return report.documents.new, report.documents.replaced, report.documents.unchanged


@pytest.mark.parametrize("way", ["reversed", "one by one"])
def test_the_graph_does_not_depend_on_the_way_of_loading(sample, tmp_path, monkeypatch, way):
    expected = dump(sample)
    paths = samples.write(tmp_path)
    sample.forget(everything=True)
    if way == "reversed":
        sample.load(paths[1], samples.jsonl(tmp_path / "other.jsonl", samples.RECORDS[::-1]))
    else:
        monkeypatch.setattr(loading, "_COMPARED", 1)
        monkeypatch.setattr(Rules, "window", 1)
        monkeypatch.setattr(writer, "BATCH_BYTES", 1)
        sample.load(samples.jsonl(tmp_path / "half.jsonl", samples.RECORDS[1:2]))
        assert states(sample.load(*paths)) == (3, 0, 1)
    assert differences(dump(sample), expected) == []


def test_other_findings_in_the_same_text_replace_the_old_wholly(sample, tmp_path):
    changed = json.loads(json.dumps(samples.RECORDS))
    changed[0]["verb_phrases"][0] = {
        "phrase": "put up",
        "questions": [{"text": "Who put up the Stone Pier?", "answers": ["Ana Ruiz"]}],
    }
    changed[0]["entities"][0]["roles"][0] = {"role": "human", "states": ["builder"]}
    changed[0]["propositions"] = []
    del changed[0]["entities"][-1]
    path = samples.jsonl(tmp_path / "changed.jsonl", changed)
    assert states(sample.load(path)) == (0, 1, 2)
    after = dump(sample)
    assert rows(sample, "MATCH (q:QAPair {question: 'Who built the Stone Pier?'}) RETURN q.id AS id") == []
    assert rows(sample, "MATCH (c:Concept {id: 'old lady'}) RETURN c.id AS id") == []
    sample.forget(everything=True)
    sample.load(path, str(tmp_path / "openie.json"))
    assert differences(dump(sample), after) == []


def test_workspaces_of_a_corpus_that_was_loaded_as_text_keep_its_passages(sample, tmp_path):
    expected = dump(sample)
    sample.forget(everything=True)
    sample.load(samples.jsonl(tmp_path / "plain.jsonl", samples.plain(samples.RECORDS)))
    query = "MATCH (p:Passage)-[:PART_OF]->(d:Document) RETURN d.id AS d, p.id AS p, p.text AS text"
    before = set(rows(sample, query))
    assert len(before) == 3
    bare = "MATCH (e:Entity) WHERE e.from IS NULL RETURN e.name AS name"
    assert rows(sample, bare) == []
    assert states(sample.load(str(tmp_path / "workspaces.jsonl"))) == (0, 3, 0)
    assert set(rows(sample, query)) == before
    sample.load(str(tmp_path / "openie.json"))
    assert differences(dump(sample), expected) == []


def test_plain_text_does_not_put_out_a_workspace(sample, tmp_path):
    before = dump(sample)
    stamp = version(sample)
    path = samples.jsonl(tmp_path / "plain.jsonl", samples.plain(samples.RECORDS))
    assert states(sample.load(path)) == (0, 0, 3)
    assert version(sample) == stamp
    assert differences(dump(sample), before) == []
    assert states(sample.load(path, replace=True)) == (0, 3, 0)
    after = dump(sample)
    assert sample.status().nodes["QAPair"] == 0
    assert sample.status().nodes["VerbPhrase"] == 0
    sample.forget(everything=True)
    sample.load(path, str(tmp_path / "openie.json"))
    assert differences(dump(sample), after) == []
