"""What is looked at in a memory, on every engine: documents, one of them whole, and questions that were asked."""

from __future__ import annotations

from pathlib import Path

import pytest
import samples
from contract import CORPUS, FILES

from gsw_graph.errors import InputError


def test_documents_are_listed_by_source(corpus):
    found = corpus.documents()
    assert found.total == len(FILES)
    assert [document.source for document in found.documents] == FILES
    assert sum(document.passages for document in found.documents) == corpus.status().nodes["Passage"]
    assert corpus.documents(limit=3).documents == found.documents[:3]
    assert corpus.documents(limit=3).total == len(FILES)
    assert corpus.documents(skip=3, limit=2).documents == found.documents[3:5]
    assert corpus.documents(skip=10**9).total == len(FILES)
    assert corpus.documents(skip=99).documents == []
    assert [corpus.names(skip=n, limit=1)[0] for n in range(3)] == corpus.names(limit=3)
    for look in (corpus.documents, corpus.names, corpus.history):
        for wrong in ({"limit": 0}, {"limit": -1}, {"limit": 10**30}, {"skip": -1}, {"skip": 10**30}):
            with pytest.raises(InputError, match="at most 1,000,000,000"):
                look(**wrong)
    assert {document.extractor for document in found.documents} == {"rules"}


def test_documents_are_found_by_title_folder_and_what_read_them(corpus):
    assert [document.title for document in corpus.documents("TIDE").documents] == [
        "Great Tide Engine",
        "Tidewater Theatre",
    ]
    assert corpus.documents(f"{CORPUS}/../corpus").total == len(FILES)
    assert corpus.documents("'; MATCH (n) DETACH DELETE n //").total == 0
    assert corpus.documents(loader="markdown").total + corpus.documents(loader="text").total == len(FILES)
    assert corpus.documents(extractor="llm").documents == []
    assert corpus.documents(unfinished=True).total == 0
    corpus.cypher("MATCH (d:Document {title: 'Skarholm'}) SET d.unread = [0]", write=True)
    try:
        (document,) = corpus.documents(unfinished=True).documents
        assert document.title == "Skarholm"
        assert document.unread == [1]
    finally:
        corpus.cypher("MATCH (d:Document {title: 'Skarholm'}) SET d.unread = null", write=True)


def test_a_document_is_shown_with_all_that_was_found(sample):
    record = samples.RECORDS[0]
    for name in ("pier", "stone pier", sample.documents("pier").documents[0].id):
        shown = sample.show(name)
        assert shown.document.title == "Stone Pier"
        assert len(shown.passages) == 1
        (passage,) = shown.passages
        assert passage.text == record["text"]
        assert passage.position == 0
        assert {entity.name for entity in passage.entities} == set(samples.names(record))
        found = [
            (phrase.phrase, pair.question, tuple(pair.answers))
            for phrase in passage.phrases
            for pair in phrase.pairs
        ]
        assert sorted(found) == sorted(samples.pairs(record))
        assert "was there" in {phrase.phrase for phrase in passage.phrases}
        assert [fact.text for fact in passage.propositions] == [
            "Ana Ruiz built the Stone Pier.",
            "The pier is old.",
        ]
    entities = {entity.name: entity for entity in passage.entities}
    assert entities["Ana Ruiz"].roles == {"person": ["builder", "engineer"]}
    assert (entities["1902"].from_, entities["1902"].to) == samples.DAYS["1902"]
    assert [entity.name for entity in passage.entities if entity.title] == ["Stone Pier"]


def test_a_name_that_means_none_or_several_is_refused(corpus):
    for name in ("no such thing", "", " ", "\0"):
        with pytest.raises(InputError, match="no document or passage"):
            corpus.show(name)
    with pytest.raises(InputError, match=rf"{len(FILES)} documents.*{Path(FILES[0]).name}"):
        corpus.show(CORPUS)


def test_what_was_asked_is_listed_with_what_it_took(sample):
    first = sample.ask(samples.QUESTION, plan=samples.PLAN, k=3)
    second = sample.ask("Who built the Stone Pier?", strategy="dense", k=2)
    found = sample.history()
    assert found.total == 2
    assert found.tokens == {"in": 0, "out": 0}
    assert found.dollars is None
    assert [question.id for question in found.questions] == [second.id, first.id]
    assert found.questions[1].answer == "the ombre"
    assert found.questions[1].plan == first.plan
    assert found.questions[0].passages == []
    assert [question.id for question in sample.history("OMBRE").questions] == [first.id]
    assert sample.history(limit=1).total == 2
    assert len(sample.history(limit=1).questions) == 1
    sample.cypher(
        "MATCH (q:Question {id: $i}) SET q.prompt_tokens = 10, q.completion_tokens = 5, q.dollars = 0.5",
        i=first.id,
        write=True,
    )
    found = sample.history(limit=1)
    assert found.tokens == {"in": 10, "out": 5}
    assert found.dollars == 0.5
