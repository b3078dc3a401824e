"""Hostile text, on every engine: it is stored as it was and is never more than words."""

from __future__ import annotations

import json
import logging

import pytest
import samples
from contract import HOSTILE, expected_counts
from dump import dump, version

from gsw_graph.extract import rules
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document


@pytest.fixture
def hostile(memory, tmp_path):
    rows = [
        {
            "id": f"h{n} {title[:80]}",
            "title": title,
            "text": f"{title}\n\nIt is said that {title} met Word{n}x Person{n} on 3 May 18{n:02}. So {title}!",
        }
        for n, title in enumerate(HOSTILE)
    ]
    (tmp_path / "hostile.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    report = memory.load(str(tmp_path / "hostile.jsonl"))
    assert report.failures == []
    assert report.documents.new == len(HOSTILE)
    return memory


def test_hostile_text_comes_back_as_it_was(hostile, tmp_path):
    documents = [item for item in read([str(tmp_path / "hostile.jsonl")]) if isinstance(item, Document)]
    nodes, relationships = expected_counts(documents)
    assert hostile.status().nodes == nodes
    assert hostile.status().relationships == relationships
    rows = hostile.cypher(
        "MATCH (p:Passage)-[:PART_OF]->(d:Document) RETURN d.source AS s, p.position AS n, p.title AS t, p.text AS x"
    ).rows
    found = {(r["s"], r["n"]): (r["t"], r["x"]) for r in rows}
    expected = {(d.source, p.position): (p.title, p.text) for d in documents for p in d.passages}
    assert found == expected
    keys = {entity.key for document in documents for entity in rules.extract(document).entities}
    assert {row["id"] for row in hostile.cypher("MATCH (c:Concept) RETURN c.id AS id").rows} == keys
    assert {"null", "emoji"} <= keys
    for finding in hostile.doctor():
        assert finding.ok
    stamp = version(hostile)
    assert hostile.load(str(tmp_path / "hostile.jsonl")).documents.unchanged == len(HOSTILE)
    assert version(hostile) == stamp


def test_hostile_questions_are_only_words(hostile):
    before = hostile.status()
    stamp = version(hostile)
    for n, title in enumerate(HOSTILE):
        for asked in (f"{title} and Word{n}x Person{n}?", title, f'{title}\'s "{title}"'):
            if not asked.strip():
                continue
            for memory, strategy in ((hostile, "linked"), (hostile, "dense"), (hostile, "bm25")):
                answer = memory.ask(asked, strategy=strategy, trace=True, keep=False)
                if asked.endswith("?") and len(title) < 200 and strategy != "dense":
                    assert any(p.source.startswith(f"h{n} ") for p in answer.passages), (strategy, title)
    assert hostile.status() == before
    assert version(hostile) == stamp


def test_hostile_sources_are_forgotten_by_their_names(hostile):
    names = [row["s"] for row in hostile.cypher("MATCH (d:Document) RETURN d.source AS s").rows]
    assert sorted(hostile.forget(*names).forgotten) == sorted(names)
    assert [label for label, _, _ in dump(hostile)["nodes"]] == ["Memory"]


def test_no_text_and_no_vector_is_made_into_a_line_of_the_drivers_log(sample, caplog, tmp_path):
    """The driver makes such a line for every statement, read or not: of a vector that takes longer than sending it."""
    with caplog.at_level(logging.DEBUG, logger="neo4j"):
        assert sample.load(*samples.write(tmp_path), replace=True).documents.replaced
        assert sample.ask(
            "Who is Ana Ruiz?",
            strategy="ricr",
            plan=["What place did Ana Ruiz come from?", "What lies in #1?"],
        ).passages
    said = [record.getMessage() for record in caplog.records if " RUN " in record.getMessage()]
    assert any("items>" in line for line in said), "statements are logged"
    texts = [
        row["text"]
        for row in sample.cypher(
            "MATCH (n:Passage|QAPair|Proposition) RETURN coalesce(n.text, n.question) AS text"
        ).rows
    ]
    assert texts
    assert [text for text in texts if any(text in line for line in said)] == []
    assert max(map(len, said)) < 10_000
