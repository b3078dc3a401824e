"""How the files of `cypher/explore/` are read, what they are told, and `gswgraph cypher NAME`."""

from __future__ import annotations

import json

import cli_runner
import pytest
from cli_runner import last_call, run
from samples import cases

from gsw_graph.errors import InputError
from gsw_graph.explore.analyses import analyses, bind, parse
from gsw_graph.model.results import Table

fake = cli_runner.fake
FILE = """// What it shows.
// More of it.
// $concept: a name
// $least: how many
WITH null AS concept, 2 AS least
MATCH path = (c:Concept {id: concept})--(d)
RETURN c.name AS name
  , path AS drawing
ORDER BY name
LIMIT 10
"""


def test_a_file_is_read():
    found = parse("one", FILE)
    assert found.summary == "What it shows."
    assert found.details == "More of it."
    expected = [
        ("concept", None, "a name"),
        ("least", 2, "how many"),
        ("limit", 10, "at most so many rows"),
    ]
    assert [
        (parameter.name, parameter.default, parameter.description) for parameter in found.parameters
    ] == expected


def test_values_become_parameters_and_what_browser_draws_is_left_out():
    query, values = bind(parse("one", FILE), {"concept": "The Beyoncé", "least": 3})
    assert "WITH $concept AS concept, $least AS least\n" in query
    assert query.endswith("LIMIT $limit\n")
    assert "drawing" not in query
    early, _ = bind(
        parse("one", FILE.replace("RETURN", "WITH c ORDER BY c.id LIMIT 10\nWITH c\nLIMIT 10\nRETURN")), {}
    )
    assert "c.id LIMIT 10\nWITH c\nLIMIT $limit\nRETURN" in early, "a bound that is not of the rows stays"
    assert values == {"concept": "beyonce", "least": 3, "limit": 10}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"conept": "x"}, "one has no parameter 'conept'. It has: concept, least, limit"),
        ({"least": "many"}, "least of one is a whole number from 0, and 'many' is none. how many"),
        ({"least": False}, "least of one is a whole number from 0, and 'False' is none. how many"),
        ({"least": 1.5}, "least of one is a whole number from 0, and '1.5' is none. how many"),
        ({"limit": -1}, "limit of one is a whole number from 0, and '-1' is none. at most so many rows"),
        ({"least": None}, "one needs a value for least. how many"),
    ],
)
def test_what_does_not_fit_is_told(told, said):
    with pytest.raises(InputError) as error:
        bind(parse("one", FILE), told)
    assert str(error.value) == said


def test_the_list(fake):
    shown = run("cypher", "--list").stdout
    for name in analyses():
        assert name in shown
    assert max(map(len, shown.splitlines())) < 130
    found = json.loads(run("cypher", "--list", "--json").stdout)
    assert [one["name"] for one in found] == list(analyses())
    assert fake.calls == []


def test_an_analysis_is_run_by_its_name(fake):
    fake.table = Table(["name", "roles"], [{"name": "Ana", "roles": ["person", "builder"]}])
    result = run("cypher", "most-mentioned", "limit=3")
    assert last_call(fake) == ("explore", ("most_mentioned",), {"limit": 3})
    assert "person; builder" in result.stdout
    found = json.loads(run("cypher", "most_mentioned", "--json").stdout)["rows"][0]["roles"]
    assert found == [
        "person",
        "builder",
    ]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    cases(__file__, "what_cannot_be_run_is_told_before_an_engine_starts"),
)
def test_what_cannot_be_run_is_told_before_an_engine_starts(fake, args, code, said):
    result = run("cypher", *args)
    assert result.exit_code == code
    assert fake.calls == []
    assert said in result.stderr
