"""The one normal form of names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import cases

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
    cases(__file__, "a_name_and_its_normal_form"),
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
