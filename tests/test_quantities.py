"""Numbers, days and units are the same however they are written."""

from __future__ import annotations

import json

import pytest
import samples

from gsw_graph.ask.answer.evidence import EvidenceLine
from gsw_graph.ask.answer.reader import supporting_lines
from gsw_graph.ask.retrieve.names.linking import lucene_words
from gsw_graph.ask.retrieve.names.rerank import QueryTerms
from gsw_graph.model.results import RankedPassage
from gsw_graph.text.quantities import quantities, same_words

TEXTS = json.loads((samples.DATA / "quantities.json").read_text(encoding="utf-8"))


def answers(kind):
    """Answers, each with a text that says it, or that does not."""
    return [(answer, row["text"]) for row in TEXTS[kind] for answer in row["answers"]]


def line(text):
    return EvidenceLine(text, RankedPassage("p", "t", text, "s", "d", 0.5))


@pytest.mark.parametrize(("answer", "text"), answers("same"))
def test_case_44_an_answer_is_supported_in_every_form(answer, text):
    assert supporting_lines("What was it?", answer, [0], [line(text)], is_comparison=False) == [0]


@pytest.mark.parametrize(("answer", "text"), answers("other"))
def test_case_44_another_number_supports_nothing(answer, text):
    assert supporting_lines("What was it?", answer, [0], [line(text)], is_comparison=False) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "..,,",
        "1" * 400,
        "1,2,3,4",
        "1.2.3.4.5",
        "99/99/9999",
        "31 February 1904",
        "IIII",
        "hundred",
        "a",
        "½",
        "１２",
        "٣",
        "one " * 400,
        "9" * 15 + " trillion",
        "0",
        "0.0",
        "--5",
        "$",
        "€ €",
    ],
)
def test_any_text_is_read(text):
    first = quantities(text)
    for part in first.parts:
        assert part
    assert len(first.rest) == len(text)
    assert quantities(first.rest).parts == (), "nothing is left"
    same_words(text)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Which dock employed 34700 people?", "34,700"),
        ("Which dock employed 34 700 people?", "34,700"),
        ("Which dock employed 34,700 people?", "34700"),
        ("Which dock opened on 1887-05-09?", "may"),
        ("Which dock opened on 9 May 1887?", "05"),
    ],
)
def test_case_44_a_search_has_other_forms(question, words):
    assert words in lucene_words(question).split()


def test_case_44_words_of_a_question_are_found_in_other_forms():
    texts = [
        "It employed 34,700 people, from 9 March 1887.",
        "It employed 347,000 people, from 5 April 1887.",
    ]
    for question in ("34700 people", "34 700 people", "1887-03-09", "March 9th, 1887"):
        terms = QueryTerms(question, texts)
        assert [terms.coverage(text) == 1 for text in texts] == [True, False], question
