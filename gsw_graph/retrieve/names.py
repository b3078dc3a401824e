"""The name graph of a memory, version by version: from this process, from disk, or read from the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve import graph_cache, name_graph
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from pathlib import Path

    from gsw_graph.engine import Connection
    from gsw_graph.retrieve.name_graph import NamedGraph

_TRIES = 3  # to read it while nobody writes


class NameGraphs:
    """Keeps the graph of the last version asked for; `folder` is its place on disk, None for a memory that has no name yet."""

    def __init__(self, connection: Connection, folder: Path | None) -> None:
        self._reader, self._folder = Reader(connection), folder
        self._last: tuple[int, NamedGraph] | None = None
        self._size: int | None = None

    @property
    def size(self) -> int:
        """How many passages the memory has, as last seen; chooses the form of the walk."""
        if self._size is None:
            self._size = self._reader.size()[1]
        return self._size

    def of(self, version: int) -> NamedGraph:
        """The graph of a version of the memory; of a later one where somebody wrote meanwhile."""
        if self._last is not None and self._last[0] == version:
            return self._last[1]
        graph = graph_cache.load(self._folder, version) if self._folder else None
        for _ in range(_TRIES):
            if graph is not None:
                break
            read = name_graph.build(self._reader.name_graph())
            now = self._reader.size()[0]
            if now == version:
                graph = read
                if self._folder:
                    graph_cache.save(graph, self._folder, version)
            version = now
        if graph is None:
            return read  # somebody writes all the time: good for this question, not to be kept
        self._last, self._size = (version, graph), graph.graph.size
        return graph
