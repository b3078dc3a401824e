"""PropRAG and fusion on every engine: the same everywhere, on memories of any content, and up to date after every load."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import samples
from contract import by_query
from dump import version

from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.results import Answer
from gsw_graph.retrieve.context import Context
from gsw_graph.retrieve.recipes import CODE, LINKED, QUICK, PropositionRecipe
from gsw_graph.retrieve.strategies import STRATEGIES as RUN
from gsw_graph.retrieve.strategies.proprag import best
from gsw_graph.retrieve.strategy import Query
from gsw_graph.store import schema
from gsw_graph.store.reader import Reader

STRATEGIES = ["proprag", "proprag-linked", "fusion"]
QUESTION = "Who is the mayor of the town where the builder of the Stone Pier was born?"


def scores(memory: Memory, strategy: str, **more: Any) -> list[tuple[str, float]]:
    return [(p.title, round(p.score, 3)) for p in memory.ask(QUESTION, strategy=strategy, k=4, llm=False, keep=False, **more).passages]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_on_every_engine_and_again(sample: Memory, embedded_sample: Memory, strategy: str) -> None:
    stamp = version(sample)
    found = scores(sample, strategy)
    assert found
    assert found == scores(embedded_sample, strategy)
    assert found == scores(sample, strategy)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert version(sample) == stamp


def test_chains_of_fusion_know_the_walk(sample: Memory, embedded_sample: Memory) -> None:
    answer, expected = (
        one.ask(samples.QUESTION, strategy="fusion", plan=samples.PLAN, k=4, trace=True, llm=False, keep=False) for one in (sample, embedded_sample)
    )
    assert answer.strategy == "fusion"
    assert answer.chains
    assert answer.trace is not None
    assert any("walk" in candidate.via for asked in answer.trace.asked for candidate in asked.candidates)
    chains, expected_chains = ([(round(c.score, 3), [h.answer for h in c.hops]) for c in one.chains] for one in (answer, expected))
    assert chains == expected_chains


@pytest.mark.parametrize("strategy", ["proprag", "proprag-linked"])
def test_a_trace_shows_the_paths_of_propositions(sample: Memory, strategy: str) -> None:
    answer = sample.ask(QUESTION, strategy=strategy, k=9, trace=True, llm=False, keep=False)
    assert answer.trace is not None
    paths = answer.trace.fact_paths
    assert [path.score for path in paths] == sorted((path.score for path in paths), reverse=True)
    facts = [fact for path in paths for fact in path.propositions]
    assert "Ana Ruiz built the Stone Pier." in [fact.text for fact in facts]
    assert any(len(path.propositions) > 1 for path in paths)
    texts = {passage.id: passage.text for passage in answer.passages}
    assert {fact.passage for fact in facts} <= set(texts)
    assert answer.to_dict()["trace"]["fact_paths"][0]["propositions"][0]["text"] == facts[0].text


def test_a_trace_shows_the_bridges_of_fusion(sample: Memory) -> None:
    answer = sample.ask(QUESTION, strategy="fusion", trace=True, llm=False, keep=False)
    assert answer.trace is not None
    assert answer.trace.bridges
    offered = Reader(sample._connection).pairs_of([passage.id for passage in answer.passages])
    assert set(answer.trace.bridges) <= {answer for answers in offered.answers for answer in answers}


def context(memory: Memory) -> Context:
    """What a strategy works with for one question."""
    state = schema.read_state(memory._connection)
    assert state is not None
    return memory._context(state, None, None, trace=False)


def test_recipes_may_embed_paths_and_find_propositions(sample: Memory) -> None:
    for recipe in (QUICK, LINKED, CODE):
        found = best(context(sample), QUESTION, 3, recipe)
        facts = Reader(sample._connection).propositions([fact for path, _ in found.paths for fact in path])
        assert facts
        assert all(fact.text for fact in facts.values())


@pytest.mark.parametrize("strategy", ["proprag", "proprag-linked"])
def test_a_recipe_may_embed_paths_as_texts_of_the_memory(sample: Memory, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = sample.embedder
    questions: list[str] = []
    texts: list[str] = []
    context(sample).propositions.walk_graph(version(sample), LINKED, context(sample).names.of)  # its names are texts too
    monkeypatch.setattr(embedder, "encode_query", lambda asked, encode=embedder.encode_query: (questions.extend(asked), encode(asked))[1])
    monkeypatch.setattr(embedder, "encode", lambda told, encode=embedder.encode: (texts.extend(told), encode(told))[1])

    def asked(recipe: PropositionRecipe) -> tuple[list[str], list[str]]:
        """Texts that were embedded as questions, and as texts of the memory."""
        questions.clear()
        texts.clear()
        assert RUN[strategy].with_recipe(recipe)(context(sample), Query(QUESTION, k=3)).passages
        return list(questions), list(texts)

    assert asked(RUN[strategy].recipe) == ([QUESTION], [])
    found, paths = asked(replace(CODE, width=1))
    assert found == [QUESTION]
    assert any("Ana Ruiz built the Stone Pier." in path and path.count(".") > 1 for path in paths)


@pytest.mark.parametrize(("strategy", "plan"), [("linked", None), ("fusion", None), ("fusion", samples.PLAN)])
def test_by_query_the_same_is_found_and_nobody_reads_all_names(
    sample: Memory, strategy: str, plan: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(memory: Memory) -> Answer:
        return memory.ask(samples.QUESTION, strategy=strategy, plan=plan, llm=False, keep=False)

    held, query = asked(sample), by_query(sample)
    monkeypatch.setattr(Reader, "name_graph", None)
    found = asked(query)
    assert (found.strategy, found.answer) == (strategy, held.answer)
    assert [one.id for one in found.passages] == [one.id for one in held.passages]
    assert found.round_trips <= held.round_trips


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_loaded_is_found_and_what_is_forgotten_is_not(sample: Memory, tmp_path: Path, strategy: str) -> None:
    scores(sample, strategy)  # the graph of this version is kept
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
    assert sample.ask(question, strategy=strategy, k=1, llm=False, keep=False).passages[0].title == "Zebra Lake"
    sample.forget("zebra")
    assert "Zebra Lake" not in [p.title for p in sample.ask(question, strategy=strategy, k=9, llm=False, keep=False).passages]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hostile_questions_are_questions(sample: Memory, strategy: str) -> None:
    for question in ("?", "(((", "AND OR NOT", "🙂", "\u202e \u202c", "MATCH (n) DETACH DELETE n", "a" * 5000):
        sample.ask(question, strategy=strategy, k=3, trace=True, llm=False, keep=False)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_memory_of_plain_texts_has_neither_pairs_nor_propositions(corpus: Memory, strategy: str) -> None:
    answer = corpus.ask("What is the harbour?", strategy=strategy, k=3, trace=True, llm=False, keep=False)
    assert answer.passages
    assert answer.strategy == ("linked" if strategy == "fusion" else strategy)
    assert answer.trace is not None
    assert answer.trace.walked == ("whole graph" if strategy == "fusion" else "propositions")


def test_chains_in_a_memory_of_plain_texts_say_what_it_lacks(corpus: Memory) -> None:
    answer = corpus.ask("What is the harbour?", strategy="ricr", llm=False, keep=False)
    assert (answer.abstained, answer.missing) == (True, "the memory holds no question-answer pairs, of which chains are made")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_memory(memory: Memory, strategy: str) -> None:
    answer = memory.ask(QUESTION, strategy=strategy, llm=False, keep=False)
    assert (answer.passages, answer.missing) == ([], "the memory is empty")


@pytest.mark.parametrize("strategy", ["proprag", "proprag-linked"])
def test_a_memory_that_is_too_large_for_the_client_says_so(sample: Memory, strategy: str) -> None:
    with pytest.raises(InputError, match="PropRAG holds the graph"):
        by_query(sample).ask(QUESTION, strategy=strategy, llm=False, keep=False)
