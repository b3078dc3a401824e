"""No url that is shown has a user or a password."""

from __future__ import annotations

import pytest

from gsw_graph.text.safe_text import without_password


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at neo4j+s://me:p@ss/word@host:7687/x, twice", "at neo4j+s://host:7687/x, twice"),
        ("s3://key:sec/ret@bucket/x", "s3://bucket/x"),
        ("http://me:secret@host/@user", "http://host/@user"),
        ("http://me:secret@a,bolt://me:secret@b", "http://a,bolt://b"),
        ("https://example.org/@user?to=a@b", "https://example.org/@user?to=a@b"),
        ("me@example.org wrote // this: @x", "me@example.org wrote // this: @x"),
        ("", ""),
    ],
)
def test_no_url_shows_a_password(text, expected):
    assert without_password(text) == expected
