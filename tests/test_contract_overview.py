"""What an overview asks of the graph, on every engine: the same documents, and the same passages in the same order."""

from __future__ import annotations

import pytest

from gsw_graph.store.reader import Reader

TIMES = [("", ""), ("1900-01-01", "1911-12-31"), ("1911-12-31~", "2030-12-31"), ("1700-01-01", "1701-12-31")]


def covered(memory, since, until, excluded=()):
    reader = Reader(memory._connection)
    reader.exclude(excluded)
    bounds = {"since": since, "until": until}
    documents = reader.rows("read/cover_documents", **bounds)
    ids = [document["id"] for document in documents]
    return documents, reader.rows("read/cover_passages", documents=ids, limit=100, **bounds)


@pytest.mark.parametrize(("since", "until"), TIMES)
def test_cover_is_the_same_on_every_engine(corpus, embedded_corpus, since, until):
    documents, passages = covered(corpus, since, until)
    assert (documents, passages) == covered(embedded_corpus, since, until)
    assert sum(document["passages"] for document in documents) == len(passages)
    assert bool(passages) == (since != "1700-01-01")


def test_what_is_excluded_is_not_covered(corpus):
    _, passages = covered(corpus, "", "")
    hidden = passages[0]["id"]
    _, others = covered(corpus, "", "", [hidden])
    assert {passage["id"] for passage in others} == {passage["id"] for passage in passages} - {hidden}
