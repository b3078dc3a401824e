"""Cypher of people, on every engine: read-only unless it says otherwise, results in JSON types."""

from __future__ import annotations

import json
import signal
import threading
from time import monotonic, sleep

import pytest
import waiting
from dump import differences, dump, version

from gsw_graph.errors import InputError

LONG = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a * b % 7 = 8 RETURN count(*) AS n"  # an hour, perhaps
SOON = 30  # seconds: much less than that, on any machine


@pytest.mark.parametrize(
    "query",
    [
        "CREATE (:Concept {id: 'new'})",
        "MATCH (n) DETACH DELETE n",
        "MATCH (c:Concept) SET c.name = 'x' RETURN count(c)",
        "MATCH (c:Concept) REMOVE c.name",
        "MERGE (c:Concept {id: 'new'}) RETURN c",
        "MATCH (c:Concept) CALL (c) { SET c.name = 'x' } RETURN count(c)",
        "DROP CONSTRAINT concept_id",
        "CREATE INDEX x IF NOT EXISTS FOR (n:X) ON (n.x)",
    ],
)
def test_updates_are_refused(corpus, query):
    before = dump(corpus)
    stamp = version(corpus)
    with pytest.raises(InputError, match=r"only reading is allowed\. Add --write"):
        corpus.cypher(query)
    assert version(corpus) == stamp
    assert differences(dump(corpus), before) == []


def test_updates_are_allowed_when_meant(corpus):
    stamp = version(corpus)
    table = corpus.cypher(
        "CREATE (n:Note {id: $id, text: $text}) RETURN n.id AS id", write=True, id="n1", text='it\'s "x"'
    )
    assert table.columns == ["id"]
    assert table.rows == [{"id": "n1"}]
    assert version(corpus) > stamp
    assert corpus.cypher("MATCH (n:Note) RETURN n.text AS text").rows == [{"text": 'it\'s "x"'}]
    corpus.cypher("MATCH (n:Note) DELETE n", write=True)
    assert corpus.cypher("MATCH (n:Note) RETURN n").rows == []


def test_parameters(corpus):
    values = {
        "text": "x' OR 1=1 //",
        "number": 3,
        "real": 1.5,
        "yes": True,
        "none": None,
        "many": [1, "a", [2]],
        "map": {"a": {"b": [1]}},
    }
    names = ", ".join(f"${name} AS {name}" for name in values)
    assert corpus.cypher(f"RETURN {names}", **values).rows == [values]
    assert corpus.cypher("RETURN $query AS a, $self AS b", query=1, self=2).rows == [{"a": 1, "b": 2}]


@pytest.mark.parametrize(
    "query",
    [
        "",
        " \n",
        "MATCH",
        "RETURN $missing",
        "NONSENSE",
        "RETURN 1 AS x; RETURN 2 AS y",
        "MATCH (n) RETURN n.",
        "RETURN 1/0",
    ],
)
def test_what_cannot_be_run_is_an_input_error(corpus, query):
    with pytest.raises(InputError):
        corpus.cypher(query)


def test_values_in_json_types(corpus):
    (row,) = corpus.cypher("MATCH (c:Concept {id: 'vellmouth'}) RETURN c").rows
    assert row["c"]["labels"] == ["Concept"]
    assert row["c"]["properties"]["name"] == "Vellmouth"
    (row,) = corpus.cypher(
        "MATCH (:Entity {from: '1868-01-01'})-[i:IN]->(:Passage) RETURN i LIMIT 1"
    ).rows
    assert row["i"] == {"type": "IN", "properties": {"title": False}}
    (row,) = corpus.cypher(
        "MATCH p = (c:Concept {id: '1868'})<-[:REFERS_TO]-(e:Entity)-[:IN]->(:Passage) RETURN p LIMIT 1"
    ).rows
    kinds = [part.get("labels") or part["type"] for part in row["p"]]
    assert kinds == [["Concept"], "REFERS_TO", ["Entity"], "IN", ["Passage"]]
    assert [part["forward"] for part in row["p"] if "type" in part] == [False, True]
    (row,) = corpus.cypher(
        "RETURN date('1871-05-03') AS day, datetime('1871-05-03T10:20:30Z') AS moment, [1, null] AS list, {a: date('1871-05-03')} AS map"
    ).rows
    assert row["day"] == "1871-05-03"
    assert row["moment"].startswith("1871-05-03T10:20:30")
    assert row["list"] == [1, None]
    assert row["map"] == {"a": "1871-05-03"}
    json.dumps(row)


def test_an_empty_result_keeps_its_columns(corpus):
    table = corpus.cypher("MATCH (c:Concept {id: 'no such'}) RETURN c.name AS name, c.id AS id")
    assert table.rows == []
    if corpus.status().engine == "neo4j":  # the embedded engine names the columns of rows only
        assert table.columns == ["name", "id"]


def running(memory):
    """How many of our long queries the engine works at."""
    with memory._connection.session() as session:
        rows = session.run("SHOW TRANSACTIONS").data()
    return sum("a * b % 7" in (row["currentQuery"] or "") for row in rows)  # one that ends has none


def test_a_query_that_takes_too_long_is_ended(corpus):
    start = monotonic()
    with pytest.raises(InputError, match=r"longer than 0.3 s and was ended.*--timeout"):
        corpus.cypher(LONG, timeout=0.3)
    assert monotonic() - start < SOON
    assert running(corpus) == 0
    assert corpus.cypher("RETURN 1 AS x", timeout=60).rows == [{"x": 1}]


@pytest.mark.parametrize("write", [False, True])
def test_ctrl_c_ends_the_query_on_the_engine_too(corpus, write):
    pressed = []

    def press():
        end = monotonic() + SOON
        try:
            while not running(corpus) and monotonic() < end:
                sleep(0.02)
        finally:  # or nothing would end the query
            pressed.append(monotonic())
            signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        corpus.cypher(LONG, write=write)
    assert monotonic() - pressed[0] < SOON
    thread.join()
    waiting.until(lambda: running(corpus) == 0, SOON)  # the engine ends it at its next look
    assert corpus.cypher("MATCH (d:Document) RETURN count(d) > 1 AS there").rows == [{"there": True}]
