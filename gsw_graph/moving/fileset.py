"""The files that `neo4j-admin database import full --input-type=parquet` takes: for each kind of node and
relationship Parquet files, one for each part of a corpus, their columns named as the headers of that tool
want them.

    FOLDER/nodes/Passage.00000.parquet    id:ID(Passage), text:string, embedding:float[], vector:byte[] ...
    FOLDER/relationships/Entity.IN.Passage.00000.parquet    :START_ID(Entity), :END_ID(Passage), title:boolean
    FOLDER/schema.cypher            constraints and indexes, for a database in block format
    FOLDER/import.sh                the command
    FOLDER/gswgraph.json            what is in the files; written last

One machine writes one part, workers of a cluster one each at a time; the number of a part decides about the
names of its files, so that a part that is written again takes the place of what was left of it.

Parquet and not CSV: there a list cannot hold its own delimiter, an empty list is no list, floats are text.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gsw_graph import __version__
from gsw_graph.errors import InputError
from gsw_graph.moving.place import FOLDERS, Place
from gsw_graph.store.graph import Kind, Label, Relationship, kinds, labels
from gsw_graph.store.transfer import Mark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

Row = dict[str, Any]
FORMAT = 2
MANIFEST, SCRIPT, SCHEMA = "gswgraph.json", "import.sh", "schema.cypher"
GROUP_BYTES = 16_000_000  # of rows that are written at once; the import reads as many at once in each thread
_PROPERTIES = {
    "string": "string",
    "long": "long",
    "double": "double",
    "boolean": "boolean",
    "bytes": "byte[]",
    "string[]": "string[]",
    "long[]": "long[]",
    "float[]": "float[]",
}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a set of files: how many of each kind, and for which embedder."""

    format: int
    gswgraph: str
    schema: int
    embedder: str
    dimension: int
    counts: dict[str, int]


@dataclass(slots=True)
class Made:
    """What parts of a set of files hold. counts: rows of each kind. files: their names. blank, missing:
    labels and properties of which some nodes have an empty text, and some none."""

    counts: dict[str, int] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    blank: set[tuple[str, str]] = field(default_factory=set)
    missing: set[tuple[str, str]] = field(default_factory=set)

    def add(self, other: Made) -> None:
        """Take in what another part holds."""
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.files |= other.files
        self.blank |= other.blank
        self.missing |= other.missing

    def text(self) -> str:
        """As a line of text, which `read` reads."""
        return json.dumps([self.counts, sorted(self.files), sorted(self.blank), sorted(self.missing)])

    @classmethod
    def read(cls, text: str) -> Made:
        counts, files, blank, missing = json.loads(text)
        return cls(counts, set(files), set(map(tuple, blank)), set(map(tuple, missing)))


class FileSet:
    """Writes the files of one part into a place that is prepared, some rows at a time; it holds GROUP_BYTES
    of each kind. A context manager: after an error no file of this part is there. `made` is known at its
    end."""

    def __init__(self, place: Place, part: int = 0) -> None:
        self._place, self._part = place, part
        self._open = ExitStack()
        self._writers: dict[str, Any] = {}
        self._waiting: dict[str, list[pa.Table]] = {}
        self._bytes: dict[str, int] = {}  # of what waits
        self.made = Made()

    def __enter__(self) -> FileSet:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        with self._open:
            if error is not None:
                raise error  # which the open files are told
            for kind in kinds():
                if self._waiting.get(kind.name):
                    self._write(kind)

    def add(self, kind: Kind, table: pa.Table) -> None:
        """Take rows of a kind, as `arrow` makes them."""
        if not table.num_rows:
            return
        self.made.counts[kind.name] = self.made.counts.get(kind.name, 0) + table.num_rows
        if isinstance(kind, Label):
            self._look_for_blanks(kind, table)
        self._waiting.setdefault(kind.name, []).append(table)
        self._bytes[kind.name] = self._bytes.get(kind.name, 0) + table.nbytes
        if self._bytes[kind.name] >= GROUP_BYTES:
            self._write(kind)

    def _look_for_blanks(self, label: Label, table: pa.Table) -> None:
        import pyarrow.compute as pc

        for header, (name, type_) in columns(label).items():
            if type_ != "string":
                continue
            if table.column(header).null_count:
                self.made.missing.add((label.name, name))
            if pc.any(pc.equal(table.column(header), "")).as_py():
                self.made.blank.add((label.name, name))

    def _write(self, kind: Kind) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        table = pa.concat_tables(self._waiting.pop(kind.name))
        self._bytes[kind.name] = 0
        if kind.name not in self._writers:
            name = file_of(kind, self._part)
            self._writers[kind.name] = self._open.enter_context(
                ParquetWriter(
                    self._open.enter_context(self._place.new(name)),
                    table.schema,
                    compression="none",
                    use_dictionary=False,
                    write_statistics=False,
                )
            )
            self.made.files.add(name)
        self._writers[kind.name].write_table(table, row_group_size=table.num_rows)


def finish(place: Place, made: Made, memory: Row) -> Manifest:
    """Write what comes last: the Memory node, the script, the schema and that the files are whole. memory:
    properties of that node, among them schema, embedder and dimension. InputError: a file is missing."""
    kind = labels()["Memory"]
    row = {**memory, "indexed": False, "vectors": 0, "moving": mark(place, made).text()}
    with FileSet(place) as files:
        files.add(kind, arrow(kind, [row]))
    made.add(files.made)
    there = {f"{folder}/{name}" for folder in FOLDERS for name in place.names(folder)}
    if lost := made.files - there:
        raise InputError(
            f"{len(lost):,} files that were written are not here, {min(lost)} among them",
            where=place.url,
            hint="Workers must write into the same folder: one that all nodes share, or a url such as s3://",
        )
    for stray in there - made.files:  # what a worker that died had begun
        place.remove(stray)
    manifest = Manifest(
        FORMAT, __version__, memory["schema"], memory["embedder"], memory["dimension"], made.counts
    )
    place.write(SCHEMA, schema_text(manifest.dimension))
    place.write(SCRIPT, _script(made.counts))
    if place.local is not None:
        (place.local / SCRIPT).chmod(0o755)
    place.write(MANIFEST, json.dumps(asdict(manifest), indent=2) + "\n")
    return manifest


def mark(place: Place, made: Made) -> Mark:
    """What the Memory node, which comes last, says of an import of these files until it is whole. The import
    takes empty texts for missing ones: where a property is empty for some nodes and missing for others, it
    has the keys of the first, which are read from the files."""
    blank: dict[str, dict[str, list[str] | None]] = {}
    for label, name in sorted(made.blank):
        keys = list(_blank(place, labels()[label], name)) if (label, name) in made.missing else None
        blank.setdefault(label, {})[name] = keys
    return Mark("import", "files", done=sum(made.counts.values()) + 1, imported=True, blank=blank)


def _blank(place: Place, label: Label, name: str) -> Iterator[str]:
    """The keys of nodes one of whose texts is empty."""
    import pyarrow.compute as pc

    headers = {one: header for header, (one, _) in columns(label).items()}
    key, header = headers[label.key], headers[name]
    for part in parts(place, label):
        with opened(place, part) as file:
            for batch in file.iter_batches(columns=[key, header]):
                yield from batch.filter(pc.equal(batch.column(header), "")).column(key).to_pylist()


def file_of(kind: Kind, part: int | None = None) -> str:
    """The file of a part of a kind within its folder; without a part the pattern of all of them, as
    neo4j-admin takes it."""
    folder = "nodes" if isinstance(kind, Label) else "relationships"
    name = kind.name.replace(" ", ".")
    if part is None:
        return f"{folder}/{name.replace('.', '[.]')}[.][0-9]+[.]parquet"
    return f"{folder}/{name}.{part:05}.parquet"


def columns(kind: Kind) -> dict[str, tuple[str, str]]:
    """Of each column of a kind the name of a row's value and its type, by the header for the import."""
    found = {}
    if isinstance(kind, Relationship):
        found[f":START_ID({kind.begin.name})"] = ("begin", "string")
        found[f":END_ID({kind.end.name})"] = ("end", "string")
    for name, type_ in kind.properties.items():
        is_key = isinstance(kind, Label) and name == kind.key
        header = f"{name}:ID({kind.name})" if is_key else f"{name}:{_PROPERTIES[type_]}"
        found[header] = (name, type_)
    return found


def arrow(kind: Kind, rows: list[Row]) -> pa.Table:
    """Rows of a kind as columns; a value that a row has not is null."""
    import pyarrow as pa

    return pa.table(
        {
            header: _column([row.get(name) for row in rows], type_)
            for header, (name, type_) in columns(kind).items()
        }
    )


def rows(kind: Kind, table: pa.Table) -> Iterator[Row]:
    """Columns as rows, those values left out that are null; vectors as arrays."""
    named = [
        (name, type_, table.column(header).to_pylist()) for header, (name, type_) in columns(kind).items()
    ]
    for n in range(table.num_rows):
        yield {
            name: np.array(values[n], np.int8).tobytes() if type_ == "bytes" else values[n]
            for name, type_, values in named
            if values[n] is not None
        }


def parts(place: Place, kind: Kind) -> list[str]:
    """The names of the files of a kind, sorted."""
    folder, pattern = file_of(kind).split("/")
    return [f"{folder}/{name}" for name in place.names(folder) if re.fullmatch(pattern, name)]


@contextmanager
def opened(place: Place, name: str) -> Iterator[ParquetFile]:
    """A file to read. OSError, ArrowException: it cannot be read. InputError: as of `Place.open`."""
    from pyarrow.parquet import ParquetFile

    with place.open(name) as stream, ParquetFile(stream) as file:
        yield file


def manifest(folder: str | Path) -> Manifest:
    """What is in a folder. InputError: it holds no set of files that was written to its end."""
    place = Place.of(folder)
    try:
        with place.open(MANIFEST) as file:
            found = json.loads(file.read())
        known = Manifest(**found)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            "there is no complete set of files here",
            where=f"{place.url}/{MANIFEST}",
            hint="Make one: gswgraph bulk CORPUS --out NEW_FOLDER",
        ) from error
    if known.format != FORMAT:
        raise InputError(
            f"the files have format {known.format}, this gswgraph knows {FORMAT}",
            where=str(folder),
            hint="Make them again, or upgrade: pip install -U gswgraph",
        )
    return known


def needs_pyarrow() -> None:
    """InputError where it is not installed."""
    try:
        import fsspec  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Parquet files need pyarrow", hint="pip install 'gswgraph[bulk]'") from None


def command(counts: dict[str, int], folder: str = ".", database: str = "neo4j") -> list[str]:
    """The arguments of neo4j-admin that import the files. Types are not normalised: that would make vectors
    four times as large."""
    arguments = ["database", "import", "full", database, "--input-type=parquet", "--normalize-types=false"]
    for kind in kinds():
        if counts.get(kind.name):
            option, name = (
                ("--nodes", kind.name) if isinstance(kind, Label) else ("--relationships", kind.type)
            )
            arguments.append(f"{option}={name}={folder}/{file_of(kind)}")
    return arguments


def schema_text(dimension: int) -> str:
    """Constraints and indexes as `--schema` takes them: in one text no two may call their node the same."""
    from gsw_graph.cypher import definitions
    from gsw_graph.store import schema

    names = [*(name for names in schema.MIGRATIONS.values() for name in names), *schema.SEARCH_INDEXES]
    made = [definitions(f"schema/{name}", "neo4j", dimensions=str(dimension))[0] for name in names]
    return "".join(
        re.sub(r"(?<=[(\[ ])n(?=[:.])", f"n{n}", text).rstrip() + ";\n" for n, text in enumerate(made)
    )


def _script(counts: dict[str, int]) -> str:
    arguments = command(counts, database='"$DATABASE"')
    return "\n".join(
        [
            "#!/bin/sh",
            "# Imports these files into a Neo4j database that does not run and holds nothing:",
            "#     sh import.sh [DATABASE [OPTION...]]",
            "# NEO4J_ADMIN: the program, default neo4j-admin. A database in block format (Enterprise) takes",
            "# --schema=schema.cypher as an option. Then start the server, and: gswgraph doctor --mend",
            "set -eu",
            'DATABASE="${1:-neo4j}"',
            "[ $# -eq 0 ] || shift",
            'cd "$(dirname "$0")"',
            'exec "${NEO4J_ADMIN:-neo4j-admin}" '
            + " \\\n  ".join(one if "$" in one else shlex.quote(one) for one in arguments)
            + ' "$@"',
            "",
        ]
    )


def _column(values: list[Any], type_: str) -> pa.Array:
    import pyarrow as pa

    if type_ == "bytes":
        return _lists([None if one is None else np.frombuffer(one, np.int8) for one in values], np.int8)
    if type_ == "float[]":
        return _lists(values, np.float32)
    types = {
        "string": pa.string(),
        "long": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "string[]": pa.list_(pa.string()),
        "long[]": pa.list_(pa.int64()),
    }
    return pa.array(values, types[type_])


def _lists(values: Iterable[Any], dtype: Any) -> pa.Array:
    """Lists of numbers, from arrays and without a step for each number."""
    import pyarrow as pa

    arrays = [None if one is None else np.asarray(one, dtype) for one in values]
    lengths = [0 if one is None else len(one) for one in arrays]
    offsets = np.zeros(len(arrays) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    flat = [one for one in arrays if one is not None]
    missing = pa.array([one is None for one in arrays], pa.bool_())
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(np.concatenate(flat) if flat else np.zeros(0, dtype)), mask=missing
    )
