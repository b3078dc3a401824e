"""Stretches of time in texts, numbers in words, and what a question says of time: rules that need no memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from contract import HOSTILE
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.naming.numbers import find_numbers
from gsw_graph.results import RankedPassage
from gsw_graph.retrieve.facts.sentences import lines_of
from gsw_graph.retrieve.times.answers import answer_in
from gsw_graph.retrieve.times.intervals import is_before, spans
from gsw_graph.retrieve.times.reading import bounds, holds, read

EXAMPLES = Path(__file__).parents[1] / "examples"
YEAR_1850 = ("1850-01-01", "1850-12-31")


@pytest.mark.parametrize(
    ("text", "starts", "ends"),
    [
        ("Ada (1819-1901) was", ("1819-01-01", "1819-12-31"), ("1901-01-01", "1901-12-31")),
        ("(12 April 1830 - 7 July 1898)", ("1830-04-12", "1830-04-12"), ("1898-07-07", "1898-07-07")),
        ("from 1843 until May 1879", ("1843-01-01", "1843-12-31"), ("1879-05-01", "1879-05-31")),
        ("built between 1864 and 1867", ("1864-01-01", "1864-12-31"), ("1867-01-01", "1867-12-31")),
        ("the winter of 1881-82", ("1881-01-01", "1881-12-31"), ("1882-01-01", "1882-12-31")),
        ("since 1922 it is", ("1922-01-01", "1922-12-31"), ("9999-12-31", "9999-12-31")),
        ("until 1925", ("0001-01-01", "0001-01-01"), ("1925-01-01", "1925-12-31")),
        ("in the 1880s", ("1880-01-01", "1889-12-31"), ("1880-01-01", "1889-12-31")),
    ],
)
def test_a_range_is_one_stretch(text, starts, ends):
    (found,) = spans(text)
    assert (found.starts, found.ends) == (starts, ends)
    assert text[found.begin : found.end] == found.text


@pytest.mark.parametrize("text", ["in 1868 and 1870", "1870, 1868", "1868; then 1871", "from 1903 to 1900"])
def test_two_dates_that_are_no_range_stay_two(text):
    assert len(spans(text)) == 2


def test_how_stretches_lie_to_each_other():
    assert is_before(("1800-01-01", "1849-12-31"), YEAR_1850)
    assert not is_before(YEAR_1850, YEAR_1850)
    (years,) = spans("1874-1902")
    assert years.years == 28
    assert spans("since 1922")[0].years is None
    assert spans("1922")[0].years is None


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [("2,914 pipes", 2914, "pipes"), ("3.8 tons", 3.8, "tons"), ("a crew of thirty-one", 31, ""), ("almost two tons", 2, "tons"), ("three hundred and forty-two men", 342, "men")],
)
def test_numbers_in_digits_and_words(text, value, unit):
    (found,) = find_numbers(text)
    assert (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize(
    ("question", "relation", "interval", "rest"),
    [
        ("Who led the choir before 1850?", "before", YEAR_1850, "Who led the choir?"),
        ("Who led the choir after May 1850?", "after", ("1850-05-01", "1850-05-31"), "Who led the choir?"),
        ("Which bridge was built between 1840 and 1850?", "between", ("1840-01-01", "1850-12-31"), "Which bridge was built?"),
        ("What burned in the 1880s?", "during", ("1880-01-01", "1889-12-31"), "What burned?"),
        ("Who ruled in the 12th century?", "during", ("1101-01-01", "1200-12-31"), "Who ruled?"),
        ("Who was still abbot in 1850?", "during", YEAR_1850, "Who was abbot?"),
    ],
)
def test_a_condition_is_read(question, relation, interval, rest):
    found = read(question)
    assert (found.relation, found.interval, found.rest) == (relation, interval, rest)


@pytest.mark.parametrize(
    ("question", "relation", "event"),
    [
        ("Which mill was built after the storm of the century?", "after", "the storm of the century"),
        ("Who was abbot when the bell was cast?", "during", "the bell was cast"),
        ("Who kept the light until the war ended?", "before", "the war ended"),
        ("Did Ada die before Bo?", None, None),
        ("When was the mill built?", None, None),
    ],
)
def test_an_event_is_given_as_its_words(question, relation, event):
    found = read(question)
    assert (found.relation, found.event, found.interval) == (relation, event, None)


def test_order_and_what_is_wanted():
    assert read("Which mill was built first?").order == "first"
    assert read("What is the latest mill?").order == "last"
    assert read("Who led the First Expedition?").order is None  # a name
    assert read("When did it open?").wants == "date"
    assert read("For how many years did it run?").wants == "duration"
    assert not read("Who built the mill?").is_temporal


@given(st.sampled_from(["before", "after", "during", "between"]), st.dates(), st.dates(), st.dates(), st.dates())
def test_bounds_say_what_the_relation_says(relation, a, b, c, d):
    """What Cypher compares is what Python compares."""
    days, condition = (tuple(sorted(one.isoformat() for one in two)) for two in ((a, b), (c, d)))
    begins, ends = bounds(relation, condition)
    if condition[0] > "0001-01-01" and condition[1] < "9999-12-31":
        assert (begins[0] <= days[0] <= begins[1] and ends[0] <= days[1] <= ends[1]) == holds(relation, days, condition)


@pytest.mark.parametrize("line", (EXAMPLES / "temporal.jsonl").read_text(encoding="utf-8").splitlines())
def test_every_temporal_example_has_a_time(line):
    assert read(json.loads(line)["question"]).is_temporal


@pytest.mark.parametrize(
    ("question", "title", "text", "answer"),
    [
        ("Who founded a mill?", "Halder", "The mill was founded in 1874 by the printer Wilhelmina Aske.", "Wilhelmina Aske"),
        ("Which mill was closed?", "Halder", "It has the Mill of the Nine. The mill was closed in 1908.", "Mill of the Nine"),
        ("What was damaged by fire?", "Halder", "The old wheel was damaged by fire in 1938.", "The old wheel"),
        ("Which ship was launched?", "Peregrine (yacht)", "She was a ship launched in 1859.", "Peregrine"),
        ("Why was it launched?", "Peregrine", "She was launched in 1859.", None),
    ],
)
def test_a_sentence_answers(question, title, text, answer):
    line = lines_of([RankedPassage("p", title, text, "s", "d", 1.0)])[-1]
    assert answer_in(question, line) == answer


@pytest.mark.parametrize("text", [*HOSTILE, "(" * 3000, "1850-" * 2000, "before " * 2000, "in the 1850s " * 500, "one hundred " * 1000])
def test_hostile_text_is_text(text):
    read(f"Who was there before {text}?")
    read(text)
    for one in spans(text):
        assert text[one.begin : one.end] == one.text
    list(find_numbers(text))
    passage = RankedPassage("p", text[:100], text, "s", "d", 1.0)
    for line in lines_of([passage])[:5]:
        answer_in(f"Which mill {text[:200]}?", line)
