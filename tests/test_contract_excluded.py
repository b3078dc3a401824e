"""Passages that are excluded from a question: nothing of any strategy comes from them."""

from __future__ import annotations

import pytest
import samples

from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.evaluate import evaluate
from gsw_graph.evaluate.data import question_set
from gsw_graph.memory import Memory

OF_ALL = [name for name, strategy in strategies().items() if "llm" not in strategy.needs]


@pytest.mark.parametrize("strategy", OF_ALL)
def test_nothing_comes_from_an_excluded_passage(embedded_sample: Memory, strategy: str) -> None:
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
    assert embedded_sample.ask(question, **options).passages == before.passages, "the next question sees them again"


def test_what_was_shown_is_searched_and_not_returned_again(embedded_sample: Memory) -> None:
    options = {"k": 3, "keep": False, "question_cache": False, "llm": False}
    usual = embedded_sample.ask(samples.QUESTION, **options)
    again = embedded_sample.ask(samples.QUESTION, shown=tuple(passage.id for passage in usual.passages[:2]), **options)
    assert again.passages == usual.passages[2:]
    assert (again.answer, again.chains, again.citations) == (usual.answer, usual.chains, usual.citations)


def test_a_question_without_its_gold_passages_has_no_answer(embedded_sample: Memory) -> None:
    passage, _ = embedded_sample.ask("observatory", strategy="dense", k=2, keep=False).passages
    gold = {"title": passage.title, "text": passage.text}
    asked = question_set([("here", {"id": "a", "question": passage.text, "answers": ["x"], "passages": [gold]}), ("there", {"id": "b", "question": "Who?", "sources": ["none"]})])
    found = evaluate(embedded_sample, asked, ["dense", "linked"], without_gold=True, k=5)
    (row,) = found.questions
    assert (row["answerable"], row["answers"]) == (False, [])
    assert all(passage.id not in each["passages"] for each in row["strategies"].values())
    assert found.failures == [{"question": "b", "strategy": "", "reason": "its gold passages are not in the memory"}]
    assert found.settings["protocol"].endswith("without the gold passages")
