"""Answers from chains: what is answered, what is cited, and when the memory does not hold it."""

from __future__ import annotations

import pytest
from chain_fakes import Find, grown, plan, scored
from samples import cases

from gsw_graph.ask.answer import chains as module
from gsw_graph.ask.answer.chains import from_chains, shown
from gsw_graph.ask.answer.quotes import quote
from gsw_graph.ask.retrieve.strategies.fusion import RICR
from gsw_graph.ask.strategy import RetrievalResult
from gsw_graph.model.results import Citation, RankedPassage

TWO = plan("first", "second of #1")
TABLE = {
    "first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")],
    "second of Ana": [scored("c", 0.7, "Rome")],
    "second of Bo": [scored("d", 0.6, "Oslo")],
}


def passage(of, text="Nothing."):
    return RankedPassage(f"passage of {of}", f"title {of}", text, f"source {of}", f"document {of}", 0.5)


def found(plan, table, *cited, planned=True):
    return RetrievalResult(
        [passage("elsewhere")],
        grown(plan, "the original", Find(table), planned=planned),
        {one.id: one for one in cited},
    )


@pytest.fixture
def sure(monkeypatch):
    """Makes every answer as sure as is said, whatever its chains are."""

    def set_to(confidence):
        monkeypatch.setattr(module, "confidence", lambda *args: confidence)

    set_to(0.99)
    return set_to


def drafted(question, found, *, answer=True):
    """What the chains of `ricr` say."""
    return from_chains(question, found, RICR.confidence, answer=answer)


def ends(found):
    """The answers of the chains that are shown, hop by hop."""
    return [[hop.answer for hop in chain.hops] for chain in shown(found)]


def said_of(answer):
    return answer.answer, answer.source, answer.abstained


# What is answered


def test_the_answer_is_the_end_of_the_best_chain(sure):
    one = found(TWO, TABLE)
    said = drafted("q", one)
    assert said_of(said) == ("Rome", "chain", False)
    assert said.confidence == 0.99
    assert [chain.score for chain in shown(one)] == sorted(
        (chain.score for chain in shown(one)), reverse=True
    )
    assert ends(one) == [["Ana", "Rome"], ["Bo", "Oslo"]]


def test_the_answer_is_the_sinks_where_a_step_needs_a_later_one(sure):
    """Found by this test: the answer was that of the hop before."""
    table = {"first": [scored("a", 0.9, "Ana")], "second of Ana": [scored("c", 0.7, "Rome")]}
    assert drafted("q", found(plan("second of #2", "first"), table)).answer == "Rome"


def test_a_comparison_is_evidence_and_no_answer(sure):
    table = {"first": [scored("a", 0.9, "Ana")], "alone": [scored("b", 0.2, "Bo")]}
    one = found(plan("first", "alone", compare="Is #1 before #2?"), table, passage("a"), passage("b"))
    said = drafted("q", one)
    assert said_of(said) == (None, "none", False)
    assert ends(one) == [["Bo"], ["Ana"]]
    assert said.citations
    assert said.confidence == 0.99


# When the memory does not hold it


def test_an_answer_that_is_not_sure_is_not_given(sure):
    one = found(TWO, TABLE, passage("a"), passage("c"))
    for confidence, answer in (
        (module.REFUSED_BELOW, "Rome"),
        (module.REFUSED_BELOW - 1e-9, None),
        (0.0, None),
    ):
        sure(confidence)
        said = drafted("q", one)
        assert said_of(said) == (answer, "chain" if answer else "none", answer is None)
        assert said.confidence == confidence
        assert len(shown(one)) == 2  # the evidence is shown all the same
        assert len(said.citations) == (2 if answer else 0)
    assert drafted("q", one, answer=False).abstained


def test_a_last_step_that_is_lost_is_not_answered_by_another_sink(sure):
    one = found(
        plan("first", "second of #1", "third of #1"), {**TABLE, "third": []}, passage("a"), passage("c")
    )
    said = drafted("q", one)
    assert said_of(said) == (None, "none", True)
    assert len(shown(one)) == 2
    assert said.citations == []


# Without a plan


# What is cited


def test_each_hop_of_the_best_chain_is_cited(sure):
    one = found(
        TWO,
        TABLE,
        passage("a", "It rained. Ana sang."),
        passage("b"),
        passage("c", "Rome is old. So it is."),
        passage("d"),
    )
    expected = [
        Citation("passage of a", "document a", "title a", "source a", "Ana sang."),
        Citation("passage of c", "document c", "title c", "source c", "Rome is old."),
    ]
    assert drafted("q", one).citations == expected


def test_only_passages_that_were_fetched_are_cited(sure):
    """One may have been forgotten meanwhile."""
    said = drafted("q", found(TWO, TABLE, passage("c"), passage("elsewhere")))
    assert [citation.passage for citation in said.citations] == ["passage of c"]
    assert said.answer == "Rome"
    assert drafted("q", found(TWO, TABLE)).citations == []


@pytest.mark.parametrize(
    ("text", "question", "answer", "sentence"),
    cases(__file__, "a_quote_is_the_sentence_a_pair_was_taken_from"),
)
def test_a_quote_is_the_sentence_a_pair_was_taken_from(text, question, answer, sentence):
    assert quote(text, question, answer) == sentence


def test_parallel_sequences_are_as_sure_as_the_least_sure_of_them():
    """Only the last one counted."""
    sides = plan("first", "alone", compare="Is #1 before #2?")

    def confidence(first, alone):
        table = {"first": [scored("a", first, "Ana")] if first else [], "alone": [scored("b", alone, "Bo")]}
        return drafted("q", found(sides, table)).confidence or 0.0

    assert confidence(0.2, 0.9) == confidence(0.9, 0.2) == confidence(0.2, 0.2) < confidence(0.9, 0.9)
    assert confidence(0, 0.9) == 0.0, "half of a comparison says nothing"
