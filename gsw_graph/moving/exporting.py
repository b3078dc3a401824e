"""A memory as files that others read: GraphML, lines of JSON, or the file set of an import."""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.folders import new_folder
from gsw_graph.moving.graphml import graphml
from gsw_graph.results import Exported
from gsw_graph.store.graph import VECTOR, Kind, Label, kinds, labels
from gsw_graph.store.transfer import read

if TYPE_CHECKING:
    from gsw_graph.engine import Connection

FORMATS = ("graphml", "jsonl", "import")


def export(connection: Connection, target: str | Path, format: str) -> Exported:
    """Write all that a memory holds, its questions too, in one of FORMATS: whole or, after an error, not at
    all. target: a file that is not there, for `import` a folder that is new or empty.

    What another process changes meanwhile may be in it or not. InputError: there is something in its place,
    or no such format.
    """
    place = Path(target).resolve()
    if format == "import":
        with new_folder(place) as beside:
            _write_files(connection, beside)
            files = sum(1 for one in beside.rglob("*") if one.is_file())
    else:
        files = 1
        with _new_file(place) as file:
            if format == "graphml":
                for text in graphml(_all(connection)):
                    file.write(text)
            else:
                for kind, row in _all(connection):  # ASCII: no letter ends a line for any reader
                    file.write(json.dumps(line(kind, row), default=str) + "\n")
    documents = sum(len(page.rows) for page in read(connection, labels()["Document"]))
    return Exported(documents, files, str(place))


def line(kind: Kind, row: dict[str, Any]) -> dict[str, Any]:
    """A node or a relationship as one line of JSON. Vectors are {"float32": base64} in the order of Intel
    machines, bytes {"bytes": base64}."""
    properties = {
        name: _value(value, kind.properties.get(name))
        for name, value in sorted(row["properties"].items())
        if value is not None
    }
    if isinstance(kind, Label):
        return {"label": kind.name, "properties": properties}
    return {
        "begin": [kind.begin.name, row["key"]],
        "type": kind.type,
        "end": [kind.end.name, row["end"]],
        "properties": properties,
    }


def _value(value: Any, type_: str | None) -> Any:
    if type_ == VECTOR:
        return {"float32": base64.b64encode(np.asarray(value, "<f4").tobytes()).decode()}
    if isinstance(value, bytes | bytearray):
        return {"bytes": base64.b64encode(value).decode()}
    return value


def _all(connection: Connection) -> Iterator[tuple[Kind, dict[str, Any]]]:
    for kind in kinds():
        for page in read(connection, kind):
            yield from ((kind, row) for row in page.rows)


def _write_files(connection: Connection, folder: Path) -> None:
    from gsw_graph.moving.fileset import FileSet, arrow, finish, needs_pyarrow
    from gsw_graph.moving.place import Place

    needs_pyarrow()
    place = Place.of(folder)
    place.prepare()
    with FileSet(place) as files:
        for kind in kinds():
            if kind.name == "Memory":
                continue  # it comes last, as it counts the others
            for page in read(connection, kind):
                files.add(kind, arrow(kind, [_flat(kind, row) for row in page.rows]))
    (page,) = read(connection, labels()["Memory"])
    finish(place, files.made, page.rows[0]["properties"])


def _flat(kind: Kind, row: dict[str, Any]) -> dict[str, Any]:
    if isinstance(kind, Label):
        return row["properties"]  # type: ignore[no-any-return]
    return {"begin": row["key"], "end": row["end"], **row["properties"]}


@contextmanager
def _new_file(target: Path) -> Iterator[IO[str]]:
    """A file that takes its place when all went well."""
    if target.exists():
        raise InputError("there is something here already", where=str(target), hint="Name a new file")
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            yield file
        os.link(beside, target) if hasattr(os, "link") else beside.rename(target)
    except FileExistsError:
        raise InputError(
            "there is something here already", where=str(target), hint="Name a new file"
        ) from None
    finally:
        beside.unlink(missing_ok=True)
