"""The name graph of a memory, version by version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.retrieve.names.graph import CONTAINMENT_WEIGHT, TITLE_WEIGHT, NameGraph, NameMatrices, build
from gsw_graph.retrieve.versions import (
    Files,
    Versions,
    packed,
    packed_aliases,
    packed_matrix,
    unpacked,
    unpacked_aliases,
    unpacked_matrix,
)
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from gsw_graph.engine import Connection
    from gsw_graph.retrieve.versions import Arrays

FORM = f"2 {TITLE_WEIGHT} {CONTAINMENT_WEIGHT}"


class NameGraphs:
    """Keeps the graph of the last version asked for, in this process and in `folder`."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self._reader = Reader(connection)
        self._graphs = Versions(self._reader, files(folder), self._build)
        self._size: int | None = None

    def _build(self, _: object) -> NameGraph:
        aliases = self._reader.aliases()
        return build(self._reader.name_graph(), aliases=aliases)

    @property
    def size(self) -> int:
        """How many passages the memory has, as last seen; chooses the form of the walk."""
        if self._size is None:
            self._size = self._reader.size()[1]
        return self._size

    def of(self, version: int) -> NameGraph:
        """The graph of a version of the memory; of a later one where somebody wrote meanwhile."""
        graph = self._graphs.of(version)
        self._size = graph.matrices.size
        return graph


def files(folder: Path) -> Files[NameGraph]:
    """Where and how name graphs are kept."""
    return Files(folder, FORM, _pack, _unpack)


def _pack(graph: NameGraph) -> Arrays:
    matrices = graph.matrices
    return {
        "passages": packed(graph.passages),
        "names": packed(graph.names),
        **packed_aliases(graph.aliases),
        "frequency": matrices.frequency,
        "titled": matrices.titled,
        **packed_matrix("incidence", matrices.incidence),
        **packed_matrix("containment", matrices.containment),
    }


def _unpack(found: Arrays) -> NameGraph:
    passages, names = unpacked(found["passages"]), unpacked(found["names"])
    incidence = unpacked_matrix("incidence", found, (len(passages), len(names)))
    containment = unpacked_matrix("containment", found, (len(names), len(names)))
    matrices = NameMatrices(incidence, containment, found["frequency"], found["titled"])
    return NameGraph(matrices, passages, names, unpacked_aliases(found))
