"""Statements that a language model writes for questions: how a reply is read, and what the request shows."""

from __future__ import annotations

import pytest

from gsw_graph.ask.text_to_cypher import examples, parse_reply, system_message
from gsw_graph.store import nodes

STATEMENT = "MATCH (d:Document) RETURN count(d) AS documents"


@pytest.mark.parametrize(
    "reply",
    [
        f"```cypher\n{STATEMENT}\n```",
        f"Here it is.\n\n```\n{STATEMENT}\n```\nIt counts documents.",
        f"```cypher\n{STATEMENT}",
        STATEMENT,
        f'{{"statement": "{STATEMENT}"}}',
        f'```json\n{{"statement": "{STATEMENT}", "parameters": null}}\n```',
    ],
)
def test_a_statement_is_read(reply):
    written = parse_reply(reply)
    assert written is not None
    assert written.text == STATEMENT
    assert written.parameters == {}


@pytest.mark.parametrize(
    "reply",
    [
        f'```cypher\n// {{"name": "ann bell", "years": [1901]}}\n{STATEMENT}\n```',
        f'// {{"name": "ann bell", "years": [1901]}}\n{STATEMENT}',
        f'{{"statement": "{STATEMENT}", "parameters": {{"name": "ann bell", "years": [1901]}}}}',
    ],
)
def test_values_are_parameters(reply):
    written = parse_reply(reply)
    assert written is not None
    assert written.text == STATEMENT
    assert written.parameters == {"name": "ann bell", "years": [1901]}


@pytest.mark.parametrize(
    "reply",
    [
        "No statement: a sentence says it",
        "With this graph it cannot be answered.",
        "Answer: 14\nSources: 1, 2",
        '{"statement": null}',
        "```cypher\n```",
        "",
    ],
)
def test_every_other_reply_is_a_refusal(reply):
    assert parse_reply(reply) is None


def test_values_that_cannot_be_read_are_an_error_for_the_model():
    with pytest.raises(ValueError, match="JSON"):
        parse_reply(f'```cypher\n// {{"name": }}\n{STATEMENT}\n```')


def test_the_request_has_the_schema_and_the_examples():
    message = system_message()
    for label in nodes.labels():
        assert (f"(:{label} " in message) is (label not in ("Memory", "Run", "Correction"))
    for begin, kind, end in nodes.declared():
        if {begin, end}.isdisjoint(("Run", "Correction")):
            assert f"(:{begin})-[:{kind}" in message
    assert "about: string" in message
    assert "embedding" not in message
    for question, statement in examples().items():
        assert f"Question: {question}\n```cypher\n{statement}\n```" in message
