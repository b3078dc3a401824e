"""What tells that two names are one, without a graph: spellings, what texts state, kinds, groups."""

from __future__ import annotations

import pytest

from gsw_graph.load.merging import (
    ConceptIndex,
    Name,
    Pair,
    abbreviates,
    find_pairs,
    find_statements,
    group_pairs,
    same_letters,
)
from gsw_graph.text.names import normalise

Passage = tuple[str, str, dict[str, str]]  # title, text, {name: role}


def world(*passages: Passage) -> ConceptIndex:
    """Each passage a document of its own."""
    rows = []
    for number, (title, text, names) in enumerate(passages):
        found = [
            Name(normalise(name), name, normalise(name) == normalise(title), (role,) if role else ())
            for name, role in names.items()
        ]
        rows.append((f"d{number}", text, found))
    return ConceptIndex(rows)


def merged(*passages: Passage) -> dict[str, set[str]]:
    index = world(*passages)
    groups, _ = group_pairs(index, find_pairs(index))
    return {canonical: set(aliases) for canonical, aliases in groups}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("J. R. R. Halloran", "JRR Halloran", True),
        ("Kim Il-sung", "Kim Il Sung", True),
        ("St. Louis, Missouri", "Saint Louis, Missouri", True),
        ("Second Tide War", "2nd Tide War", True),
        ("Harbour Theatre", "Harbor Theater", True),
        ("Tide & Chain", "Tide and Chain", True),
        ("Ålesund Søndre", "Alesund Sondre", True),
        ("F-16 Falcon", "F16 Falcon", True),
        ("A.C.E.", "Ace", False),  # initials are no word
        ("the letter S", "letters", False),
        ("Li Na", "Lina", False),
        ("Centre", "Center", False),
        ("10-11", "1011", False),
    ],
)
def test_names_with_the_same_letters(one: str, other: str, same: bool) -> None:
    assert same_letters(normalise(one), normalise(other), (one, other)) is same
    assert same_letters(normalise(other), normalise(one), (other, one)) is same


def test_abbreviations() -> None:
    assert abbreviates("who", "world health organization")
    assert abbreviates("caricom", "caribbean community")
    assert not abbreviates("fedex", "fedex express")
    assert not abbreviates("who", "world trade organization")


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Eva Lund, also known as Tilly Grau, sang.", True),
        ("Eva Lund (better known as Tilly Grau) sang.", True),
        ("Eva Lund (born Tilly Grau) sang.", True),
        ("Eva Lund knew Tilly Grau.", False),
        ("Eva Lund, known as Tilly Grau the younger of two, sang.", False),  # the name goes on
        ("The house of Eva Lund, also known as Tilly Grau, fell.", False),  # the house may be meant
        ("The mother of Eva Lund, named Tilly Grau, sang.", False),
    ],
)
def test_what_a_text_states(text: str, stated: bool) -> None:
    names = [Name(normalise(name), name, False, ()) for name in ("Eva Lund", "Tilly Grau")]
    assert [(first, second) for first, second, _, _ in find_statements(text, names)] == (
        [("eva lund", "tilly grau")] if stated else []
    )


def test_contradictions_outweigh_the_name() -> None:
    for one, other, role in (
        ("King Olaf II", "King Olaf III", "king"),
        ("Olaf Berg Jr.", "Olaf Berg Sr.", "person"),
        ("Tide 1871", "Tide-1872", "work"),
    ):
        assert merged(("a", "", {one: role}), ("b", "", {other: role})) == {}
    place, person = ("a", "", {"Van Alen": "city"}), ("b", "", {"Van-Alen": "person"})
    assert merged(place, person) == {}
    assert merged(place, ("b", "", {"Van-Alen": "city"})) == {"van alen": {"van-alen"}}
    born = [("a", f"Eva Lund (born {year}) sang.", {"Eva Lund": "person"}) for year in (1900,)]
    assert merged(*born, ("b", "Eva-Lund (born 1950) sang.", {"Eva-Lund": "person"})) == {}


def test_two_titles_of_passages_are_two_things_until_somebody_says_otherwise() -> None:
    index = world(("Stone Pier", "", {"Stone Pier": "film"}), ("Stone-Pier", "", {"Stone-Pier": "film"}))
    groups, doubtful = group_pairs(index, find_pairs(index))
    assert (groups, [(pair.first, pair.second) for pair in doubtful]) == ([], [("stone pier", "stone-pier")])


def test_an_abbreviation_is_that_of_one_name_only() -> None:
    tide = ("a", "The World Tide Office (WTO) prints.", {"World Tide Office": "office", "WTO": ""})
    trout = ("b", "The Western Trout Order (WTO) fishes.", {"Western Trout Order": "club", "WTO": ""})
    assert merged(tide) == {"world tide office": {"wto"}}
    assert merged(tide, trout) == {}
    lost = ("c", "WTO fell.", {"WTO": ""})
    assert merged(tide, lost) == {}, "of what kind the other is nobody knows"
    club = ("c", "WTO fell.", {"WTO": "organisation"})
    tide = ("a", "The World Tide Office (WTO) prints.", {"World Tide Office": "organisation", "WTO": ""})
    assert merged(tide, club) == {"wto": {"world tide office"}}


def test_what_only_a_chain_joins_stays_apart() -> None:
    index = world(("a", "", dict.fromkeys(("One", "Two", "Three"), "")), ("b", "", {"Two": ""}))
    chain = [Pair("one", "two", 0.9, ("alias stated",)), Pair("three", "two", 0.9, ("alias stated",))]
    assert group_pairs(index, chain)[0] == [("two", {"one": chain[0], "three": chain[1]})]
    longer = [*chain, Pair("four", "three", 0.9, ("alias stated",))]
    index = world(("a", "", dict.fromkeys(("One", "Two", "Three", "Four"), "")), ("b", "", {"Two": ""}))
    assert {canonical: set(aliases) for canonical, aliases in group_pairs(index, longer)[0]} == {
        "two": {"one", "three"}
    }
