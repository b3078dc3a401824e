"""Names, dates and titles by rule."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import cases

from gsw_graph.extract import rules
from gsw_graph.model.documents import Document, Passage
from gsw_graph.text.dates import find_dates
from gsw_graph.text.names import find_names, normalise, title_names


def document(*texts, title="", source="s"):
    return Document(source, title, tuple(Passage(text, title, n) for n, text in enumerate(texts)), "text")


def found(*texts, title=""):
    return {entity.key: entity for entity in rules.extract(document(*texts, title=title)).entities}


def names(text):
    return [name.text for name in find_names(text)]


def dates(text):
    return [(found.text, found.days) for found in find_dates(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    cases(__file__, "names_of_a_text"),
)
def test_names_of_a_text(text, expected):
    assert names(text) == expected


def test_a_word_that_begins_a_sentence_is_a_name_unless_the_document_has_it_in_lower_case():
    assert set(found("Lantern light. The lantern fell.")) == set()
    assert set(found("Lantern light.")) == {"lantern"}
    assert set(found("Lantern light.", "A lantern.")) == set()  # in another passage of the document
    assert set(found("Lantern light. It was Lantern. The lantern fell.")) == {
        "lantern"
    }  # once in the middle of a sentence
    assert set(found("Lantern Rock. The lantern fell on a rock.")) == {"lantern rock"}  # more than one word
    assert set(found("“Lantern” is a lantern", title="")) == set()
    assert set(found("Lantern. A lantern.", title="Lantern")) == {"lantern"}  # a title is a name
    starts = {n.text: n.starter for n in find_names("Alpha saw Beta: Gamma. (Delta) “Epsilon”\nZeta, Eta")}
    assert starts == {
        "Alpha": True,
        "Beta": False,
        "Gamma": True,
        "Delta": True,
        "Epsilon": True,
        "Zeta": True,
        "Eta": False,
    }
    assert [n.starter for n in find_names("The Alpha")] == [
        False
    ]  # what stands behind a function word begins nothing


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            ["so is_flag=True, or None; Don't. I'm here. Let's go."],
            set(),
        ),  # values, and function words with another
        (["We met at May's, and Will's pier."], {"may", "will"}),
        (["| Name | Note |\n| Ana | a note, a name |"], {"ana"}),  # cells begin with a capital
        (["```{admonition} Warning on names\nNo warning."], set()),
    ],
)
def test_what_begins_a_cell_or_is_a_value_is_no_name(texts, expected):
    assert set(found(*texts)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    cases(__file__, "every_shape_of_a_date", tuples=True),
)
def test_every_shape_of_a_date(text, expected):
    assert dates(text) == [(text, expected)]
    assert dates(f"It was, on {text}.") == [(text, expected)]
    assert dates(f"({text})") == [(text, expected)]
    assert not {text} & {t for t, _ in dates(f"x{text} {text}x")}  # part of a word


@pytest.mark.parametrize(
    "text",
    "31 February 1988|45 May 1988|0 May 1988|29 February 1900|1988-13-01|1988-00-10|1988-02-30|February 31, 1988|999|2100|21000|1,988|$1988|1988%|1988.5|-1988".split(
        "|"
    ),
)
def test_what_is_no_date(text):
    assert dates(text) == []


def test_a_date_is_an_entity_with_its_interval_and_no_part_of_a_name():
    entities = found(
        "The World Cup 1998 was in France. It ended on 12 July 1998.", "So 12 July 1998 it was, not 12 July."
    )
    assert set(entities) == {"world cup", "1998", "france", "12 july 1998"}
    day = entities["12 july 1998"]
    assert day.from_ == "1998-07-12"
    assert day.to == "1998-07-12"
    assert day.roles == (("date", ()),)
    assert day.passages == (0, 1)
    assert day.name == "12 July 1998"
    assert day.description == "date"
    cup = entities["world cup"]
    assert cup.from_ is None
    assert cup.to is None
    assert cup.roles == ()
    assert cup.passages == (0,)
    assert cup.titles == ()
    assert cup.description == ""


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Paris (mythology)", ["Paris (mythology)", "Paris"]),
        ("Springfield, Illinois", ["Springfield, Illinois", "Springfield"]),
        ("Mary (song), Part 2", ["Mary (song), Part 2", "Mary, Part 2", "Mary"]),
        ("A (b) C (d)", ["A (b) C (d)", "A C"]),
        ("Hank Snow", ["Hank Snow"]),
        ("10,000 Maniacs", ["10,000 Maniacs"]),
        ("(only)", ["(only)"]),
        ("open (never closed", ["open (never closed"]),
        ("", []),
    ],
)
def test_names_of_a_title(title, expected):
    assert list(title_names(title)) == expected


def test_titles_are_marked_in_the_passages_that_they_head():
    passages = (
        Passage("He saw Ana.", "Bo (town)", 0),
        Passage("Bo and Ana met.", "Bo (town)", 1),
        Passage("So Bo slept.", "", 2),
    )
    entities = {e.key: e for e in rules.extract(Document("s", "Bo (town)", passages, "text")).entities}
    assert entities["bo"].passages == (0, 1, 2)
    assert entities["bo"].titles == (0, 1)
    assert entities["bo (town"].passages == (0, 1)
    assert entities["bo (town"].titles == (0, 1)
    assert entities["ana"].passages == (0, 1)
    assert entities["ana"].titles == ()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["The pier was built by Will Ashby.", "It was led by May Ashby."], {"will ashby", "may ashby"}),
        (["Will Ashby built the pier."], {"will ashby"}),
        (["Will Ashby build a pier?"], {"ashby"}),  # a question
        (["He saw Will Ashby. Will Ashby build a pier?"], {"will ashby"}),  # the rest of the document tells
        (["There we met Per Lind and An Tran."], {"per lind", "an tran", "per lind and an tran"}),
        (["Per Lind was born in Bergen. In Bergen he died."], {"per lind", "bergen"}),
        (["An Tran sang. An Oslo court sat."], {"an tran", "oslo"}),
        (
            ["In April Ashby left. We met April Stone and June Carter."],
            {"ashby", "april stone", "june carter", "april stone and june carter"},
        ),
        (["So Mark Faith met Rose Hope."], {"mark faith", "rose hope"}),
        (
            ["The pier.[3] In Dale it was.[4] Of York."],
            {"dale", "york"},
        ),  # after a reference a sentence begins
    ],
)
def test_case_03_a_function_word_is_a_first_name_where_the_text_says_so(texts, expected):
    assert set(found(*texts)) - {"pier"} == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            [
                "The aqueduct of the valley was designed by Helga\nBrandstrom, who came late.",
                "So Helga Brandstrom left.",
            ],
            "helga brandstrom",
        ),
        (
            [
                "by Oskar\u00a0Lindqvist",
                "by Oskar\u2009Lindqvist",
                "by Oskar  Lindqvist",
                "by Oskar\tLindqvist",
            ],
            "oskar lindqvist",
        ),
        (["by Sean O\u2019Malley", "by Sean O'Malley", "by Sean O\u02bcMalley"], "sean o'malley"),
        (["by Jean\u2011Luc Moreau", "by Jean\u2010Luc Moreau", "by Jean-Luc Moreau"], "jean-luc moreau"),
        (["by Ida Lind\u00adqvist", "by Ida Lind\u200bqvist", "by Ida Lindqvist"], "ida lindqvist"),
        (["by Lech Wa\u0142\u0119sa", "by Lech Walesa"], "lech walesa"),
        (["by S\u00f8ren Stra\u00dfe", "by Soren Strasse"], "soren strasse"),
    ],
)
def test_one_name_however_it_is_typed(texts, expected):
    assert {key: entity.passages for key, entity in found(*texts).items()} == {
        expected: tuple(range(len(texts)))
    }


@pytest.mark.parametrize(
    "text",
    [
        "a cost of 1200",
        "it cost 1200",
        "1200 people",
        "with 1200 pipes",
        "page 1200",
        "a population of about 1900",
        "#1200",
        "Amount: 1200",
        "a price (in marks): 1200",
    ],
)
def test_a_number_that_counts_or_costs_is_no_year(text):
    assert dates(f"It had {text}.") == []


TEXT = st.text(max_size=200) | st.lists(
    st.sampled_from(
        [
            "The ",
            "Ana",
            " of ",
            "the ",
            "St. ",
            "J. ",
            "1988",
            " May ",
            "12 ",
            ", ",
            ". ",
            "'s",
            "(",
            ")",
            " & ",
            "\n",
            "é",
            "東京",
            "C++",
            "\ufffd",
        ]
    ),
    max_size=25,
).map("".join)


@given(st.lists(TEXT, max_size=4), TEXT)
@settings(max_examples=300, deadline=None)
def test_whatever_the_text_a_workspace_is_sound_and_the_same_again(texts, title):
    given_document = document(*texts, title=title)
    workspace = rules.extract(given_document)
    assert rules.extract(given_document) == workspace
    assert workspace.document == given_document
    assert workspace.extractor == "rules"
    keys = [entity.key for entity in workspace.entities]
    assert keys == sorted(set(keys))
    for entity in workspace.entities:
        assert entity.key
        assert entity.key == normalise(entity.name)
        assert entity.passages
        assert list(entity.passages) == sorted(set(entity.passages))
        assert set(entity.titles) <= set(entity.passages) <= set(range(len(texts)))
        assert (entity.from_ is None) == (entity.to is None) == (not entity.roles)
        if entity.from_ and entity.to:
            assert date.fromisoformat(entity.from_) <= date.fromisoformat(entity.to)
