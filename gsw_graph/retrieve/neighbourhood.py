"""The neighbourhood of a question's seeds, fetched by one bounded query: for memories too large to keep their names in the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gsw_graph.retrieve.linked import BEST, NEAREST
from gsw_graph.retrieve.linking import mentions
from gsw_graph.retrieve.name_graph import CAP, NamedGraph, build

if TYPE_CHECKING:
    from gsw_graph.store.reader import Reader

SCAN = 500  # documents of a very common name that are looked at for its passages


def fetch(reader: Reader, question: str, embedding: Sequence[float], total: int) -> tuple[NamedGraph, list[tuple[str, float]]]:
    """The part of the graph that the walk needs, and the passages near the question with their cosine. `total` counts the memory's passages."""
    keys = list({mention.key for mention in mentions(question)})
    rows = reader.run("read/neighbourhood", embedding=embedding, near=NEAREST, best=BEST, keys=keys, cap=CAP, scan=SCAN)
    frequency = {name: count for row in rows for name, count in zip(row["names"], row["frequencies"], strict=True)}
    graph = build(((row["id"], row["names"], row["titles"]) for row in rows), total=total, frequency=frequency)
    near = [(row["id"], 2 * row["score"] - 1) for row in rows if row["score"] is not None]
    return graph, sorted(near, key=lambda item: -item[1])
