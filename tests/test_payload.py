"""Facts as a codebook: sentences as edges, each subject said once a number."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.ask.answer.evidence import Edge, Run, Sentence, edge_of, payload

BORN = Edge("Ilse Tarn", "was born in", "Port Ellery")
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
FACTS = st.one_of(st.builds(Edge, NAMES, NAMES, NAMES), st.builds(Sentence, NAMES, NAMES))


@pytest.mark.parametrize(
    ("text", "names", "fact"),
    [
        ("Ilse Tarn was born in Port Ellery.", ["Port Ellery", "Ilse Tarn"], BORN),
        (
            "The  Marrow Bridge was built by Ilse Tarn in 1911.",
            ["Ilse Tarn", "Marrow Bridge", "1911"],
            Edge("Marrow Bridge", "was built by", "Ilse Tarn in 1911"),
        ),
        (
            "Ilse Tarn's father was Bo Tarn",
            ["Ilse", "Ilse Tarn", "Bo Tarn"],
            Edge("Ilse Tarn", "'s father was", "Bo Tarn"),
        ),  # the longest name
        (
            "In 1911 Ilse Tarn moved.",
            ["Ilse Tarn"],
            Sentence("title", "In 1911 Ilse Tarn moved"),
        ),  # begins with no name
        ("Ilse Tarn moved.", ["Ilse Tarn"], Sentence("title", "Ilse Tarn moved")),  # has no other
        ("Ilse Tarnow met Bo.", ["Ilse Tarn", "Bo"], Sentence("title", "Ilse Tarnow met Bo")),  # whole words
        (
            'The "Far Lamp" shone in (Port Ellery).',
            ["Far Lamp", "Port Ellery"],
            Edge("Far Lamp", "shone in", "(Port Ellery)"),
        ),
        ('Ilse Tarn wrote "Far Lamp".', ["Far Lamp", "Ilse Tarn"], Edge("Ilse Tarn", "wrote", '"Far Lamp"')),
        ("Oslo, Rome", ["Oslo", "Rome"], Edge("Oslo", ",", "Rome")),
        ("Ilse Tarn lived in the U.S.", ["Ilse Tarn", "U.S."], Edge("Ilse Tarn", "lived in the", "U.S.")),
        ("", ["", "Oslo"], Sentence("title", "")),
    ],
)
def test_an_edge_is_a_sentence_cut_at_its_names(text, names, fact):
    assert edge_of(text, names, "title") == fact


def said(text):
    """Read a payload of one channel, in either form, as sentences by number."""
    written = json.loads(text)
    if "rule" not in written:
        return {
            number: sorted(f"{subject} {rest}" for subject, rests in run.items() for rest in rests)
            for number, run in written["facts"].items()
        }
    tables = (written["e"], written["r"], written["e"])
    return {
        number: sorted(
            " ".join(table[place] for table, place in zip(tables, fact, strict=False)) for fact in run
        )
        for number, run in written["facts"].items()
    }


@given(st.lists(st.lists(FACTS, min_size=1, max_size=6), min_size=1, max_size=4))
def test_every_fact_is_said_under_the_number_of_its_passage(facts):
    found = said(payload([Run(tuple(run)) for run in facts]))
    expected = {str(number): sorted(map(" ".join, run)) for number, run in enumerate(facts, 1)}
    assert found == expected
