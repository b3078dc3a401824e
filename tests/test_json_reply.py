"""JSON as language models write it: read where it is whole, refused where it is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsw_graph.inference.chat.json_reply import parse, without_thoughts

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(min_size=1), VALUES, min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Here it is:\n```\n{"a": [1, 2]}\n```\nHope it helps!', {"a": [1, 2]}),
        ('Sure {the} thing [sic]: {"a": [1,2,], // first\n "b": "x", /* and */ "c": null, # last\n} see [above', {"a": [1, 2], "b": "x", "c": None}),
        ("{'a': 'it\\'s', 'b': True, 'c': None, 'd': False,}", {"a": "it's", "b": True, "c": None, "d": False}),
        ("{a: 'x', b_2: -1.5e3}", {"a": "x", "b_2": -1500.0}),
        ('{"a": "two\nlines and a tab\t"}', {"a": "two\nlines and a tab\t"}),
        ("{'a': '\\u0141\\x41\\n\\/'}", {"a": "ŁA\n/"}),
        ('<think>maybe {"a": 1}?</think>\n{"a": 2}', {"a": 2}),
        ('<Thinking>\nhm</Thinking>{"a": 2}', {"a": 2}),
        ('so it is 2</think>{"a": 2}', {"a": 2}),
        ('{"a": "<think>"}', {"a": "<think>"}),
        ('As [1, 2 and 3] say, and [4]: {"a": 1}', {"a": 1}),
        ('{"a": 1} or rather {"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("\ufeff{}", {}),
        ('{"a": "\\ud83d\\ude00 \\ud83d"}', {"a": "\U0001f600 ?"}),
        ("{'a': '\\ud83d\\ude00 \\ud83d'}", {"a": "\U0001f600 ?"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_read(text: str, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON"),
        ("no JSON at all", "no JSON"),
        ("5", "no JSON"),
        ('"just text"', "no JSON"),
        ("{", "no JSON"),
        ('<think>{"a": 1} and then', "no JSON"),
        ('{"a": [{"b": "c"}, {"b": "d', "cut off"),
        ('{"a": [{"b": "c"}', "cut off"),
        ('{"a": "b \\', "cut off"),
        ("{'a': '\\u01", "cut off"),
        ('{"a": 1,', "cut off"),
        ('{"a": tru', "cut off"),
        ('{"a"', "cut off"),
        ('First {"a": 1}, then {"a": {"b": 2}, ', "cut off"),
        ('{"a": [{"b": 1} {"c": 2}], "d": {"e": 3}}', "cannot be read: neither a comma nor ] stands in line 1"),
        ('{"outer" [{"a": 1}]}', "no colon follows the key"),
        ('{"a": "He said "hi" to her"}', "cannot be read"),
        ('{"a": [1, 2}', "neither a comma nor ]"),
        ('{"a": NaN}', "no value stands"),
        ('{"a": __import__("os")}', "no value stands"),
        ('{"a": 007}', "no value stands"),
        ("{'a': '\\xzz'}", "followed by no code"),
        ("[" * 100_000, "too deep"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "too deep"),
        ("{'a': '\\Uffffffff'}", "followed by no code"),
        ('{"a": ' + "1" * 5_000 + "}", "limit"),
    ],
)
def test_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("]", r"\]")):
        parse(text)


@given(OBJECTS)
def test_what_json_and_python_write(value: dict[str, Any]) -> None:
    clean = json.loads(json.dumps(value))
    assert parse(json.dumps(value)) == clean
    assert parse(f"Well:\n```json\n{json.dumps(value, indent=1, ensure_ascii=False)}\n```") == clean
    assert parse(f"Here: {value!r}.") == clean


@given(OBJECTS, st.data())
def test_no_beginning_is_taken_for_the_whole(value: dict[str, Any], data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from([json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value)]))
    cut = data.draw(st.integers(0, len(whole) - 1))
    for before in ("", "Here it is: ", "```json\n"):
        with pytest.raises(ValueError, match="JSON"):
            parse(before + whole[:cut])


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = parse(text)
    except ValueError:
        return
    assert isinstance(value, dict | list)


def test_thoughts() -> None:
    assert without_thoughts(" <think>a\nb</think> Paris ") == "Paris"
    assert without_thoughts("Paris <think>but wait") == "Paris"
    assert without_thoughts("it must be</think>Paris") == "Paris"
    assert without_thoughts("a < b and <thinly> veiled") == "a < b and <thinly> veiled"
