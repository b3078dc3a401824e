"""Passages that are excluded from a question: nothing of any strategy comes from them."""

from __future__ import annotations

from pathlib import Path

import pytest
import samples

from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.errors import InputError
from gsw_graph.evaluate import evaluate
from gsw_graph.evaluate.data import question_set
from gsw_graph.model.results import Trace
from gsw_graph.store.facts import hop
from gsw_graph.store.facts import near as facts_near

OF_ALL = [name for name, strategy in strategies().items() if "llm" not in strategy.needs]


@pytest.mark.parametrize("strategy", OF_ALL)
def test_nothing_comes_from_an_excluded_passage(embedded_sample, strategy):
    question = samples.QUESTION
    plan = samples.PLAN if strategies()[strategy].follows_plan else None
    options = {"strategy": strategy, "k": 3, "keep": False, "question_cache": False, "plan": plan}
    before = embedded_sample.ask(question, **options)
    excluded = tuple(passage.id for passage in before.passages[:2])
    after = embedded_sample.ask(question, excluded=excluded, **options)
    assert excluded
    shown = {passage.id for passage in after.passages} | {citation.passage for citation in after.citations}
    shown |= {hop.passage for chain in after.chains for hop in chain.hops}
    assert not shown & set(excluded)
    assert embedded_sample.ask(question, **options).passages == before.passages, (
        "the next question sees them again"
    )


def test_what_is_excluded_is_as_if_it_were_forgotten(sample):
    source = samples.RECORDS[0]["id"]
    hidden = sample.ask(samples.QUESTION, strategy="dense", k=9, inside=(source,), keep=False).passages
    proprag = strategies()["proprag"]
    asked = [*OF_ALL, proprag.with_recipe(proprag.recipes["paper"])]
    asked.remove("bm25")  # its scores know how often a word occurs in all of an index

    def ask(**options):
        found = []
        for strategy in asked:
            answer = sample.ask(samples.QUESTION, strategy=strategy, k=9, trace=True, keep=False, **options)
            trace = answer.trace or Trace()
            runs = [[edge.number for edge in run.edges] for run in trace.runs or ()]
            passages = [(passage.id, round(passage.score, 4)) for passage in answer.passages]
            found.append((passages, trace.bridges, runs))
        return found

    before = ask(excluded=tuple(passage.id for passage in hidden))
    sample.forget(source)
    for strategy, was, now in zip(asked, before, ask(), strict=True):
        assert was == now, strategy


def test_pairs_of_excluded_passages_take_no_places(sample):
    question = "Who built the Stone Pier?"
    (vector,) = sample.embedder.encode_query([question])
    asked = {"embedding": vector.tolist(), "words": "", "keys": [], "passages": []}
    reader = sample._reader

    def nearest():
        (candidates,) = hop(reader, [asked], pairs=2, entities=0, common=0).candidates
        return [pair.passage for pair, ways in candidates if ways == ("vector",)]

    first = nearest()
    assert len(first) == 2
    reader.exclude(first)
    after = nearest()
    assert len(after) == 2, "others take the places"
    assert not set(after) & set(first)
    near = {"nearest": 2, "worded": 0, "common": 0, "most": 3, "units": "pairs"}
    agents = facts_near(reader, asked["embedding"], "", [], **near).facts
    assert len(agents) == 2
    assert not {fact.passage.id for fact in agents} & set(first)


def test_what_was_shown_is_searched_and_others_come_in_its_place(embedded_sample):
    options = {"k": 3, "keep": False, "question_cache": False, "llm": False}
    usual = embedded_sample.ask(samples.QUESTION, **options)
    again = embedded_sample.ask(
        samples.QUESTION, shown=tuple(passage.id for passage in usual.passages[:2]), **options
    )
    assert [passage.id for passage in again.passages][:1] == [usual.passages[2].id]
    assert len(again.passages) == min(3, embedded_sample.status().nodes["Passage"] - 2)
    assert again.answer == usual.answer
    assert again.chains == usual.chains
    assert again.citations == usual.citations


@pytest.mark.parametrize("strategy", [name for name in OF_ALL if name != "bm25"])
@pytest.mark.parametrize("k", [1, 2])
def test_searches_of_an_agent_come_to_every_passage(embedded_sample, strategy, k):
    total = embedded_sample.status().nodes["Passage"]
    shown = []
    while len(shown) < total:
        passages = embedded_sample.ask(
            samples.QUESTION, strategy=strategy, k=k, shown=shown, answer=False, keep=False
        ).passages
        assert len(passages) == min(k, total - len(shown)), "so many new ones, as long as there are any"
        assert [passage.score for passage in passages] == sorted(
            (passage.score for passage in passages), reverse=True
        )
        shown += [passage.id for passage in passages]
        assert len(set(shown)) == len(shown)
    assert (
        embedded_sample.ask(
            samples.QUESTION, strategy=strategy, k=k, shown=shown, answer=False, keep=False
        ).passages
        == []
    )


def test_words_find_what_has_them_and_no_more(embedded_sample):
    options = {"strategy": "bm25", "answer": False, "keep": False}
    every = [
        passage.id for passage in embedded_sample.ask("the town of the pier and its river", k=100, **options)
    ]
    assert len(every) > 1
    found = [
        passage.id
        for passage in embedded_sample.ask(
            "the town of the pier and its river", k=2, shown=every[:1], **options
        )
    ]
    assert found == every[1:3]
    assert (
        embedded_sample.ask("the town of the pier and its river", k=2, shown=every, **options).passages == []
    )


@pytest.mark.parametrize("name", ["excluded", "shown"])
def test_one_id_is_one_id(embedded_sample, name):
    first = embedded_sample.ask(samples.QUESTION, k=1, keep=False).passages[0].id
    found = embedded_sample.ask(samples.QUESTION, k=3, keep=False, **{name: first}).passages
    assert len(found) == 3
    assert first not in {passage.id for passage in found}
    with pytest.raises(InputError, match=f"{name} is 5"):
        embedded_sample.ask(samples.QUESTION, **{name: 5})
    with pytest.raises(InputError, match=name):
        embedded_sample.ask(samples.QUESTION, **{name: [first, None]})


def test_a_question_without_its_gold_passages_has_no_answer(embedded_sample):
    passage, _ = embedded_sample.ask("observatory", strategy="dense", k=2, keep=False).passages
    gold = {"title": passage.title, "text": passage.text}
    asked = question_set(
        [
            ("here", {"id": "a", "question": passage.text, "answers": ["x"], "passages": [gold]}),
            ("there", {"id": "b", "question": "Who?", "sources": ["none"]}),
        ]
    )
    found = evaluate(embedded_sample, asked, ["dense", "linked"], without_gold=True, k=5)
    (row,) = found.questions
    assert row["answerable"] is False
    assert row["answers"] == []
    for each in row["strategies"].values():
        assert passage.id not in each["passages"]
    assert found.failures == [
        {"question": "b", "strategy": "", "reason": "its gold passages are not in the memory"}
    ]
    assert found.settings["protocol"].endswith("without the gold passages")


def test_every_statement_asks_of_each_passage_whether_it_is_seen():
    for file in sorted((Path(__file__).parents[1] / "cypher").rglob("*.cypher")):
        text = file.read_text(encoding="utf-8")
        assert text.count("$scope[") == text.count("coalesce($scope["), file.name
