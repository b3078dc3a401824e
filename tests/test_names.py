"""The one normal form of names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsw_graph.text.names import LONGEST, normalise

MARKS = st.characters(categories=["Lu", "Ll", "Lo", "Mn", "Mc", "Nd", "No", "Po", "Zs", "Cf", "Sk"])
PIECES = st.sampled_from(
    [
        "The ",
        "a ",
        "an ",
        "'s",
        "’s",
        "'",
        " ",
        "\n",
        "C++",
        "#",
        "(",
        ")",
        "É",
        "ß",
        "İ",
        "ﬁ",
        "ガ",
        "हि",
        "กู้",
        "7",
        "_",
        ".",
    ]
)


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("Beyoncé", "beyonce"),  # accents
        ("Antonín Dvořák", "antonin dvorak"),
        ("e\u0301cole", "ecole"),  # the accent as a character of its own
        ("Škofja Loka", "skofja loka"),
        ("BANK OF ENGLAND", "bank of england"),  # case
        ("Straße", "strasse"),
        ("ΌΔΟΣ", "οδοσ"),  # one sigma, wherever it stands
        ("İstanbul", "istanbul"),
        ("ᾼ", "αι"),
        ("Newton's", "newton"),  # possessive
        ("Newton’s", "newton"),
        ("St. Paul's Cathedral", "st. paul cathedral"),
        ("James'", "james"),
        ("O'Brien", "o'brien"),
        ("Guns ' Roses", "guns roses"),
        ("L’Aquila", "l'aquila"),
        ("“Hamlet”,", "hamlet"),  # edges
        ("(Paris)", "paris"),
        ("--x--", "x"),
        ("_Emma_", "emma"),
        ("_Éva_", "eva"),
        ("Yahoo!", "yahoo"),
        ("AT&T", "at&t"),  # but not what is within
        ("J. R. R. Tolkien", "j. r. r. tolkien"),
        ("Panic! at the Disco", "panic! at the disco"),
        ("The Beatles", "beatles"),  # article
        ("A Bridge Too Far", "bridge too far"),
        ("An  Elephant", "elephant"),
        ("(The Beatles)", "beatles"),
        ("The The", "the"),
        ("the", "the"),
        ("A", "a"),
        ("Theodore", "theodore"),
        ("A-ha", "a-ha"),
        ("  New \t\n York\u00a0City ", "new york city"),  # white space
        ("R2-D2", "r2-d2"),  # digits and codes
        ("007", "007"),
        ("1,000.50", "1,000.50"),
        ("ISO 9001:2015", "iso 9001:2015"),
        ("B-52", "b-52"),
        ("５２", "52"),
        ("C", "c"),
        ("C++", "c++"),
        ("C++.", "c++"),
        ("C#", "c#"),
        ("F#'s", "f#"),
        ("", ""),
        (" \n", ""),
        ("!!!", "!!!"),  # nothing but symbols
        (" The  +\n", "the +"),
        ("+", "+"),
        ("$", "$"),
        ("…—!?", "...—!?"),
        ("! \n?", "! ?"),
        ("'s", "'s"),
        ("🙂", "🙂"),
        ("´", "´"),
        ("\u200b\x01", ""),  # nothing to be seen
    ],
)
def test_a_name_and_its_normal_form(name, normal):
    assert normalise(name) == normal


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("ガ", "カ"),  # voicing in kana
        ("パリ", "バリ"),
        ("हिन्द", "हन्द"),  # vowel signs and virama in Devanagari
        ("क्ष", "कष"),
        ("ড়", "ড"),  # nukta in Bengali
        ("กุ้ง", "กง"),  # vowels and tones in Thai
        ("ไกล", "ใกล้"),
        ("ປູ", "ປ"),  # vowels in Lao
        ("བོད", "བད"),  # vowels in Tibetan
        ("서울", "사울"),
        ("C++", "C#"),
        ("C", "C#"),
    ],
)
def test_names_that_differ_stay_different(one, two):
    assert normalise(one)
    assert normalise(two)
    assert normalise(one) != normalise(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("ｶﾞ", "ガ"),  # half width
        ("か\u3099", "が"),  # voicing as a character of its own
        ("서울", "\u1109\u1165\u110b\u116e\u11af"),  # syllables and their letters
        ("שָׁלוֹם", "שלום"),  # points
        ("مُحَمَّد", "محمد"),
        ("ﬁlm", "Film"),
        ("Ⅳ", "iv"),
    ],
)
def test_spellings_of_one_name(one, two):
    assert normalise(one) == normalise(two) != ""


@pytest.mark.parametrize("name", ["東京", "Минск", "हिन्दी", "ไทย", "ລາວ", "서울", "بغداد", "தமிழ்", "ქართული"])
def test_names_of_other_scripts_keep_their_letters(name):
    letters = [c for c in normalise(name) if c.isalpha()]
    assert len(letters) == sum(c.isalpha() for c in name)


@given(
    st.text(max_size=60)
    | st.text(MARKS, max_size=30)
    | st.lists(PIECES, max_size=12).map("".join)
    | st.text("аеиоймхглкн αηοσιυνλ الكبوفهعمت", max_size=20)
)
@settings(max_examples=400, deadline=None)
def test_the_normal_form_is_its_own(name):
    normal = normalise(name)
    assert normalise(normal) == normal
    assert normal == normal.strip()
    assert "  " not in normal
    assert "\n" not in normal


def test_what_is_longer_than_a_name_is_none():
    assert normalise("x" * LONGEST) == "x" * LONGEST
    assert normalise("x" * (LONGEST + 1)) == ""
    assert normalise("\ufdfa" * LONGEST) == ""  # one character that stands for eighteen
