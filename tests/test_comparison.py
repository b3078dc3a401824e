"""Questions that compare: their sides, what of them is compared, and what follows from the cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from contract import HOSTILE

from gsw_graph.naming.numbers import find_numbers
from gsw_graph.retrieve.comparison.deciding import decide
from gsw_graph.retrieve.comparison.described import asks_for, subject_of
from gsw_graph.retrieve.comparison.reading import read
from gsw_graph.retrieve.facts.values import Value, dated
from gsw_graph.retrieve.times.intervals import spans

EXAMPLES = Path(__file__).parents[1] / "examples"
ROWS = ["Ada", "Bo"]


def date(text, edge="whole"):
    return dated(spans(text)[0], edge)


def number(text):
    return Value(text, number=next(find_numbers(text)))


@pytest.mark.parametrize(
    ("question", "sides", "asks", "rule", "yes_no"),
    [
        ("Who was born first, Ada Lund or Bo Grau?", ("Ada Lund", "Bo Grau"), "When was {} born?", "first", False),
        ("Which is older, the Stone Pier or the Cray Mill?", ("the Stone Pier", "the Cray Mill"), "When was {} founded, built or born?", "first", False),
        ("Who is younger: Ada Lund or Bo Grau?", ("Ada Lund", "Bo Grau"), "When was {} born?", "last", False),
        ("Did Ada Lund die before Bo Grau?", ("Ada Lund", "Bo Grau"), "When did {} die?", "first", True),
        ("Did Ada Lund die after Bo Grau?", ("Ada Lund", "Bo Grau"), "When did {} die?", "last", True),
        ("Was the Stone Pier finished earlier than the Cray Mill?", ("the Stone Pier", "the Cray Mill"), "When was {} finished?", "first", True),
        ("Were Ada Lund and Bo Grau born in the same town?", ("Ada Lund", "Bo Grau"), "Where was {} born?", "same", True),
        ("Were both Ada Lund and Bo Grau born in Halder?", ("Ada Lund", "Bo Grau"), "Where was {} born?", "is", True),
        ("Did Ada Lund and Bo Grau have the same teacher?", ("Ada Lund", "Bo Grau"), "Who was the teacher of {}?", "same", True),
        ("Which had the larger crew, the Peregrine or the Wren?", ("the Peregrine", "the Wren"), "How many crew did {} have?", "more", False),
        ("Which is lighter, the Peregrine or the Wren?", ("the Peregrine", "the Wren"), "How many tons does {} weigh?", "less", False),
    ],
)
def test_a_comparison_is_read(question, sides, asks, rule, yes_no):
    found = read(question)
    assert found is not None
    assert (found.sides, found.attribute.asks, found.rule, found.yes_no) == (sides, asks, rule, yes_no)


@pytest.mark.parametrize("question", ["Who built the Stone Pier?", "Was the pier built in 1902 or not at all?", "Is it so?", "Who was abbot before 1850?", "Which mill is it?"])
def test_what_compares_nothing_is_left_alone(question):
    assert read(question) is None


@pytest.mark.parametrize("line", (EXAMPLES / "comparative.jsonl").read_text(encoding="utf-8").splitlines())
def test_every_comparative_example_is_one(line):
    assert read(json.loads(line)["question"]) is not None


@pytest.mark.parametrize(
    "question",
    [
        "Who lived longer, Tobias Quennell, Hendrik Vaas or Josef Brandl?",
        "Which ship was larger, the Corrigan, the Halcyon Jane or the Peregrine?",
        "Who was born first, Ana Ruiz or Bo Lind or Cy Marr?",
        "Were Ana Ruiz, Bo Lind and Cy Marr born in the same town?",
        "Who was not born first, Ana Ruiz or Bo Lind?",
        "Which didn't close first, Hallam Yard or the Three Herons Brewery?",
        "Is Ana Ruiz older than Hallam Yard?",
    ],
)
def test_what_two_sides_do_not_say_is_left_open(question: str) -> None:
    assert read(question) is None


def test_the_age_of_people_is_their_birth() -> None:
    for question in ("Who was younger, Ana Ruiz or Bo Lind?", "Who is older, Ana Ruiz or Bo Lind?"):
        found = read(question)
        assert found is not None
        assert (found.attribute.name, found.attribute.asks) == ("born", "When was {} born?")
    yard = read("Which is older, the Ferrant Foundry or Hallam Yard?")
    assert yard is not None
    assert yard.attribute.name == "began"


def test_a_described_side_is_asked_for():
    asked = asks_for("the builder of the Marrow Bridge")
    assert asked is not None
    assert (asked.text, asked.subject) == ("Who was the builder of the Marrow Bridge?", "Marrow Bridge")
    asked = asks_for("the yard that built the Halcyon Jane")
    assert asked is not None
    assert asked.text == "Which yard built the Halcyon Jane?"
    assert asks_for("the palm house of the Maréval Garden") is None
    assert subject_of("the palm house of the Maréval Garden") == "Maréval Garden"
    assert asks_for("Ada Lund") is None
    assert asks_for("the Stone Pier") is None


@pytest.mark.parametrize(
    ("question", "one", "other", "answer"),
    [
        ("Who was born first, Ada or Bo?", date("1850"), date("3 May 1851"), "Ada"),
        ("Who was born first, Ada or Bo?", date("1850"), date("3 May 1850"), None),  # it may be either
        ("Who was born last, Ada or Bo?", date("1850"), date("1851"), "Bo"),
        ("Which was built first, Ada or Bo?", date("1864 to 1867"), date("1865 to 1870"), "Ada"),  # by their ends
        ("Did Ada die before Bo?", date("1850"), date("1849"), "no"),
        ("Which is heavier, Ada or Bo?", number("3.8 tons"), number("900 kilograms"), "Ada"),
        ("Which is heavier, Ada or Bo?", number("3.8 tons"), number("900 metres"), None),
        ("Which is heavier, Ada or Bo?", number("two tons"), number("2 tons"), None),
        ("Which has more rooms, Ada or Bo?", number("31 rooms"), number("22"), "Ada"),
        ("Which cost more, Ada or Bo?", number("900 crowns"), number("800 pounds"), None),
        ("Who lived longer, Ada or Bo?", date("1819-1901", "life"), date("1829-1896", "life"), "Ada"),
        ("Were Ada and Bo born in the same town?", Value("Maréval"), Value("the Mareval"), "yes"),
        ("Were Ada and Bo born in the same town?", Value("Halder"), Value("Fennick"), "no"),
        ("Were both Ada and Bo born in Halder?", Value("Halder"), Value("Fennick"), "no"),
        ("Were both Ada and Bo born in Halder?", Value("Halder"), Value("Halder, Norland"), None),  # it may be the same Halder
        ("Were Ada and Bo born in the same town?", Value("Halder"), Value("Halder, Norland"), None),
        ("Were Ada and Bo born in the same year?", date("3 May 1850"), date("7 June 1850"), "yes"),
        ("Were Ada and Bo born in the same year?", date("1850"), date("7 June 1850"), "yes"),
        ("Were Ada and Bo born in the same year?", date("3 May 1850"), date("3 May 1851"), "no"),
        ("Were Ada and Bo born in the same year?", date("1850s"), date("7 June 1850"), None),
        ("Were Ada and Bo born in the same decade?", date("1850s"), date("7 June 1850"), "yes"),
        ("Were Ada and Bo born in the same month?", date("1850"), date("7 June 1850"), None),
        ("Were Ada and Bo born on the same day?", date("3 May 1850"), date("7 June 1850"), "no"),
        ("Who was born first, Ada or Bo?", date("1850"), None, None),
    ],
)
def test_what_follows_from_the_cells(question, one, other, answer):
    question = question.replace("Ada", "Ada Lund").replace("Bo", "Bo Grau")
    comparison = read(question)
    assert comparison is not None
    found = decide(comparison, ROWS, [one, other])
    assert (found.answer if found else None) == answer


def test_why_is_said_in_words():
    for question, one, other, said in (
        ("Which was built first, Ada Lund or Bo Grau?", date("1865 to 1867"), date("1864"), "Bo Grau (1864) is earlier than Ada Lund (1865 to 1867)"),
        ("Which is heavier, Ada Lund or Bo Grau?", number("3.8 tons"), number("900 kilograms"), "Ada Lund: 3.8 tons; Bo Grau: 900 kilograms"),
        ("Who lived longer, Ada Lund or Bo Grau?", date("1819-1901", "life"), date("1829-1896", "life"), "Ada Lund: 82 years; Bo Grau: 67 years"),
    ):
        comparison = read(question)
        assert comparison is not None
        assert decide(comparison, ["Ada Lund", "Bo Grau"], [one, other]).said == said


def test_an_open_edge_is_no_date():
    assert date("until 1925", "begin") is None
    assert date("since 1922", "end") is None
    assert date("1922", "life") is None


@pytest.mark.parametrize("text", [*HOSTILE, "and " * 2000, "A or " * 2000, "the " * 2000, "Which is older, " * 300])
def test_hostile_questions_are_questions(text):
    for question in (text, f"Which is older, {text} or {text}?", f"Were {text} and {text} born in the same town?", f"Did {text} die before {text}?"):
        found = read(question)
        for side in found.sides if found else ():
            asks_for(side)
            subject_of(side)
