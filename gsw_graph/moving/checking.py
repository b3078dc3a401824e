"""A set of files read back: whether an import of it would give a sound memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.moving.fileset import columns, file_of, manifest, opened, parts
from gsw_graph.moving.place import Place
from gsw_graph.results import Checked
from gsw_graph.store.graph import VECTOR, Kind, Label, Relationship, kinds

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

_ROWS = 2000  # read at once


def check(folder: str | Path) -> Checked:
    """Read a set of files: their headers, that each key is there and stands once, that both ends of every
    relationship exist, that vectors have the dimension of the embedder and that there is as much as the
    manifest says.

    Keys are compared by hashes of 64 bits, 8 bytes of memory for each node. InputError: the folder holds no
    set of files, or one that was not written to its end.
    """
    place = Place.of(folder)
    known = manifest(folder)
    faults: list[str] = []
    counts: dict[str, int] = {}
    keys: dict[str, NDArray[np.int64]] = {}
    for kind in kinds():
        wanted = known.counts.get(kind.name, 0)
        if isinstance(kind, Label):
            keys[kind.name], count = _nodes(place, kind, wanted, known.dimension, faults)
        else:
            count = _ends(place, kind, wanted, keys, faults)
        if count:
            counts[kind.name] = count
    named = {kind.name for kind in kinds()}
    faults += (f"{name}: this gswgraph does not know it" for name in known.counts if name not in named)
    return Checked(
        place.url,
        nodes={name: count for name, count in counts.items() if " " not in name},
        relationships={name: count for name, count in counts.items() if " " in name},
        faults=faults,
    )


class _Rows:
    """The rows of a kind, part by part; what is wrong goes to `faults`. name: of the kind there. count: rows
    that were there, known at the end."""

    def __init__(self, place: Place, kind: Kind, faults: list[str]) -> None:
        self._place, self._kind, self._faults, self.count = place, kind, faults, 0
        self.name = file_of(kind).partition("[.][0-9]")[0].replace("[.]", ".")

    def read(self, headers: list[str], wanted: int) -> Iterator[pa.RecordBatch]:
        """wanted: how many there should be."""
        import pyarrow as pa

        for name in parts(self._place, self._kind):
            try:
                with opened(self._place, name) as file:
                    if (found := file.schema_arrow.names) != list(columns(self._kind)):
                        self.fault(f"the columns of {name} are {', '.join(found)}")
                        continue
                    self.count += file.metadata.num_rows
                    for group in range(file.num_row_groups):  # a reader holds on to something of each
                        yield from file.iter_batches(
                            _ROWS, row_groups=[group], columns=headers, use_threads=False
                        )
            except (OSError, pa.ArrowException) as error:
                self.fault(f"{name} cannot be read to its end ({error})")
        if self.count != wanted:
            self.fault(f"{self.count:,} rows, where the manifest says {wanted:,}")

    def hashes(self, column: pa.Array, what: str) -> NDArray[np.int64]:
        values = column.to_pylist()
        if missing := sum(not value for value in values):
            self.fault(f"{what}: {missing:,} are missing")
        return np.fromiter(map(hash, values), np.int64, len(values))

    def fault(self, text: str) -> None:
        self._faults.append(f"{self.name}: {text}")


def _nodes(
    place: Place, label: Label, wanted: int, dimension: int, faults: list[str]
) -> tuple[NDArray[np.int64], int]:
    """The sorted hashes of the keys, and how many nodes there are."""
    key = next(header for header, (name, _) in columns(label).items() if name == label.key)
    vectors = [header for header, (_, type_) in columns(label).items() if type_ == VECTOR]
    found, wrong, rows = [], 0, _Rows(place, label, faults)
    for batch in rows.read([key, *vectors], wanted):
        found.append(rows.hashes(batch.column(key), "keys"))
        wrong += sum(_of_other_length(batch.column(header), dimension) for header in vectors)
    if wrong:
        rows.fault(f"{wrong:,} vectors have not {dimension} dimensions")
    hashes = np.concatenate(found) if found else np.zeros(0, np.int64)
    found.clear()
    hashes.sort()
    if twice := int((hashes[1:] == hashes[:-1]).sum()):
        rows.fault(f"{twice:,} keys stand there again")
    return hashes, rows.count


def _ends(
    place: Place, kind: Relationship, wanted: int, keys: dict[str, NDArray[np.int64]], faults: list[str]
) -> int:
    """How many relationships there are."""
    begin, end = list(columns(kind))[:2]
    lost, rows = dict.fromkeys((begin, end), 0), _Rows(place, kind, faults)
    for batch in rows.read([begin, end], wanted):
        for header, label in ((begin, kind.begin.name), (end, kind.end.name)):
            lost[header] += int((~_in(rows.hashes(batch.column(header), header), keys[label])).sum())
    for header, count in lost.items():
        if count:
            rows.fault(f"{count:,} of {header} lead nowhere")
    return rows.count


def _in(hashes: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(known):
        return np.zeros(len(hashes), bool)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    found: NDArray[np.bool_] = known[place] == hashes
    return found


def _of_other_length(column: pa.Array, dimension: int) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(pc.not_equal(pc.list_value_length(column), dimension)).as_py() or 0)
