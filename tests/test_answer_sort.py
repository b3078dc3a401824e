"""What sort of a kind a question asks for, and whether a pair's answer is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.pair_score import FineType, expected_fine_type, fine_type_match


@pytest.mark.parametrize(
    ("question", "pair", "fit"),
    [
        ("In which county is #1?", "In which county is Oakville?", 1),
        ("In which county is #1?", "In which country is Oakville?", -1),
        ("What town is #1 in?", "In which city is the mill?", 1),  # one sort
        ("What is the name of the state where #1 is?", "Which state borders #1?", 1),
        ("What part of #1 is Rochester in?", "In which region is Rochester?", 1),
        ("What part of #1 is Rochester in?", "Of which county is Rochester the seat?", -1),
        ("Which countries did #1 visit?", "Which country did Ana visit?", 1),
        ("Which American football team won?", "In which league did Bo play?", -1),
        ("Which American football team won?", "In which city did Bo play?", 0),  # a place is another kind
        ("What kind of school is #1?", "Which university is old?", 0),
        ("Where is #1?", "In which country is Oakville?", 0),
        ("Who led #1?", "Which country led?", 0),
        ("#1 >> located in the administrative territorial entity", "In which county is Oakville?", 1),
        ("#1 >> located in the administrative territorial entity", "In which country is Oakville?", -1),
        ("#1 >> place of birth", "In which city was Ana born?", 1),
        ("#1 >> place of birth", "In which country was Ana born?", -1),
        ("#1 >> place of birth", "In which county was Ana born?", 0),  # it may be
        ("#1 >> country", "In which city is it?", -1),
        ("Which Country >> director", "In which country is it?", 0),  # a name does not ask
        ("#1 >> member of sports team", "In which league did Bo play?", -1),
    ],
)
def test_the_noun_of_the_pair_says_its_sort(question, pair, fit):
    assert fine_type_match(expected_fine_type(question), pair, ["Xy"], []) == fit


def test_where_the_pair_asks_for_none_its_answer_says_it():
    county = expected_fine_type("In which county is #1?")
    assert fine_type_match(county, "Where is it?", ["Warren County"], []) == 1
    assert fine_type_match(county, "Where is it?", ["Iowa City"], []) == -1
    assert fine_type_match(county, "Where is it?", ["County"], []) == 0  # a word alone may be a name
    assert fine_type_match(county, "Where is it?", ["Warren"], ["location: county in Iowa"]) == 1
    assert fine_type_match(county, "Where is it?", ["Warren"], ["location: city; place"]) == -1
    assert (
        fine_type_match(county, "Where is it?", ["Warren"], ["location: capital of the county"]) == -1
    )  # its head


@given(st.text(), st.text(), st.lists(st.text()), st.lists(st.text()))
def test_any_text_has_a_fit(question, pair, answers, descriptions):
    assert fine_type_match(expected_fine_type(question), pair, answers, descriptions) in (-1, 0, 1)


def test_nothing_asked_is_nothing_wrong():
    assert expected_fine_type("") == expected_fine_type("#1 >>") == FineType()
