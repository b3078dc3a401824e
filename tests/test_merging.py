"""What tells that two names are one, without a graph: spellings, what texts state, kinds, groups."""

from __future__ import annotations

import pytest
from scripted_chat import ScriptedChat

from gsw_graph.merging import judging
from gsw_graph.merging.groups import Group, grouped
from gsw_graph.merging.pairs import Pair, pairs
from gsw_graph.merging.seen import Seen, gather
from gsw_graph.merging.spellings import abbreviates, initials, middle_names, same_letters
from gsw_graph.merging.stated import Name, statements
from gsw_graph.names import normalise

Passage = tuple[str, str, dict[str, str]]  # title, text, {name: role}


def world(*passages: Passage) -> Seen:
    """Each passage a document of its own."""
    rows = []
    for number, (title, text, names) in enumerate(passages):
        found = [Name(normalise(name), name, normalise(name) == normalise(title), ((role, ()),) if role else ()) for name, role in names.items()]
        rows.append((f"d{number}", f"p{number}", title, text, found))
    return gather(rows)


def merged(*passages: Passage) -> dict[str, set[str]]:
    seen = world(*passages)
    groups, _ = grouped(seen, pairs(seen))
    return {group.canonical: set(group.aliases) for group in groups}


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


def test_middle_names_initials_and_abbreviations() -> None:
    assert middle_names("barack obama", "barack hussein obama")
    assert middle_names("john r. smith", "john ronald smith")
    assert not middle_names("john a. smith", "john b. smith")
    assert not middle_names("john smith", "jane ann smith")
    assert initials("j. smith", "john smith")
    assert not initials("j. smith", "karl smith")
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
    assert [(one.one, one.other) for one in statements("", text, names)] == ([("eva lund", "tilly grau")] if stated else [])


def test_an_article_opens_with_the_full_name_of_its_title() -> None:
    names = [Name(normalise(name), name, name == "Eva Lund", ()) for name in ("Eva Lund", "Eva Marie Lund", "Fall of Eva Lund")]
    assert [one.how for one in statements("Eva Lund", "Eva Marie Lund (born 1911) was a singer.", names)] == ["opening"]
    assert not list(statements("Eva Lund", "The Fall of Eva Lund was an opera.", names))
    assert not list(statements("Eva Lund", "Eva Marie Lund met her there.", names))


def test_contradictions_outweigh_the_name() -> None:
    for one, other, role in (("King Olaf II", "King Olaf III", "king"), ("Olaf Berg Jr.", "Olaf Berg Sr.", "person"), ("Tide 1871", "Tide-1872", "work")):
        assert merged(("a", "", {one: role}), ("b", "", {other: role})) == {}
    place, person = ("a", "", {"Van Alen": "city"}), ("b", "", {"Van-Alen": "person"})
    assert merged(place, person) == {}
    assert merged(place, ("b", "", {"Van-Alen": "city"})) == {"van alen": {"van-alen"}}
    born = [("a", f"Eva Lund (born {year}) sang.", {"Eva Lund": "person"}) for year in (1900,)]
    assert merged(*born, ("b", "Eva-Lund (born 1950) sang.", {"Eva-Lund": "person"})) == {}


def test_two_titles_of_passages_are_two_things_until_somebody_says_otherwise() -> None:
    seen = world(("Stone Pier", "", {"Stone Pier": "film"}), ("Stone-Pier", "", {"Stone-Pier": "film"}))
    groups, doubtful = grouped(seen, pairs(seen))
    assert (groups, [(pair.one, pair.other) for pair in doubtful]) == ([], [("stone pier", "stone-pier")])
    same = judging.decided(pairs(seen), {doubtful[0]: "same"}, "m")
    assert grouped(seen, same)[0] == [Group("stone-pier", {"stone pier": same[0]})] or grouped(seen, same)[0] == [Group("stone pier", {"stone-pier": same[0]})]
    assert (same[0].method, judging.decided(pairs(seen), {doubtful[0]: "different"}, "m")) == ("m", [])


def test_a_middle_name_needs_more_than_itself() -> None:
    alone = ("a", "", {"Eva Lund": "person", "Kor": "town"}), ("b", "", {"Eva M. Lund": "person", "Orm": "town"})
    assert merged(*alone) == {}
    together = ("a", "", {"Eva Lund": "person", "Kor Quay": "town", "Orm": "ship"}), ("b", "", {"Eva M. Lund": "person", "Kor Quay": "town", "Orm": "ship"})
    assert merged(*together) == {"eva m. lund": {"eva lund"}}


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
    seen = world(("a", "", dict.fromkeys(("One", "Two", "Three"), "")), ("b", "", {"Two": ""}))
    chain = [Pair("one", "two", 0.9, ("alias stated",)), Pair("three", "two", 0.9, ("alias stated",))]
    assert grouped(seen, chain)[0] == [Group("two", {"one": chain[0], "three": chain[1]})]
    longer = [*chain, Pair("four", "three", 0.9, ("alias stated",))]
    seen = world(("a", "", dict.fromkeys(("One", "Two", "Three", "Four"), "")), ("b", "", {"Two": ""}))
    assert {group.canonical: set(group.aliases) for group in grouped(seen, longer)[0]} == {"two": {"one", "three"}}


def test_groups_grow_around_what_is_merged() -> None:
    seen = world(("a", "", dict.fromkeys(("One", "Two", "Three"), "")), ("b", "", {"Two": ""}))
    found = [Pair("one", "two", 0.9, ("alias stated",)), Pair("one", "three", 0.9, ("alias stated",))]
    assert grouped(seen, found, {"two": "one"})[0] == [Group("one", {"three": found[1]})]
    assert grouped(seen, found, {"two": "one", "three": "one"})[0] == []


def test_a_place_within_another_is_named_beside_it() -> None:
    long = ("a", "", {"Benton, Arkansas": "city", "Arkansas": "state"})
    assert merged(long, ("b", "", {"Benton": "city", "Arkansas": "state"})) == {"benton, arkansas": {"benton"}}
    assert merged(long, ("b", "", {"Benton": "city", "Missouri": "state"})) == {}
    assert merged(("a", "", {"Punjab, Arkansas": "province", "Punjab": "region", "Arkansas": "state"})) == {}


def test_a_model_is_asked_in_few_requests_and_its_words_are_checked() -> None:
    seen = world(*((f"t{n}", f"Here is Pier-{n}x.", {f"Pier {n}x": "film"}) for n in range(25)))
    found = [Pair(f"pier {n}x", f"pier {n}x", 0.7, ("it may be",)) for n in range(25)]
    verdicts = [{"pair": n, "verdict": "same" if n % 2 else "unsure"} for n in range(1, 11)]
    bad = {"verdicts": [{"pair": 11, "verdict": "same"}]}
    chat = ScriptedChat({"verdicts": verdicts}, bad, {"verdicts": verdicts}, bad, bad)
    said, lost = judging.judged(chat, seen, found, {f"p{n}": f"Here is Pier {n}x." for n in range(25)})
    assert (len(chat.requests), len(said), lost) == (3, 20, 5)
    assert [said[pair] for pair in found[:2]] == ["same", "unsure"]
    assert "pairs 1 to 10" in chat.told[0]
    assert "A: Pier 0x (film)\n   text: Here is Pier 0x." in chat.requests[0].messages[1]["content"]
