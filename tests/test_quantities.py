"""Numbers, days and units are the same however they are written."""

from __future__ import annotations

import pytest

from gsw_graph.ask.answer.evidence import Item
from gsw_graph.ask.answer.reader import supported
from gsw_graph.ask.retrieve.names.linking import lucene_words
from gsw_graph.ask.retrieve.names.rerank import QueryTerms
from gsw_graph.model.results import RankedPassage
from gsw_graph.text.quantities import quantities, same_words

SAME = [  # an answer, and a text that says it
    *[(answer, "The dock employed 34,700 people in 1911.") for answer in ("34700", "34,700", "34 700", "34.700", "34\u202f700", "34'700", "34.7 thousand", "34,700 people")],
    *[(answer, "Der Hafen beschäftigte im Jahr 1911 genau 34.700 Menschen und lag 2,5 km vor der Stadt.") for answer in ("34700", "34,700", "34.700", "2.5 km", "2,5 km", "2.5 kilometres")],
    *[(answer, "It opened on 9 May 1887.") for answer in ("1887-05-09", "9 May 1887", "May 9, 1887", "May 9th, 1887", "the 9th of May 1887", "09.05.1887", "9.5.1887", "9. Mai 1887", "le 9 mai 1887", "9 de mayo de 1887", "9/5/1887", "May 1887", "1887", "9 May")],
    *[(answer, text) for text in ("It opened on 1887-05-09.", "It opened on 9.5.1887.", "It opened on May 9th, 1887.", "Es wurde am 9. Mai 1887 eröffnet.") for answer in ("9 May 1887", "May 9, 1887", "1887-05-09")],
    ("twelve", "It has 12 arches."), ("12", "It has twelve arches."), ("12", "Sie hat zwölf Bögen."), ("25", "It has twenty-five rooms."), ("120", "There are one hundred and twenty of them."),
    ("1.5 million", "It sold 1,500,000 copies."), ("1,500,000", "It sold 1.5 million copies."), ("two million", "It sold 2,000,000 copies."),
    ("50 %", "It fell by 50 percent."), ("50 percent", "It fell by 50%."), ("fifty per cent", "It fell by 50 %."), ("0.5", "It fell by 50 %."),
    ("3rd", "She was the third of nine."), ("third", "She came 3rd."), ("19th century", "It is of the nineteenth century."), ("nineteenth century", "It is of the XIX century."), ("19th century", "Elle est du XIXe siècle."),
    ("World War II", "It burned in World War 2."), ("World War 2", "It burned in World War II."),
    ("12 km", "It is 12 kilometres long."), ("12 kilometers", "It is 12 km long."), ("twelve kilometres", "It is 12km long."), ("40 miles", "It is forty miles off."),
    ("500 dollars", "It cost $500."), ("$500", "It cost 500 dollars."), ("€20", "It costs 20 euros."), ("20 EUR", "It costs €20."), ("US$ 1.5 million", "It cost 1,500,000 dollars."),
    ("-5 °C", "It was -5 degrees."), ("1980s", "It closed in the 1980s."), ("version 3.12.1", "It runs on version 3.12.1."), ("00501", "The postcode is 00501."), ("555-1234", "Call 555-1234."), ("10:30", "It leaves at 10:30."),
]  # fmt: skip
OTHER = [
    *[(answer, "The dock employed 34,700 people in 1911.") for answer in ("700", "34", "347", "3,470", "347,000", "34.7", "34,070", "1912", "11")],
    *[(answer, "It opened on 9 May 1887.") for answer in ("9 May 1878", "8 May 1887", "1887-09-05", "5 May 1887", "June 1887", "1888", "9 June", "19 May 1887", "87")],
    ("9 May 1887", "It opened on 9 May 1878, and burned in 1887."), ("9 May 1887", "It opened in May 1887."),
    ("12", "It has 120 arches."), ("twelve", "It has 112 arches."), ("20", "It has twenty-five rooms."), ("1.5", "It sold 1.5 million copies."), ("5 million", "It sold 1.5 million copies."),
    ("50 %", "It fell by 5 %."), ("3", "She was the third of nine."), ("18th century", "It is of the nineteenth century."), ("12 km", "It is 12 miles long."), ("500 euros", "It cost $500."),
    ("5 °C", "It was -5 °C."), ("1990s", "It closed in the 1980s."), ("501", "The postcode is 00501."),
]  # fmt: skip


def line(text: str) -> Item:
    return Item(text, RankedPassage("p", "t", text, "s", "d", 0.5))


@pytest.mark.parametrize(("answer", "text"), SAME)
def test_case_44_an_answer_is_supported_in_every_form(answer: str, text: str) -> None:
    assert supported("What was it?", answer, [0], [line(text)], judged=False) == [0]


@pytest.mark.parametrize(("answer", "text"), OTHER)
def test_case_44_another_number_supports_nothing(answer: str, text: str) -> None:
    assert supported("What was it?", answer, [0], [line(text)], judged=False) == []


@pytest.mark.parametrize("text", ["", "x", "..,,", "1" * 400, "1,2,3,4", "1.2.3.4.5", "99/99/9999", "31 February 1904", "IIII", "hundred", "a", "½", "１２", "٣", "one " * 400, "9" * 15 + " trillion", "0", "0.0", "--5", "$", "€ €"])
def test_any_text_is_read(text: str) -> None:
    first = quantities(text)
    assert all(part for part in first.parts)
    assert len(first.rest) == len(text)
    assert quantities(first.rest).parts == (), "nothing is left"
    same_words(text)


@pytest.mark.parametrize(("question", "words"), [("Which dock employed 34700 people?", "34,700"), ("Which dock employed 34 700 people?", "34,700"), ("Which dock employed 34,700 people?", "34700"), ("Which dock opened on 1887-05-09?", "may"), ("Which dock opened on 9 May 1887?", "05")])
def test_case_44_a_search_has_other_forms(question: str, words: str) -> None:
    assert words in lucene_words(question).split()


def test_case_44_words_of_a_question_are_found_in_other_forms() -> None:
    texts = ["It employed 34,700 people, from 9 March 1887.", "It employed 347,000 people, from 5 April 1887."]
    for question in ("34700 people", "34 700 people", "1887-03-09", "March 9th, 1887"):
        terms = QueryTerms(question, texts)
        assert [terms.coverage(text) == 1 for text in texts] == [True, False], question
