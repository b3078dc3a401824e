"""`gswgraph cypher`: its parameters, where the query comes from, and the table."""

from __future__ import annotations

import csv
import io
import json
import shlex

import cli_runner
import pytest
from cli_runner import last_call, run

from gsw_graph.cli.text import output
from gsw_graph.model.results import AskedTable, Table

fake = cli_runner.fake


def test_cypher_parameters_are_json_or_text(fake):
    pairs = ["a=1", "$b=[1, null]", "c=007", "d=NaN", "e=x=y", 'f="1"', "g=", "h=1e999", "i=" + "[" * 100_000]
    assert run("cypher", "RETURN 1", "--write", *(f"-p{pair}" for pair in pairs)).exit_code == 0
    name, args, found = last_call(fake)
    assert name == "cypher"
    assert args == ("RETURN 1",)
    assert found.pop("write") is True
    expected = {
        "a": 1,
        "b": [1, None],
        "c": "007",
        "d": "NaN",
        "e": "x=y",
        "f": "1",
        "g": "",
        "h": "1e999",
        "i": "[" * 100_000,
    }
    assert found == expected


@pytest.mark.parametrize(
    "args", [["-p", "a"], ["-p", "=1"], ["-p", "write=1"], ["-p", "timeout=1"], ["-p", "a=1", "-p", "$a=2"]]
)
def test_cypher_refuses_parameters_without_a_name_of_their_own(fake, args):
    result = run("cypher", "RETURN 1", *args)
    assert result.exit_code == 2
    assert fake.calls == []


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
    fake.table = Table(
        ["text", "list", "n"],
        [{"text": long, "list": list(range(100)), "n": 1.5}, {"text": "x[bold]y", "list": None, "n": 2}],
    )
    shown = run("cypher", "RETURN 1").stdout
    assert max(map(len, shown.splitlines())) < 3 * (output.CELL + 4)
    assert shown.count("…") == 2
    assert "x[bold]y" in shown
    assert shown.endswith("2 rows\n")
    assert json.loads(run("cypher", "RETURN 1", "--json").stdout)["rows"][0]["text"] == long


NODE = {
    "labels": ["Concept"],
    "properties": {
        "id": "vellmouth",
        "name": "Vell\x1b[31mmouth",
        "embedding": [0.5] * 384,
        "many": [1, "a"],
    },
}


def test_csv_can_be_read_back(fake):
    fake.table = Table(
        ["a,b", "n", "x"],
        [{"a,b": 'say "x",\ny\x1b[2J', "n": NODE, "x": 1.5}, {"a,b": None, "n": [1], "x": True}],
    )
    lines = list(csv.reader(io.StringIO(run("cypher", "RETURN 1", "--csv").stdout)))
    assert lines[0] == ["a,b", "n", "x"]
    assert lines[1][0] == 'say "x",\ny'
    assert lines[1][2] == "1.5"
    assert json.loads(lines[1][1])["properties"]["id"] == "vellmouth"
    assert lines[2] == ["", "[1]", "true"]


def test_one_form_at_a_time(fake):
    assert run("cypher", "RETURN 1", "--csv", "--json").exit_code == 2
    assert fake.calls == []


@pytest.mark.parametrize(
    ("args", "seconds"),
    [
        ([], None),
        (["--timeout", "2.5"], 2.5),
        (["--json"], 60),
        (["--csv"], 60),
        (["--json", "--timeout", "0"], None),
        (["--json", "--timeout", "900"], 900),
    ],
)
def test_programs_have_a_time_limit(fake, args, seconds):
    assert run("cypher", "RETURN 1", *args).exit_code == 0
    assert fake.timeout == seconds


ASKED = AskedTable(
    ["name"],
    [{"name": "O'Neil \x1b[31m[x]"}],
    "MATCH (c:Concept {id: $person})\nRETURN c.name AS name",
    {"person": "o'neil", "years": [1901]},
    [["p1"]],
    cut=True,
)


def test_a_question_shows_its_rows_and_the_query_that_gives_them(fake):
    fake.table = ASKED
    result = run("cypher", "--ask", "who?")
    assert last_call(fake) == ("ask_cypher", ("who?",), {})
    assert fake.timeout == 60
    assert "O'Neil [x]" in result.stdout
    assert "p1" not in result.stdout
    assert "There are more rows." in result.stderr
    command = result.stderr[result.stderr.index("gswgraph cypher") :]
    _, *args = shlex.split(command)
    assert run(*args).exit_code == 0
    assert last_call(fake)[1:] == ((ASKED.statement,), {"write": False, **ASKED.parameters})


def test_a_question_has_the_other_forms_too(fake):
    fake.table = ASKED
    assert json.loads(run("cypher", "--ask", "who?", "--json", "--timeout", "5").stdout) == ASKED.to_dict()
    assert fake.timeout == 5
    result = run("cypher", "--ask", "who?", "--csv")
    assert list(csv.reader(io.StringIO(result.stdout))) == [["name"], ["O'Neil [x]"]]
    assert "gswgraph cypher" in result.stderr


@pytest.mark.parametrize("args", [["RETURN 1"], ["--file", "-"], ["--write"], ["-p", "a=1"]])
def test_a_question_stands_alone(fake, args):
    assert run("cypher", "--ask", "who?", *args).exit_code == 2
    assert fake.calls == []
