"""Questions that were asked stay in the memory with what their answers used, until they are forgotten; and the passages of a document stay while it is read anew."""

from __future__ import annotations

import json

import pytest
import samples
from contract import HOSTILE, CutOffError, cut_off, rows
from dump import differences, dump, version
from test_nodes import CLASSES, properties

from gsw_graph.errors import SchemaError
from gsw_graph.memory import Memory
from gsw_graph.store import writer
from gsw_graph.store.schema import SCHEMA

USED = "MATCH (q:Question)-[u:USED]->(x) RETURN labels(x)[0] AS label, x.id AS id, u.hop AS hop, u.rank AS rank, u.cited AS cited ORDER BY label, rank, hop, id"


def test_a_question_is_kept_with_what_its_answer_used(sample):
    stamp = version(sample)
    answer = sample.ask(samples.QUESTION, plan=samples.PLAN, k=3)
    assert version(sample) == stamp, "no cache looks at questions"
    (kept,) = sample.cypher("MATCH (q:Question) RETURN properties(q) AS q").rows
    found = {
        name: kept["q"][name]
        for name in ("id", "question", "answer", "answer_source", "abstained", "strategy")
    }
    expected = {
        "id": answer.id,
        "question": samples.QUESTION,
        "answer": "the ombre",
        "answer_source": "chain",
        "abstained": False,
        "strategy": "fusion",
    }
    assert found == expected
    assert json.loads(kept["q"]["plan"]) == answer.plan
    assert set(kept["q"]) <= set(properties(CLASSES["Question"]))
    used = rows(sample, USED)
    best = [(hop.qa.id, number, 1) for number, hop in enumerate(answer.chains[0].hops, 1)]
    assert set(best) <= {(id_, hop, rank) for label, id_, hop, rank, _ in used if label == "QAPair"}
    passages = {id_: cited for label, id_, _, _, cited in used if label == "Passage"}
    assert {citation.passage for citation in answer.citations} == {
        id_ for id_, cited in passages.items() if cited
    }
    assert {passage.id for passage in answer.passages} <= set(passages)


def test_a_question_that_is_not_to_be_kept_is_not(sample):
    assert sample.ask(samples.QUESTION, keep=False).id is None
    assert rows(sample, "MATCH (q:Question) RETURN count(q) AS n") == [(0,)]


def test_hostile_questions_are_kept_as_they_are(sample):
    asked = [text for text in HOSTILE if text.strip()]
    ids = [sample.ask(text, strategy="dense").id for text in asked]
    assert None not in ids
    assert dict(rows(sample, "MATCH (q:Question) RETURN q.id AS id, q.question AS question")) == dict(
        zip(ids, asked, strict=True)
    )


def test_a_question_goes_with_the_documents_that_its_answer_cites(sample):
    sample.ask(samples.QUESTION, plan=samples.PLAN)
    sample.ask(samples.QUESTION, strategy="dense")  # cites nothing
    found = sample.forget(*{row[0] for row in rows(sample, "MATCH (d:Document) RETURN d.source AS source")})
    assert found.questions == 1
    assert rows(
        sample, "MATCH (q:Question) RETURN q.answer AS answer, COUNT { (q)-[:USED]->() } AS used"
    ) == [(None, 0)]
    sample.forget(everything=True)
    assert rows(sample, "MATCH (q:Question) RETURN count(q) AS n") == [(0,)]


@pytest.mark.parametrize("large", [False, True])
def test_reading_anew_keeps_passages_and_what_questions_used(memory, tmp_path, monkeypatch, large):
    """First by rules, then the ready workspaces of the same texts: as if these had been loaded at once, and the question still cites its passages."""
    plain = samples.jsonl(tmp_path / "plain.jsonl", samples.plain(samples.RECORDS))
    memory.load(*samples.write(tmp_path))
    expected = dump(memory, vectors=False)
    memory.forget(everything=True)
    memory.load(plain, extractor="rules")
    before = memory.ask("Who built the Stone Pier?", k=3)
    used = rows(memory, USED)
    assert before.passages
    assert used
    if large:
        monkeypatch.setattr(writer, "_FORGET_PASSAGES", 1)
        monkeypatch.setattr(writer, "TRANSACTION_BYTES", 1)
    for steps in (1, 2, 3, 5, 8) if large else ():
        with monkeypatch.context() as patch:
            cut_off(patch, steps, ("_forget", "_mark", "_run"))
            with pytest.raises(CutOffError):
                memory.load(*samples.write(tmp_path))
        assert memory.status().unfinished
        assert rows(memory, USED) == used, "the passages of a document that was cut off stand"
    memory.load(*samples.write(tmp_path))
    assert memory.status().unfinished == []
    assert differences(dump(memory, vectors=False), expected) == []
    assert rows(memory, USED) == used
    again = memory.ask("Who built the Stone Pier?", k=3)
    assert {passage.id for passage in before.passages} & {passage.id for passage in again.passages}


def test_a_memory_of_another_schema_is_refused(sample):
    """There are no migrations: the way on is to load the documents again."""
    sample.cypher("MATCH (m:Memory) SET m.schema = $other", write=True, other=SCHEMA - 1)
    try:
        again = Memory(sample._connection, sample._settings, sample.embedder)
        with pytest.raises(SchemaError) as refused:
            again.ask(samples.QUESTION, keep=False)
        assert "load" in str(refused.value)
        with pytest.raises(SchemaError):
            again.load(samples.__file__)
    finally:
        sample.cypher("MATCH (m:Memory) SET m.schema = $own", write=True, own=SCHEMA)
