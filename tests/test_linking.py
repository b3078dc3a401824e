"""The names of a question, looked up."""

from __future__ import annotations

import pytest
from samples import cases

from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.text.names import normalise


def linked(question, *known):
    return [
        (mention.text, mention.key)
        for mention in link(mentions(question), {normalise(name) for name in known})
    ]


@pytest.mark.parametrize(
    ("question", "known", "expected"),
    cases(__file__, "names_of_a_question"),
)
def test_names_of_a_question(question, known, expected):
    assert [text for text, _ in linked(question, *known)] == expected
