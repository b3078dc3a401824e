"""A read commits itself, which is one message there and back; what goes wrong for a moment is tried again in a transaction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from neo4j.exceptions import ClientError, Neo4jError, SessionExpired, TransientError

from gsw_graph.engine import Connection
from gsw_graph.store.reader import Reader


class Driver:
    execute_query_bookmark_manager = "bookmarks"

    def __init__(self, error):
        self.error = error
        self.transactions = 0
        self.given: dict[str, Any] = {}

    def session(self, **given):
        self.given = given
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_): ...

    def run(self, text, parameters):
        if self.error is not None:
            raise self.error
        return iter([{"text": text, **parameters}])

    def execute_query(self, text, parameters, **given):
        self.transactions += 1
        assert given == {"database_": "db", "routing_": "r"}
        return [{"text": text, **parameters}], None, None


def reader(driver):
    return Reader(Connection(driver, "db", SimpleNamespace(name="neo4j"), "bolt://here"))  # type: ignore[arg-type]


def test_a_read_commits_itself():
    driver = Driver(None)
    some = reader(driver)
    (row,) = some.rows("read/passages", ids=["a"])
    assert row["ids"] == ["a"]
    assert "MATCH" in row["text"]
    assert driver.transactions == 0
    assert some.round_trips == 1
    assert driver.given == {
        "database": "db",
        "default_access_mode": "READ",
        "bookmark_manager": "bookmarks",
    }, "it sees what was written before"


@pytest.mark.parametrize(
    "error",
    [Neo4jError._hydrate_neo4j(code="Neo.TransientError.General.X", message="busy"), SessionExpired("gone")],
)
def test_what_may_go_better_is_tried_again(error):
    driver = Driver(error)
    assert isinstance(error, TransientError | SessionExpired)
    (row,) = reader(driver).rows("read/passages", ids=["a"])
    assert row["ids"] == ["a"]
    assert driver.transactions == 1


def test_what_cannot_go_better_is_raised():
    driver = Driver(ClientError("no such index"))
    with pytest.raises(ClientError):
        reader(driver).rows("read/passages", ids=["a"])
    assert driver.transactions == 0
