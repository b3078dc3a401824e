"""The files that `neo4j-admin database import full --input-type=parquet` takes: a Parquet file for each kind
of node and relationship, its columns named as the headers of that tool want them.

    FOLDER/nodes/Passage.parquet    id:ID(Passage), text:string, embedding:float[], vector:byte[] ...
    FOLDER/relationships/Entity.IN.Passage.parquet    :START_ID(Entity), :END_ID(Passage), title:boolean
    FOLDER/schema.cypher            constraints and indexes, for a database in block format
    FOLDER/import.sh                the command
    FOLDER/gswgraph.json            what is in the files; written last

Parquet and not CSV: there a list cannot hold its own delimiter, an empty list is no list, floats are text.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gsw_graph import __version__
from gsw_graph.errors import InputError
from gsw_graph.store.graph import Kind, Label, Relationship, kinds
from gsw_graph.store.transfer import Mark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

Row = dict[str, Any]
FORMAT = 1
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


class FileSet:
    """Writes the files of a folder that exists and is empty, some rows at a time; it holds GROUP_BYTES of
    each kind. `close` says that they are whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Any] = {}
        self._waiting: dict[str, list[pa.Table]] = {}
        self._bytes: dict[str, int] = {}  # of what waits
        self.counts: dict[str, int] = {}
        self._blank: dict[tuple[str, str], list[str]] = {}  # keys of nodes whose text is empty
        self._missing: set[tuple[str, str]] = set()  # properties that some nodes have not
        for name in ("nodes", "relationships"):
            (folder / name).mkdir()

    def add(self, kind: Kind, table: pa.Table) -> None:
        """Take rows of a kind, as `arrow` makes them."""
        if not table.num_rows:
            return
        self.counts[kind.name] = self.counts.get(kind.name, 0) + table.num_rows
        if isinstance(kind, Label):
            self._look_for_blanks(kind, table)
        self._waiting.setdefault(kind.name, []).append(table)
        self._bytes[kind.name] = self._bytes.get(kind.name, 0) + table.nbytes
        if self._bytes[kind.name] >= GROUP_BYTES:
            self._write(kind)

    def mark(self) -> Mark:
        """What the Memory node, which comes last, says of an import of these files until it is whole."""
        return Mark(
            "import", "files", done=sum(self.counts.values()) + 1, imported=True, blank=self._blanks()
        )

    def _blanks(self) -> dict[str, dict[str, list[str] | None]]:
        found: dict[str, dict[str, list[str] | None]] = {}
        for (label, name), keys in self._blank.items():
            found.setdefault(label, {})[name] = keys if (label, name) in self._missing else None
        return found

    def close(self, schema: int, embedder: str, dimension: int) -> Manifest:
        """Write what waits, the script and the schema, and at last that the files are whole."""
        for kind in kinds():
            if self._waiting.get(kind.name):
                self._write(kind)
        self.abandon()
        manifest = Manifest(FORMAT, __version__, schema, embedder, dimension, self.counts)
        (self._folder / SCHEMA).write_text(schema_text(dimension), encoding="utf-8")
        script = self._folder / SCRIPT
        script.write_text(_script(self.counts), encoding="utf-8", newline="\n")
        script.chmod(0o755)
        (self._folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
        return manifest

    def abandon(self) -> None:
        """Close the files as they are."""
        for file in self._files.values():
            file.close()
        self._files = {}

    def _look_for_blanks(self, label: Label, table: pa.Table) -> None:
        import pyarrow.compute as pc

        for header, (name, type_) in columns(label).items():
            if type_ != "string":
                continue
            if table.column(header).null_count:
                self._missing.add((label.name, name))
            empty = pc.equal(table.column(header), "")
            if pc.any(empty).as_py():
                keys = table.filter(empty).column(f"{label.key}:ID({label.name})").to_pylist()
                self._blank.setdefault((label.name, name), []).extend(keys)

    def _write(self, kind: Kind) -> None:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        table = pa.concat_tables(self._waiting.pop(kind.name))
        self._bytes[kind.name] = 0
        if kind.name not in self._files:
            self._files[kind.name] = ParquetWriter(
                self._folder / file_of(kind),
                table.schema,
                compression="none",
                use_dictionary=False,
                write_statistics=False,
            )
        self._files[kind.name].write_table(table, row_group_size=table.num_rows)


def file_of(kind: Kind) -> str:
    """The file of a kind within its folder."""
    if isinstance(kind, Label):
        return f"nodes/{kind.name}.parquet"
    return f"relationships/{kind.name.replace(' ', '.')}.parquet"


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


def opened(folder: Path, kind: Kind) -> ParquetFile | None:
    """The file of a kind, None where there is none."""
    from pyarrow.parquet import ParquetFile

    file = folder / file_of(kind)
    return ParquetFile(file) if file.exists() else None


def manifest(folder: Path) -> Manifest:
    """What is in a folder. InputError: it holds no set of files that was written to its end."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        known = Manifest(**found)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            "there is no complete set of files here",
            where=str(folder / MANIFEST),
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
