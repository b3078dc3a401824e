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

    def __init__(self, error: Exception | None) -> None:
        self.error, self.transactions = error, 0
        self.given: dict[str, Any] = {}

    def session(self, **given: Any) -> Driver:
        self.given = given
        return self

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None: ...

    def run(self, text: str, parameters: dict[str, Any]) -> Any:
        if self.error is not None:
            raise self.error
        return iter([{"text": text, **parameters}])

    def execute_query(self, text: str, parameters: dict[str, Any], **given: Any) -> Any:
        self.transactions += 1
        assert given == {"database_": "db", "routing_": "r"}
        return [{"text": text, **parameters}], None, None


def reader(driver: Driver) -> Reader:
    return Reader(Connection(driver, "db", SimpleNamespace(name="neo4j"), "bolt://here"))  # type: ignore[arg-type]


def test_a_read_commits_itself() -> None:
    driver = Driver(None)
    some = reader(driver)
    (row,) = some.rows("read/passages", ids=["a"])
    assert row["ids"] == ["a"]
    assert "MATCH" in row["text"]
    assert (driver.transactions, some.round_trips) == (0, 1)
    assert driver.given == {"database": "db", "default_access_mode": "READ", "bookmark_manager": "bookmarks"}, "it sees what was written before"


@pytest.mark.parametrize("error", [Neo4jError._hydrate_neo4j(code="Neo.TransientError.General.X", message="busy"), SessionExpired("gone")])
def test_what_may_go_better_is_tried_again(error: Exception) -> None:
    driver = Driver(error)
    assert isinstance(error, TransientError | SessionExpired)
    (row,) = reader(driver).rows("read/passages", ids=["a"])
    assert (row["ids"], driver.transactions) == (["a"], 1)


def test_what_cannot_go_better_is_raised() -> None:
    driver = Driver(ClientError("no such index"))
    with pytest.raises(ClientError):
        reader(driver).rows("read/passages", ids=["a"])
    assert driver.transactions == 0
