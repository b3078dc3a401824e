"""Text: one normalising step, one tokeniser, term coverage and sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.store.vectors import pack_vector, unpack_vectors
from gsw_graph.text.words import (
    family,
    idf,
    normalise_characters,
    normalise_text,
    term_coverage,
    terms,
    words,
    written_sentences,
)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Oskar\u00a0Lindqvist", "Oskar Lindqvist"),
        ("Oskar\u2009Lindqvist", "Oskar Lindqvist"),
        ("Ida  Falk\tand", "Ida Falk and"),
        ("Ida   Falk", "Ida   Falk"),  # columns stay apart
        ("O\u2019Malley, O\u02bcMalley, O`Malley", "O'Malley, O'Malley, O'Malley"),
        ("Jean\u2010Luc, Jean\u2011Luc", "Jean-Luc, Jean-Luc"),
        ("Lind\u00adqvist, Lind\u00ad\nqvist, Ida\ufeff\u200b Falk", "Lindqvist, Lindqvist, Ida Falk"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
    ],
)
def test_characters_have_one_form(written, plain):
    assert normalise_characters(written) == plain


@pytest.mark.parametrize(
    "written",
    [
        "Kestrel Lock\nThe lock was built by Oskar Lindqvist.",
        "Oskar Lindqvist\nIda Falk\nMaria Nilsson",
        "- a pier built by Oskar Lindqvist\n- a mill built by Ida Falk",
        "Town: Pell Bay; Mayor: Jon Arkwright, elected\nTown: Dale; Mayor: Ida Falk",
        "It was closed by Helga.\n\nBrandstrom came.",
    ],
)
def test_lines_of_headings_lists_and_paragraphs_stay_apart(written):
    assert normalise_text(written) == written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Łódź Straße Øre Đorđe Ærø", ["lodz", "strasse", "ore", "dorde", "aero"]),
        ("Ottilie Grau’s bell", ["ottilie", "grau", "bell"]),
        ("東京都", ["東京", "京都"]),
        ("हिन्दी", ["हिन्दी"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_rare_terms_weigh_more_in_coverage():
    texts = [terms("the bell tower"), terms("the bell of Dale"), terms("a pier")]
    query = terms("bell tower pier")
    weights = idf(query, texts)
    assert weights["tower"] > weights["bell"]
    assert term_coverage(query, texts[0]) == pytest.approx(2 / 3)
    assert term_coverage({"tower", "bell"}, {"tower"}, idf=weights) > 0.5
    assert term_coverage((), texts[0]) == 0
    assert term_coverage({"spouse"}, terms("married"), alternatives={"spouse": family("spouse")}) == 1


@given(st.text())
def test_written_sentences_are_the_text(text):
    assert "".join(written_sentences(text)) == text


def test_vectors_survive_packing():
    vector = np.random.default_rng(0).normal(size=256).astype(np.float32)
    vector /= np.linalg.norm(vector)
    assert float(unpack_vectors([pack_vector(vector)])[0] @ vector) > 0.99
    assert unpack_vectors([]).shape == (0, 0)
