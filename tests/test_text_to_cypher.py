"""Statements that a language model writes for questions: how a reply is read, and what the request shows."""

from __future__ import annotations

from importlib.resources import files

import pytest

from gsw_graph.ask.text_to_cypher import parse_reply, system_message
from gsw_graph.store import nodes

STATEMENT = "MATCH (d:Document)\nRETURN count(d) AS documents"
VALUES = '// {"name": "ann bell", "years": [1901]}'


@pytest.mark.parametrize(
    "reply",
    [
        f"```cypher\n{STATEMENT}\n```",
        f"Here it is.\n\n```\n{STATEMENT}\n```\nIt counts documents.",
        f"``` Cypher \n// How many documents are there?\n{STATEMENT}",
        STATEMENT,
        f"// How many?\n{STATEMENT}\n",
    ],
)
def test_a_statement_is_read(reply):
    assert parse_reply(reply) == (STATEMENT, {})


@pytest.mark.parametrize(
    "reply",
    [
        f"```cypher\n{VALUES}\n{STATEMENT}\n```",
        f"```cypher\n// How many documents mention Ann Bell?\n{VALUES}\n{STATEMENT}\n```",
        f"{VALUES}\n\n{STATEMENT}",
    ],
)
def test_values_are_parameters(reply):
    assert parse_reply(reply) == (STATEMENT, {"name": "ann bell", "years": [1901]})


@pytest.mark.parametrize(
    "reply",
    [
        "No statement: a sentence says it",
        "NONE: a sentence says it",
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


def test_a_long_reply_is_read_in_linear_time():
    assert parse_reply("// \n" * 100_000) == ("//", {})  # which no engine runs
    assert parse_reply("```\n" + " " * 100_000 + "```") is None


def test_the_request_has_the_schema_and_the_examples():
    message = system_message()
    for label in nodes.labels():
        assert f"(:{label}) has " in message
    for begin, kind, end in nodes.declared():
        assert f"(:{begin})-[:{kind}]->(:{end})" in message
    assert "about, language" in message
    for file in (files("gsw_graph.cypher") / "examples").iterdir():
        assert file.read_text(encoding="utf-8") in message
