"""Nodes that many documents share, made one by their key in bounded memory: what grows too large goes to disk
in partitions by a hash of the key, and each partition is joined alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.moving.fileset import arrow, rows
from gsw_graph.store.graph import labels
from gsw_graph.store.tables import joined

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
HELD = 200_000  # rows of a label in memory, about 80 MB
PARTITIONS = 64


class Joiner:
    """The rows of one label. folder: where partitions go, if there must be any."""

    def __init__(self, label: str, folder: Path) -> None:
        self._label, self._folder = labels()[label], folder
        self._held: list[Row] = []
        self._next = HELD
        self._files: dict[int, pa.RecordBatchStreamWriter] = {}

    def add(self, some: list[Row]) -> None:
        """Take rows, those of one node perhaps several times."""
        self._held += some
        if len(self._held) < self._next:
            return
        self._held = joined(self._label.name, self._held)
        if len(self._held) > HELD // 2:
            self._spill()
        self._next = len(self._held) + HELD // 2

    def rows(self) -> Iterator[list[Row]]:
        """All nodes, each once, some at a time."""
        if not self._files:
            yield joined(self._label.name, self._held)
            return
        self._spill()
        self.close()
        for part in range(PARTITIONS):
            yield joined(self._label.name, self._read(part))

    def close(self) -> None:
        """Close the files as they are."""
        for file in self._files.values():
            file.close()
        self._files = {}

    def _spill(self) -> None:
        import pyarrow as pa

        parts: list[list[Row]] = [[] for _ in range(PARTITIONS)]
        for row in self._held:
            parts[zlib.crc32(row[self._label.key].encode()) % PARTITIONS].append(row)
        for part, some in enumerate(parts):
            table = arrow(self._label, some)
            if part not in self._files:
                self._files[part] = pa.ipc.new_stream(str(self._file(part)), table.schema)
            self._files[part].write_table(table)
        self._held = []

    def _read(self, part: int) -> Iterator[Row]:
        import pyarrow as pa

        with pa.ipc.open_stream(str(self._file(part))) as stream:
            for batch in stream:
                yield from rows(self._label, pa.Table.from_batches([batch]))
        self._file(part).unlink()

    def _file(self, part: int) -> Path:
        return self._folder / f"{self._label.name}.{part}.arrow"
