"""Replies of language models as text: JSON in every usual wrapping, and thoughts cut off."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import cases

from gsw_graph.models.chat.request import answer_text, parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    cases(__file__, "read"),
)
def test_read(text, value):
    assert parse_json(text, ("a",)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON at all",
        "5",
        '"just text"',
        "{",
        '<think>{"a": 1} and then',
        '{"a": [{"b": "c"}, {"b": "d',
        '{"a": "b \\',
        '{"a": tru',
        'First {"a": 1}, then {"a": {"b": 2}, ',
        '{"a": "He said "hi" to her"}',
        '{"a": NaN}',
        "[" * 100_000,
        '{"a": ' + "1" * 5_000 + "}",
    ],
)
def test_what_is_cut_or_broken_is_refused(text):
    with pytest.raises(ValueError, match="JSON"):
        parse_json(text, ("a",))


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        value = parse_json(text)
    except ValueError:
        return
    assert isinstance(value, dict | list)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (" <think>a\nb</think> Paris ", "Paris"),
        ("it must be</think>Paris", "Paris"),
        ("hm\n</think>\n\nParis", "Paris"),
        ("a < b and <thinly> veiled", "a < b and <thinly> veiled"),
        ("the <think> tag", "the <think> tag"),
        ("the </think> tag", "the </think> tag"),
        ("analysis of the final chapter", "analysis of the final chapter"),
    ],
)
def test_thoughts(text, rest):
    assert answer_text(text).strip() == rest


@pytest.mark.parametrize(
    "fence", ["{}", "```json\n{}\n```", "Here it is:\n\n```\n{}\n```", "<think>So.</think>\n{}"]
)
def test_case_19_a_sound_value_may_hold_what_looks_like_a_thought(fence):
    value = {"a": "The <think> tag opens a thought, </think> ends one."}
    assert parse_json(fence.replace("{}", json.dumps(value)), ("a",)) == value


@pytest.mark.parametrize("formula", [r"$\beta$-carotene", r"\frac{1}{2}", r"\nu, \theta and \rho"])
def test_case_21_backslashes_of_formulas_stay(formula):
    """As models write them, who do not double them in JSON."""
    read = parse_json(f'{{"a": "{formula}"}}', ("a",))["a"]
    assert not set(map(ord, read)) & set(range(32)), "no control character comes of it"
    assert read == formula
