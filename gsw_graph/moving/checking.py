"""A set of files read back: whether an import of it would give a sound memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.moving.fileset import columns, file_of, manifest, opened
from gsw_graph.results import Checked
from gsw_graph.store.graph import VECTOR, Kind, Label, kinds

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow.parquet import ParquetFile

_ROWS = 2000  # read at once


def check(folder: str | Path) -> Checked:
    """Read a set of files: their headers, that each key is there and stands once, that both ends of every
    relationship exist, that vectors have the dimension of the embedder and that there is as much as the
    manifest says.

    Keys are compared by hashes of 64 bits, 8 bytes of memory for each node. InputError: the folder holds no
    set of files, or one that was not written to its end.
    """
    place = Path(folder)
    known = manifest(place)
    faults: list[str] = []
    counts: dict[str, int] = {}
    keys: dict[str, NDArray[np.int64]] = {}
    for kind in kinds():
        file = _open(place, kind, known.counts.get(kind.name, 0), faults)
        if file is None:
            keys[kind.name] = np.zeros(0, np.int64)
            continue
        counts[kind.name] = file.metadata.num_rows
        if isinstance(kind, Label):
            keys[kind.name] = _nodes(kind, file, known.dimension, faults)
        else:
            _ends(kind, file, keys, faults)
    named = {kind.name for kind in kinds()}
    faults += (f"{name}: this gswgraph does not know it" for name in known.counts if name not in named)
    return Checked(
        str(place.resolve()),
        nodes={name: count for name, count in counts.items() if " " not in name},
        relationships={name: count for name, count in counts.items() if " " in name},
        faults=faults,
    )


def _open(folder: Path, kind: Kind, wanted: int, faults: list[str]) -> ParquetFile | None:
    """A file whose columns are as they should be; what is wrong goes to `faults`."""
    import pyarrow as pa

    try:
        file = opened(folder, kind)
    except (OSError, pa.ArrowException) as error:
        faults.append(f"{file_of(kind)}: it cannot be read ({error})")
        return None
    if (there := 0 if file is None else file.metadata.num_rows) != wanted:
        faults.append(f"{file_of(kind)}: {there:,} rows, where the manifest says {wanted:,}")
    if file is None:
        return None
    if (found := file.schema_arrow.names) != list(columns(kind)):
        faults.append(f"{file_of(kind)}: its columns are {', '.join(found)}")
        return None
    return file


def _nodes(label: Label, file: ParquetFile, dimension: int, faults: list[str]) -> NDArray[np.int64]:
    """The sorted hashes of the keys."""
    key = next(header for header, (name, _) in columns(label).items() if name == label.key)
    vectors = [header for header, (_, type_) in columns(label).items() if type_ == VECTOR]
    found, wrong = [], 0
    for batch in _batches(file, [key, *vectors], file_of(label), faults):
        found.append(_hashes(batch.column(key), f"{file_of(label)}: keys", faults))
        wrong += sum(_of_other_length(batch.column(header), dimension) for header in vectors)
    if wrong:
        faults.append(f"{file_of(label)}: {wrong:,} vectors have not {dimension} dimensions")
    hashes = np.concatenate(found) if found else np.zeros(0, np.int64)
    found.clear()
    hashes.sort()
    if twice := int((hashes[1:] == hashes[:-1]).sum()):
        faults.append(f"{file_of(label)}: {twice:,} keys stand there again")
    return hashes


def _ends(kind: Kind, file: ParquetFile, keys: dict[str, NDArray[np.int64]], faults: list[str]) -> None:
    begin, end = list(columns(kind))[:2]
    lost = dict.fromkeys((begin, end), 0)
    for batch in _batches(file, [begin, end], file_of(kind), faults):
        for header, label in ((begin, kind.begin.name), (end, kind.end.name)):  # type: ignore[union-attr]
            hashes = _hashes(batch.column(header), f"{file_of(kind)}: {header}", faults)
            lost[header] += int((~_in(hashes, keys[label])).sum())
    faults += (
        f"{file_of(kind)}: {count:,} of {header} lead nowhere" for header, count in lost.items() if count
    )


def _batches(file: ParquetFile, headers: list[str], name: str, faults: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    try:  # a reader holds on to something of every group that it has read: one for each
        for group in range(file.num_row_groups):
            yield from file.iter_batches(_ROWS, row_groups=[group], columns=headers, use_threads=False)
    except (OSError, pa.ArrowException) as error:
        faults.append(f"{name}: it cannot be read to its end ({error})")


def _hashes(column: pa.Array, name: str, faults: list[str]) -> NDArray[np.int64]:
    values = column.to_pylist()
    if missing := sum(not value for value in values):
        faults.append(f"{name}: {missing:,} are missing")
    return np.fromiter(map(hash, values), np.int64, len(values))


def _in(hashes: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(known):
        return np.zeros(len(hashes), bool)
    place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    found: NDArray[np.bool_] = known[place] == hashes
    return found


def _of_other_length(column: pa.Array, dimension: int) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(pc.not_equal(pc.list_value_length(column), dimension)).as_py() or 0)
