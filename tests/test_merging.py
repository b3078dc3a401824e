"""What tells that two names are one, without a graph: spellings, what texts state, kinds, groups."""

from __future__ import annotations

import pytest
from samples import cases

from gsw_graph.load.merging import (
    ConceptIndex,
    Name,
    Pair,
    find_statements,
    group_pairs,
)
from gsw_graph.load.spellings import same_letters
from gsw_graph.text.names import normalise


def world(*passages):
    """Each passage a document of its own."""
    rows = []
    for number, (title, text, names) in enumerate(passages):
        found = [
            Name(normalise(name), name, normalise(name) == normalise(title), (role,) if role else ())
            for name, role in names.items()
        ]
        rows.append((f"d{number}", text, found))
    return ConceptIndex(rows)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    cases(__file__, "names_with_the_same_letters"),
)
def test_names_with_the_same_letters(one, other, same):
    assert same_letters(normalise(one), normalise(other), (one, other)) is same
    assert same_letters(normalise(other), normalise(one), (other, one)) is same


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
def test_what_a_text_states(text, stated):
    names = [Name(normalise(name), name, False, ()) for name in ("Eva Lund", "Tilly Grau")]
    found = [(first, second) for first, second, _, _ in find_statements(text, names)]
    assert found == ([("eva lund", "tilly grau")] if stated else [])


def test_what_only_a_chain_joins_stays_apart():
    index = world(("a", "", dict.fromkeys(("One", "Two", "Three"), "")), ("b", "", {"Two": ""}))
    chain = [Pair("one", "two", 0.9, ("alias stated",)), Pair("three", "two", 0.9, ("alias stated",))]
    expected = [("two", {"one": chain[0], "three": chain[1]})]
    assert group_pairs(index, chain)[0] == expected
    longer = [*chain, Pair("four", "three", 0.9, ("alias stated",))]
    index = world(("a", "", dict.fromkeys(("One", "Two", "Three", "Four"), "")), ("b", "", {"Two": ""}))
    found = {canonical: set(aliases) for canonical, aliases in group_pairs(index, longer)[0]}
    assert found == {"two": {"one", "three"}}
