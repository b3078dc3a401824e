"""What agents of GRASP ask of the graph, on every engine: the same facts in the same order, in one round trip, whatever the names and words say."""

from __future__ import annotations

import pytest
import samples
from contract import HOSTILE
from dump import version

from gsw_graph.ask.retrieve.names.linking import lucene_words, mentions
from gsw_graph.store.facts import near, of_name
from gsw_graph.store.reader import Reader
from gsw_graph.text.names import normalise

LIMITS = {"nearest": 3, "worded": 2, "common": 30, "most": 40}
ASKED = [
    "Who built the Stone Pier?",
    "Where was Ana Ruiz born?",
    "Who is the mayor of Valle Alto?",
    "What flows into the Salt Sea?",
    "?",
]


def vector(memory, text):
    return memory.embedder.encode_query([text])[0].tolist()


def asked(memory, text, reader=None):
    keys = [mention.key for mention in mentions(text)]
    return near(
        reader or Reader(memory._connection), vector(memory, text), lucene_words(text), keys, **LIMITS
    )


def said(facts):
    """What must be the same on every engine. Facts that are equally near stand in the order of their ids."""
    return [
        [(fact.id, fact.line, round(fact.lexical > 0), fact.passage.id) for fact in facts.facts],
        [passage.id for passage in facts.passages],
    ]


@pytest.mark.parametrize("text", ASKED)
def test_facts_are_the_same_on_every_engine(sample, embedded_sample, text):
    stamp = version(sample)
    reader = Reader(sample._connection)
    found = asked(sample, text, reader)
    assert reader.round_trips == 1
    assert said(found) == said(asked(embedded_sample, text))
    assert version(sample) == stamp


def test_facts_come_by_vector_words_and_name(sample):
    found = asked(sample, "Who built the Stone Pier?").facts
    lines = [fact.line for fact in found]
    assert lines[0] == "Who built the Stone Pier? Ana Ruiz", "a pair is its question with its answers"
    assert "Ana Ruiz built the Stone Pier." in lines, "a proposition is itself"
    assert "Why was it built?" not in lines, "a pair without an answer says nothing"
    assert not any(fact.lexical for fact in found), (
        "the full-text index of propositions is of the paper's form"
    )
    pier = found[0].passage
    assert pier.title == "Stone Pier"
    assert pier.source == "pier"
    assert pier.text.startswith("Ana Ruiz built") is True
    by_name = near(
        Reader(sample._connection),
        vector(sample, "?"),
        "",
        ["ombre"],
        nearest=1,
        worded=1,
        common=30,
        most=40,
    ).facts
    assert {"Ombre flows into Salt Sea", "Ombre is long"} <= {fact.line for fact in by_name}
    common = near(
        Reader(sample._connection), vector(sample, "?"), "", ["ombre"], nearest=1, worded=1, common=0, most=40
    ).facts
    assert len(common) < len(by_name), "a name that stands in more passages than that brings none"
    assert len(asked(sample, "Who built the Stone Pier?").facts) <= LIMITS["most"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_never_a_statement(sample, text):
    before = version(sample)
    asked(sample, text)
    near(
        Reader(sample._connection),
        vector(sample, text),
        lucene_words(text),
        [text, normalise(text)],
        **LIMITS,
    )
    of_name(Reader(sample._connection), text, vector(sample, text), scan=10, most=10)
    assert version(sample) == before


def test_documents_that_are_not_ready_are_out_of_sight(sample):
    sample.cypher("MATCH (d:Document {source: 'pier'}) SET d.status = 'loading'", write=True)
    assert all(fact.passage.source != "pier" for fact in asked(sample, samples.PLAN[0]).facts)
    found = of_name(Reader(sample._connection), "ana ruiz", vector(sample, "?"), scan=100, most=20)
    assert {fact.passage.source for fact in found.facts} | {passage.source for passage in found.passages} == {
        "ana"
    }
