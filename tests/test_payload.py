"""Facts as a codebook: edges of sentences, three payloads that say the same, the shortest of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.answer.payload import (
    PAYLOADS,
    Edge,
    Fact,
    Run,
    Sentence,
    edge_of,
    edges,
    shortest,
    triples,
    words,
)
from gsw_graph.inference.chat.tokens import estimate

BUILT = Edge("Marrow Bridge", "was built by", "Ilse Tarn")
BORN = Edge("Ilse Tarn", "was born in", "Port Ellery")
RUNS = [Run((BUILT, Sentence("Marrow Bridge", "It has nine arches"))), Run((BORN, BUILT))]
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
FACTS = st.one_of(st.builds(Edge, NAMES, NAMES, NAMES), st.builds(Sentence, NAMES, NAMES))


@pytest.mark.parametrize(
    ("text", "names", "fact"),
    [
        ("Ilse Tarn was born in Port Ellery.", ["Port Ellery", "Ilse Tarn"], BORN),
        ("The  Marrow Bridge was built by Ilse Tarn in 1911.", ["Ilse Tarn", "Marrow Bridge", "1911"], Edge("Marrow Bridge", "was built by", "Ilse Tarn in 1911")),
        ("Ilse Tarn's father was Bo Tarn", ["Ilse", "Ilse Tarn", "Bo Tarn"], Edge("Ilse Tarn", "'s father was", "Bo Tarn")),  # the longest name
        ("In 1911 Ilse Tarn moved.", ["Ilse Tarn"], Sentence("title", "In 1911 Ilse Tarn moved")),  # begins with no name
        ("Ilse Tarn moved.", ["Ilse Tarn"], Sentence("title", "Ilse Tarn moved")),  # has no other
        ("Ilse Tarnow met Bo.", ["Ilse Tarn", "Bo"], Sentence("title", "Ilse Tarnow met Bo")),  # whole words
        ('The "Far Lamp" shone in (Port Ellery).', ["Far Lamp", "Port Ellery"], Edge("Far Lamp", "shone in", "(Port Ellery)")),
        ('Ilse Tarn wrote "Far Lamp".', ["Far Lamp", "Ilse Tarn"], Edge("Ilse Tarn", "wrote", '"Far Lamp"')),
        ("Oslo, Rome", ["Oslo", "Rome"], Edge("Oslo", ",", "Rome")),
        ("Ilse Tarn lived in the U.S.", ["Ilse Tarn", "U.S."], Edge("Ilse Tarn", "lived in the", "U.S.")),
        ("", ["", "Oslo"], Sentence("title", "")),
    ],
)
def test_an_edge_is_a_sentence_cut_at_its_names(text: str, names: list[str], fact: Fact) -> None:
    assert edge_of(text, names, "title") == fact


def test_entities_and_relations_are_said_once() -> None:
    assert json.loads(edges(RUNS)) == {
        "rule": "facts: places in edges or [e,text]; edges: [e,r,e]; e, r: places in lists, from 0",
        "e": ["Marrow Bridge", "Ilse Tarn", "Port Ellery"],
        "r": ["was built by", "was born in"],
        "edges": [[0, 0, 1], [1, 1, 2]],
        "facts": {"1": [0, [0, "It has nine arches"]], "2": [1, 0]},
    }
    assert json.loads(triples(RUNS)) == {
        "rule": "facts: [e,r,e] or [e,text]; e, r: places in lists, from 0",
        "e": ["Marrow Bridge", "Ilse Tarn", "Port Ellery"],
        "r": ["was built by", "was born in"],
        "facts": {"1": [[0, 0, 1], [0, "It has nine arches"]], "2": [[1, 1, 2], [0, 0, 1]]},
    }
    assert json.loads(words(RUNS)) == {
        "facts": {
            "1": {"Marrow Bridge": ["was built by Ilse Tarn", "It has nine arches"]},
            "2": {"Ilse Tarn": ["was born in Port Ellery"], "Marrow Bridge": ["was built by Ilse Tarn"]},
        }
    }


def test_numbers_go_on_over_channels() -> None:
    runs = [Run((BUILT,)), Run((BORN,), "past answers")]
    assert json.loads(words(runs)) == {
        "facts": {"1": {"Marrow Bridge": ["was built by Ilse Tarn"]}},
        "past answers": {"2": {"Ilse Tarn": ["was born in Port Ellery"]}},
    }


def said(payload: str) -> dict[str, list[str]]:
    """What a payload says under each number, as words."""
    book: dict[str, Any] = json.loads(payload)
    book.pop("rule", None)
    entities, relations, known = book.pop("e", []), book.pop("r", []), book.pop("edges", [])

    def read(fact: Any) -> str:
        fact = known[fact] if isinstance(fact, int) else fact
        if isinstance(fact[1], str):
            return f"{entities[fact[0]]} {fact[1]}"
        return " ".join([entities[fact[0]], relations[fact[1]], entities[fact[2]]])

    return {
        number: [f"{subject} {one}" for subject, ones in run.items() for one in ones] if isinstance(run, dict) else [read(fact) for fact in run]
        for channel in book.values()
        for number, run in channel.items()
    }


@given(st.lists(st.lists(FACTS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_three_payloads_say_the_same_and_the_shortest_is_taken(facts: list[list[Fact]]) -> None:
    runs = [Run(tuple(one)) for one in facts]
    expected = {str(number): sorted(map(" ".join, run)) for number, run in enumerate(facts, 1)}
    for payload in PAYLOADS.values():
        assert {number: sorted(one) for number, one in said(payload(runs)).items()} == expected
    assert estimate(shortest(runs)) == min(estimate(payload(runs)) for payload in PAYLOADS.values())


def test_each_form_is_the_shortest_somewhere() -> None:
    long = [f"the {name} department of the ministry of agriculture, forestry and fisheries" for name in ("northern", "southern", "eastern")]
    crossed = tuple(Edge(one, "reports to and is supervised by", other) for one in long for other in long)
    assert shortest(RUNS) == words(RUNS)
    assert shortest([Run(crossed)]) == triples([Run(crossed)])
    assert shortest([Run(crossed)] * 3) == edges([Run(crossed)] * 3)
