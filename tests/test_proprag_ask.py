"""PropRAG and fusion on every engine: the same everywhere, on memories of any content, and up to date after every load."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from dump import version

from gsw_graph.ask.retrieve.strategies import STRATEGIES as RUN

STRATEGIES = ["proprag", "fusion"]
QUESTION = "Who is the mayor of the town where the builder of the Stone Pier was born?"


def scores(memory, strategy, **more):
    return [
        (p.title, round(p.score, 3))
        for p in memory.ask(QUESTION, strategy=strategy, k=4, llm=False, keep=False, **more).passages
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_on_every_engine_and_again(sample, embedded_sample, strategy):
    stamp = version(sample)
    found = scores(sample, strategy)
    assert found
    assert found == scores(embedded_sample, strategy)
    assert found == scores(sample, strategy)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert version(sample) == stamp


def test_a_trace_shows_the_paths_of_propositions(sample):
    answer = sample.ask(QUESTION, strategy="proprag", k=9, trace=True, llm=False, keep=False)
    assert answer.trace is not None
    paths = answer.trace.fact_paths
    assert [path.score for path in paths] == sorted((path.score for path in paths), reverse=True)
    facts = [fact for path in paths for fact in path.propositions]
    assert "Ana Ruiz built the Stone Pier." in [fact.text for fact in facts]
    assert any(len(path.propositions) > 1 for path in paths)
    texts = {passage.id: passage.text for passage in answer.passages}
    assert {fact.passage for fact in facts} <= set(texts)
    found = answer.to_dict()["trace"]["fact_paths"][0]["propositions"][0]["text"]
    assert found == facts[0].text


def test_the_paper_walks_over_the_whole_graph_and_embeds_paths(sample, monkeypatch):
    texts = []
    encode = sample.embedder.encode
    monkeypatch.setattr(sample.embedder, "encode", lambda some: (texts.extend(some), encode(some))[1])
    asked = []
    encode_query = sample.embedder.encode_query
    monkeypatch.setattr(
        sample.embedder, "encode_query", lambda some: (asked.extend(some), encode_query(some))[1]
    )
    scores(sample, "proprag")
    assert texts == []
    wide = RUN["proprag"].with_recipe(replace(RUN["proprag"].recipes["paper"], width=1, instruction="Find: "))
    assert sample.ask(QUESTION, strategy=wide, k=3, llm=False, keep=False).passages
    assert "stone pier" in texts, "names are compared"
    assert asked[-1].startswith("Find: ")
    assert asked[-1].endswith(QUESTION)
    assert any("Ana Ruiz built the Stone Pier." in path and path.count(".") > 1 for path in texts)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_loaded_is_found_and_what_is_forgotten_is_not(sample, tmp_path, strategy):
    scores(sample, strategy)
    record = {
        "id": "zebra", "title": "Zebra Lake", "text": "The Zebra Lake is deep. Otto Zebra swims in it.",
        "entities": [{"name": "Otto Zebra", "roles": []}, {"name": "Zebra Lake", "roles": []}],
        "verb_phrases": [{"phrase": "swims in", "questions": [{"text": "Who swims in the Zebra Lake?", "answers": ["Otto Zebra"]}]}],
        "propositions": [{"text": "Otto Zebra swims in the Zebra Lake.", "entities": ["Otto Zebra", "Zebra Lake"]}],
    }  # fmt: skip
    file = tmp_path / "more.jsonl"
    file.write_text(json.dumps(record), "utf-8")
    assert sample.load(str(file)).failures == []
    question = "Who swims in the Zebra Lake?"
    assert (
        sample.ask(question, strategy=strategy, k=1, llm=False, keep=False).passages[0].title == "Zebra Lake"
    )
    sample.forget("zebra")
    assert "Zebra Lake" not in [
        p.title for p in sample.ask(question, strategy=strategy, k=9, llm=False, keep=False).passages
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_memory_of_plain_texts_has_neither_pairs_nor_propositions(corpus, strategy):
    answer = corpus.ask("What is the harbour?", strategy=strategy, k=3, trace=True, llm=False, keep=False)
    assert answer.passages
    assert answer.strategy == ("linked" if strategy == "fusion" else strategy)
    assert answer.trace is not None
    assert answer.trace.walked == ("neighbourhood" if strategy == "fusion" else "propositions")
