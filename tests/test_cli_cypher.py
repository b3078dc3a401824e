"""`gswgraph cypher`: its parameters, where the query comes from, and the table."""

from __future__ import annotations

import json

import cli_runner
import pytest
from cli_runner import last_call, run

from gsw_graph.cli import output
from gsw_graph.results import Table

fake = cli_runner.fake


def test_cypher_parameters_are_json_or_text(fake):
    pairs = ["a=1", "$b=[1, null]", "c=007", "d=NaN", "e=x=y", 'f="1"', "g=", "h=1e999", "i=" + "[" * 100_000]
    assert run("cypher", "RETURN 1", "--write", *(f"-p{pair}" for pair in pairs)).exit_code == 0
    name, args, found = last_call(fake)
    assert (name, args, found.pop("write")) == ("cypher", ("RETURN 1",), True)
    expected = {"a": 1, "b": [1, None], "c": "007", "d": "NaN", "e": "x=y", "f": "1", "g": "", "h": "1e999", "i": "[" * 100_000}
    assert found == expected


@pytest.mark.parametrize("args", [["-p", "a"], ["-p", "=1"], ["-p", "write=1"], ["-p", "a=1", "-p", "$a=2"]])
def test_cypher_refuses_parameters_without_a_name_of_their_own(fake, args):
    result = run("cypher", "RETURN 1", *args)
    assert (result.exit_code, fake.calls) == (2, [])


def test_cypher_reads_a_file_or_standard_input(fake, tmp_path):
    file = tmp_path / "q.cypher"
    file.write_text("\ufeffRETURN 'é'", encoding="utf-8")
    assert run("cypher", "--file", str(file)).exit_code == 0
    assert last_call(fake)[1:] == (("RETURN 'é'",), {"write": False})
    assert run("cypher", "-f", "-", stdin="RETURN 2").exit_code == 0
    assert last_call(fake)[1] == ("RETURN 2",)
    file.write_bytes(b"\xff")
    assert run("cypher", "--file", str(file)).exit_code == 2


@pytest.mark.parametrize("args", [[], [" "], ["RETURN 1", "--file", "-"], ["--file", "/no/such/file"]])
def test_cypher_wants_one_query(fake, args):
    assert run("cypher", *args).exit_code == 2
    assert fake.calls == []


def test_the_table_cuts_long_values_and_json_does_not(fake):
    long = "word " * 100
    fake.table = Table(["text", "list", "n"], [{"text": long, "list": list(range(100)), "n": 1.5}, {"text": "x[bold]y", "list": None, "n": 2}])
    shown = run("cypher", "q").stdout
    assert max(map(len, shown.splitlines())) < 3 * (output.CELL + 4)
    assert shown.count("…") == 2
    assert "x[bold]y" in shown
    assert shown.endswith("2 rows\n")
    assert json.loads(run("cypher", "q", "--json").stdout)["rows"][0]["text"] == long


def test_a_query_without_columns_has_no_table(fake):
    fake.table = Table([], [])
    assert run("cypher", "q").stdout == "0 rows\n"
