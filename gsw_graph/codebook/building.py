"""Runs for the passages that have none: read what they say, embed the symbols that are new, write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.codebook.edges import Edge, edges_of
from gsw_graph.codebook.segments import starts
from gsw_graph.results import RunsReport
from gsw_graph.store import codebook as store
from gsw_graph.store import schema
from gsw_graph.store.codebook import Run

if TYPE_CHECKING:
    from gsw_graph.codebook.edges import Statement
    from gsw_graph.engine import Connection
    from gsw_graph.inference.embed.embedder import Embedder
    from gsw_graph.store.reader import Reader

WINDOW = 256  # passages of one transaction; a document with more is cut there


def build(
    connection: Connection,
    reader: Reader,
    embedder: Callable[[], Embedder],
    on_passages: Callable[[int, int], None] = lambda *_: None,
) -> RunsReport:
    """Build the runs that are missing. What was written stays where this is broken off, and the next call
    goes on. embedder: asked for only where something is missing. on_passages: told how many are done, of how
    many, before each transaction and at the end; what it raises breaks this off."""
    start = perf_counter()
    missing = store.without_runs(reader)
    done = runs = 0
    if missing:  # a memory of an older schema has no constraints of runs
        made = embedder()
        schema.prepare(connection, made.name, made.dimension)
    for documents in _windows(missing):
        on_passages(done, len(missing))
        passages = [passage for document in documents for passage in document]
        texts, said = store.statements(reader, passages)
        found = [run for document in documents for run in runs_of(document, texts, said)]
        concepts = {name for run in found for edge in run.edges for name in (edge.subject, edge.object)}
        relations = {edge.relation for run in found for edge in run.edges}
        lacking, new = store.unknown(reader, sorted(concepts), sorted(relations))
        vectors = dict(zip([*lacking, *new], embedder().encode([*lacking, *new]), strict=True))
        runs += store.write_runs(
            connection,
            found,
            passages,
            {name: vectors[name] for name in lacking},
            {name: vectors[name] for name in new},
        )
        done += len(passages)
    if missing:
        on_passages(done, len(missing))
    return RunsReport(done, runs, perf_counter() - start)


def runs_of(passages: Sequence[str], texts: dict[str, str], said: Sequence[Statement]) -> list[Run]:
    """The runs of some passages of one document, in their order."""
    by_passage: dict[str, list[Statement]] = {passage: [] for passage in passages}
    for one in said:
        if one.passage in by_passage:
            by_passage[one.passage].append(one)
    edges: list[Edge] = []
    for passage, statements in by_passage.items():
        edges += edges_of(texts.get(passage, ""), statements)
    if not edges:
        return []
    follows = [False, *(one.object == other.subject for one, other in pairwise(edges))]
    begins = starts(np.stack([edge.vector for edge in edges]), follows)
    return [Run(tuple(edges[a:b])) for a, b in zip(begins, [*begins[1:], len(edges)], strict=True)]


def _windows(missing: Sequence[tuple[str, str]]) -> Iterator[list[list[str]]]:
    """Passages by document, as many documents together as have WINDOW passages; one with more in pieces."""
    window: list[list[str]] = []
    size = 0
    for _, group in groupby(missing, key=lambda one: one[0]):
        passages = [passage for _, passage in group]
        for begin in range(0, len(passages), WINDOW):
            piece = passages[begin : begin + WINDOW]
            if window and size + len(piece) > WINDOW:
                yield window
                window, size = [], 0
            window.append(piece)
            size += len(piece)
    if window:
        yield window
