"""Nodes that another transaction removes while a statement runs. Neo4j then reads each property of such a node as null, and the
embedded engine fails the statement."""

from __future__ import annotations

import re
from pathlib import Path

import neo4j
import numpy as np
import pytest
from contract import CORPUS
from neo4j.exceptions import Neo4jError

from gsw_graph import Memory, cypher
from gsw_graph.cypher import statement
from gsw_graph.engine import read_again
from gsw_graph.store.facts import hop
from gsw_graph.store.reader import Reader
from gsw_graph.store.vectors import pack_vector

VECTOR = pack_vector(np.ones(2, np.float32))
SIDE_BY_SIDE = re.compile(r"collect\((?!DISTINCT)\w+\.\w+\) AS[^\n]*collect\(")


def reader_of(row, monkeypatch):
    """A reader whose every statement returns one row."""
    monkeypatch.setattr(Reader, "rows", lambda *_, **__: [row])
    return Reader(None)  # type: ignore[arg-type]


def test_no_statement_collects_properties_side_by_side():
    """`collect` leaves nulls out, so that a list would be shorter than the one beside it."""
    texts = {
        file.name: file.read_text(encoding="utf-8")
        for file in sorted((Path(cypher.__file__).parent / "read").glob("*.cypher"))
    }
    assert texts
    assert [name for name, text in texts.items() if SIDE_BY_SIDE.search(text)] == []


def test_a_neighbourhood_is_read_without_what_is_removed_meanwhile(monkeypatch):
    there = {
        "id": "a",
        "title": "A",
        "text": "A.",
        "source": "a",
        "document": "d",
        "section": None,
        "speaker": None,
        "at": None,
    }
    row = {
        "total": 3,
        "near": [{"ids": ["a", None], "scores": [0.9, 0.8]}],
        "seeds": ["port"],
        "passages": [
            ["a", ["port", None], [1.0, 1.0]],
            [None, ["port"], [1.0]],
            ["b", ["port"], [None]],
        ],
        "frequent": [["port", 2], [None, 2]],
        "aliases": [["harbour", "port"], ["gone", None]],
        "texts": [there, dict.fromkeys(there)],
    }
    part = reader_of(row, monkeypatch).neighbourhood([[1.0, 0.0]], ["port"], near=2)
    assert part.passages == {"a": (["port"], [1.0]), "b": ([], [])}
    assert part.frequent == {"port": 2}
    assert part.aliases == {"harbour": "port"}
    assert [[id_ for id_, _ in near] for near in part.near] == [["a"]]
    assert [text.id for text in part.texts] == ["a"]


def test_a_hop_is_read_without_what_is_removed_meanwhile(monkeypatch):
    pairs = [
        [None, None, None, [], "p", "P", None, None, VECTOR],
        ["q", "Who?", ["She"], [], "p", "P", VECTOR, VECTOR, VECTOR],
    ]
    row = {"candidates": [{"vector": [None, "q"], "words": [], "name": [], "walk": []}], "pairs": pairs}
    result = hop(reader_of(row, monkeypatch), [], pairs=2, entities=2, common=9)
    assert [[pair.id for pair, _ in candidates] for candidates in result.candidates] == [["q"]]
    assert result.pairs.shape == (1, 2)


def test_propositions_are_read_without_what_is_removed_meanwhile(monkeypatch):
    near = {"ids": [None, "p"], "scores": [1.0, 0.5]}
    row = {
        "near": near,
        "facts": near,
        "passages": [[None, ["f"], [[]]], ["p", ["f", None], [[], []]], ["q", ["g"], [["c"]]]],
    }
    part = reader_of(row, monkeypatch).propositions_around([1.0], 2, 2, cap=1, limit=9)
    assert part.passages == [("q", ["g"], [["c"]])]
    assert part.near == [("p", 0.0)]


def failing(times, message):
    """A read that fails so many times, and then returns its tries."""
    tries = []

    def read():
        tries.append(1)
        if len(tries) <= times:
            raise Neo4jError._hydrate_neo4j(code="Neo.DatabaseError.General.UnknownError", message=message)
        return len(tries)

    return read


def test_a_read_that_met_a_removed_record_runs_again():
    assert read_again(failing(2, "Record #17:390 not found")) == 3


def fail_each_once(monkeypatch, kind, failed):
    """Have each statement that a session or transaction runs meet a removed record the first time; their texts go into a set."""
    run = kind.run

    def fail_first(self, text, *arguments, **parameters):
        if str(text) not in failed:
            failed.add(str(text))
            failing(1, "Record #17:390 not found")()
        return run(self, text, *arguments, **parameters)

    monkeypatch.setattr(kind, "run", fail_first)


def test_a_question_and_a_users_query_read_again(tmp_path, fake_embedder, monkeypatch):
    query = "MATCH (d:Document) RETURN count(d) AS documents"
    question = {"question": "Who designed the Tidewater Theatre?", "strategy": "linked", "keep": False}
    with Memory.open(tmp_path / "memory") as memory:
        memory.load(CORPUS)
        results = memory.ask(**question).passages
        failed = set()
        for kind in (neo4j.Session, neo4j.ManagedTransaction):
            fail_each_once(monkeypatch, kind, failed)
        assert memory.ask(**question).passages == results
        assert memory.cypher(query).rows == [{"documents": 30}]
    assert query in failed
    assert statement("read/neighbourhood") in failed


def test_a_read_that_always_fails_or_fails_otherwise_ends():
    with pytest.raises(Neo4jError, match="Record #17:390"):
        read_again(failing(9, "Record #17:390 not found"))
    with pytest.raises(Neo4jError, match="Syntax"):
        read_again(failing(1, "Syntax error: 'Record' not found"))
