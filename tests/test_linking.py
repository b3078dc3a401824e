"""The names of a question, looked up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.text.names import normalise
from gsw_graph.text.words import CONNECTORS, FUNCTION_WORDS


def linked(question, *known):
    return [(mention.text, mention.key) for mention in link(mentions(question), {normalise(name) for name in known})]


@pytest.mark.parametrize(
    ("question", "known", "expected"),
    [
        ("Who led the Bank of England?", ["Bank of England", "Bank", "England"], ["the Bank of England"]),  # the longest
        ("Who led the Bank of England?", ["Bank", "England"], ["the Bank", "England"]),
        ("Was Ana in Bo?", ["Bo", "Ana"], ["Ana", "Bo"]),  # in the order of the question
        ("New York City Hall", ["New York City", "City Hall"], ["New York City"]),  # of two that overlap the longer
        ("New York Hall", ["New York", "York Hall"], ["New York"]),  # of two as long the first
        ("Is Ana Ana's own?", ["Ana"], ["Ana", "Ana's"]),  # as often as it stands
        ("Is it Beyoncé?", ["BEYONCE"], ["Beyoncé"]),
        ("Whose is Newton’s?", ["Newton"], ["Newton's"]),
        ("by The Beatles", ["Beatles"], ["The Beatles"]),
        ("Who wrote “Hamlet”, say?", ["Hamlet"], ["Hamlet"]),
        ("Did J. R. R. Tolkien?", ["J. R. R. Tolkien"], ["J. R. R. Tolkien"]),
        ("What of AT&T and C++ or C#?", ["AT&T", "C++", "C#"], ["AT&T", "C++", "C#"]),
        ("Wer ist in 東京?", ["東京"], ["東京"]),  # scripts without case
        ("鲁迅在北京写了什么？", ["鲁迅", "北京", "写"], ["鲁迅", "北京"]),  # no spaces; a sign alone is no name
        ("김수근은 어디서 태어났나?", ["김수근"], ["김수근"]),  # a particle
        ("من كتب بدار الجمارك؟", ["دار الجمارك"], ["دار الجمارك"]),  # a preposition
        ("ニコライ・ペトレスクは誰？", ["ニコライ・ペトレスク", "ニコ"], ["ニコライ・ペトレスク"]),
        ("हिन्दी में?", ["हिन्दी में"], ["हिन्दी में"]),
        ("Is it Beyonce\u0301 Knowles?", ["Beyoncé Knowles"], ["Beyonce\u0301 Knowles"]),  # the accent as a character of its own
        ("in 1988 or 12?", ["1988", "12"], []),  # years and numbers
        ("with Apollo 11", ["Apollo 11", "11"], ["Apollo 11"]),
        ("the mountain", ["mountain"], []),  # one word in lower case
        ("the great tide engine", ["great tide engine", "engine"], ["the great tide engine"]),  # two words of content
        ("the king of here", ["king of here", "king"], []),  # with one word of content
        ("THE AND OF", ["the and of", "and"], []),  # function words
        ("Who is in The Who?", ["Who"], []),
        ("Nobody knows", ["Ana"], []),
        ("", ["Ana"], []),
        ("?!", ["Ana"], []),
    ],
)
def test_names_of_a_question(question, known, expected):
    assert [text for text, _ in linked(question, *known)] == expected


def test_a_name_of_more_than_ten_words_is_not_looked_for():
    name = " ".join(f"W{chr(97 + n)}" for n in range(11))
    assert linked(name, name) == []
    ten = name.rpartition(" ")[0]
    assert linked(name, name, ten) == [(ten, ten.lower())]


WORDS = st.sampled_from("Ana Bo the of king tide engine 1988 New York C++ é 東京 'x' & ? “ , St. and The who's".split())


@given(st.lists(WORDS, max_size=20).map(" ".join), st.data())
@settings(max_examples=200, deadline=None)
def test_what_is_linked_is_known_longest_and_apart(question, data):
    candidates = mentions(question)
    lengths = [mention.last - mention.first for mention in candidates]
    assert lengths == sorted(lengths, reverse=True)
    assert max(lengths, default=1) <= 10
    known = set(data.draw(st.lists(st.sampled_from([m.key for m in candidates]), max_size=6))) if candidates else set()
    found = link(candidates, known)
    assert {mention.key for mention in found} <= known
    places = [place for mention in found for place in range(mention.first, mention.last)]
    assert len(places) == len(set(places))
    for mention in candidates:  # what is known and not linked is crossed by something at least as long
        if mention.key in known and mention not in found:
            crossing = [m for m in found if m.first < mention.last and mention.first < m.last]
            assert max(m.last - m.first for m in crossing) >= mention.last - mention.first
    for mention in candidates:
        assert mention.text in question
        assert mention.key == normalise(mention.text)
        assert not mention.key.isdigit()
        assert not {w.casefold() for w in mention.text.split()} <= FUNCTION_WORDS | CONNECTORS
