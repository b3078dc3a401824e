"""What a worker of a cluster does, by the steps of one machine: read files into chunks of documents, write a
part of the files of an import, join what the documents of all parts share. What is done twice, because a
worker died, gives the same and takes the place of what was there."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.feed import Feed
from gsw_graph.loading import Options, opened_extractor
from gsw_graph.model import Document, Failure, Workspace
from gsw_graph.moving.bulk import blocks, fill
from gsw_graph.moving.fileset import FileSet, Made, Row, arrow, opened, rows
from gsw_graph.moving.place import Place
from gsw_graph.store.graph import labels
from gsw_graph.store.tables import JOINED, joined
from gsw_graph.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa

    from gsw_graph.config import Settings
    from gsw_graph.extract import Extractor
    from gsw_graph.inference.embed.embedder import Embedder
    from gsw_graph.loaders import Identity

SHARED = "shared"  # the folder of what parts share, until it is joined

Piece = tuple[Any, "frozenset[int]"]
"""A reference of Ray to a list of documents and workspaces, and the numbers of those that are left out."""
Read = tuple["list[Identity | Failure]", "list[Document | Workspace]"]


@dataclass(slots=True)
class Part:
    """What became of a part: its files, those of what it shares, and what is added to the tally."""

    made: Made
    shared: Made
    tally: dict[str, Any]


def chunks(files: Iterable[tuple[str, Path]], size: int) -> Iterator[Read]:
    """What files hold, so many passages at a time: what can be told of each item without it, and the items
    that are no failures. files: names by which they were reached, and resolved paths."""
    from gsw_graph.loaders import Identity, read_file

    told: list[Identity | Failure] = []
    found: list[Document | Workspace] = []
    passages = 0
    for name, path in files:
        for item in read_file(name, path):
            if isinstance(item, Failure):
                told.append(item)
                continue
            told.append(one := Identity.of(*item))
            found.append(item[1])
            passages += one.passages
            if passages >= size:
                yield told, found
                told, found, passages = [], [], 0
    if told:
        yield told, found


def items_of(pieces: Iterable[Piece]) -> Iterator[Document | Workspace]:
    """What the pieces of a part hold."""
    import ray

    for reference, left_out in pieces:
        yield from (item for n, item in enumerate(ray.get(reference)) if n not in left_out)


class Worker:
    """Writes parts into a place that is prepared. embedder: makes one of these settings, which hold no
    secret."""

    def __init__(
        self, place: Place, settings: Settings, extractor: str, embedder: Callable[[Settings], Embedder]
    ) -> None:
        self._place, self._settings, self._name, self._make = place, settings, extractor, embedder

    @cached_property
    def _embedder(self) -> Embedder:
        return self._make(self._settings)

    @cached_property
    def _extractor(self) -> Extractor:
        self._opened = opened_extractor(self._name, self._settings, Options(self._name), Tally())
        return self._opened.__enter__()[0]

    def model(self) -> tuple[str, int]:
        """The name and the dimension of its embedder, once that is loaded."""
        return self._embedder.name, self._embedder.dimension

    def part(self, number: int, pieces: Iterable[Piece]) -> Part:
        """Write a part: extract, embed, make rows, write; what parts share goes below SHARED."""
        tally, items = Tally(), items_of(pieces)
        shared: dict[str, list[Row]] = {label: [] for label in JOINED}
        feed = Feed(items, lambda _: {}, self._extractor, tally)
        with feed as windows, FileSet(self._place, number) as files:
            made = blocks(windows, self._embedder, tally, lambda: None)
            fill(files, made, {label: some.extend for label, some in shared.items()})
        with FileSet(self._place.below(SHARED), number) as shares:
            for label, some in shared.items():
                shares.add(labels()[label], arrow(labels()[label], joined(label, some)))
        tally.collect()
        names = ("new", "documents_embedded", "passages", "failures", "skipped", "faults")
        told = {name: getattr(tally, name) for name in names} | tally.seconds
        return Part(files.made, shares.made, told)


def scattered(batch: dict[str, Any], place: Place, partitions: dict[str, int]) -> Iterator[dict[str, Any]]:
    """The rows of files of what parts share, as one table for each partition, by a hash of the key. batch:
    `label` and `name` of files. partitions: how many each label has."""
    import numpy as np
    import pyarrow as pa

    for label, name in zip(batch["label"], batch["name"], strict=True):
        with opened(place.below(SHARED), name) as file:
            table = file.read()
        keys = table.column(f"{labels()[label].key}:ID({label})").to_pylist()
        numbers = np.array([zlib.crc32(key.encode()) for key in keys]) % partitions[label]
        for number in np.unique(numbers):
            some = io.BytesIO()
            with closing(pa.ipc.new_stream(some, table.schema)) as stream:
                stream.write_table(table.filter(pa.array(numbers == number)))
            yield {"label": [label], "partition": [int(number)], "rows": [some.getvalue()]}


def gathered(group: pa.Table, place: Place) -> dict[str, Any]:
    """Join the tables of one partition of one label and write them as a part."""
    import pyarrow as pa

    label = labels()[group.column("label")[0].as_py()]
    tables = (pa.ipc.open_stream(one.as_buffer()).read_all() for one in group.column("rows"))
    found = joined(label.name, (row for table in tables for row in rows(label, table)))
    with FileSet(place, group.column("partition")[0].as_py()) as files:
        files.add(label, arrow(label, found))
    return {"made": [files.made.text()]}
