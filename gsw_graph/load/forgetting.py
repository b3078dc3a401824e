"""Documents out of the memory, by any name that people have for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gsw_graph import loaders
from gsw_graph.cypher import statement
from gsw_graph.engine import Connection
from gsw_graph.errors import InputError
from gsw_graph.model.documents import Failure
from gsw_graph.model.results import Forgotten
from gsw_graph.store import writer
from gsw_graph.store.reader import Reader


def forget(
    connection: Connection,
    sources: Sequence[str],
    *,
    everything: bool,
    dry_run: bool = False,
    folder: str | Path | None = "",
) -> Forgotten:
    """Remove documents with all that only they supported, and the questions whose answers cite them; see
    `Memory.forget`."""
    reader = Reader(connection)
    chosen, unknown = (reader.sources(), []) if everything else resolve(reader, sources, folder)
    folders = {name: len(resolve(reader, [f"{name}/"], folder)[0]) for name in unknown}
    questions = 0
    if not dry_run:
        with connection.session() as session:
            questions = writer.forget_cited(session, list(chosen))
            writer.forget(session, list(chosen))
            if everything:
                writer.forget_questions(session)
                session.execute_write(lambda tx: tx.run(statement("write/forget_corrections")).consume())
    below = {name: number for name, number in folders.items() if number}
    return Forgotten(sorted(chosen.values()), unknown, questions, below)


def resolve(
    reader: Reader, names: Sequence[str], folder: str | Path | None
) -> tuple[dict[str, str], list[str]]:
    """Return stored documents by id and source that these names mean, and the names that mean none.

    A name is a source, the path of a loaded file whether it still exists or not, a folder written with a
    slash at its end, or a corpus file whose records are meant.

    Args:
        reader: Of the memory.
        names: What people call the documents.
        folder: Where paths begin; None where a name is a source alone.

    Raises:
        InputError: A name is empty.
    """
    if any(not name.strip() for name in names):
        raise InputError("an empty name means no document", hint="All documents: gswgraph forget --all")
    stored = reader.sources()
    chosen: dict[str, str] = {}
    unknown = []
    for name in names:
        sources = {name}
        if folder is not None and name not in stored.values():
            path, paths = Path(folder, name), source_paths(name, folder)
            sources = set(paths)
            if name.endswith(("/", os.sep)):
                below = tuple(f"{path}/" for path in paths)
                sources = {source for source in stored.values() if source.startswith(below)}
            elif name != "-" and sources.isdisjoint(stored.values()) and path.is_file():
                with suppress(InputError):
                    read = loaders.read([str(path)])
                    sources = {item.source for item in read if not isinstance(item, Failure)}
        meant = {id_: source for id_, source in stored.items() if source in sources}
        chosen |= meant
        if not meant:
            unknown.append(name)
    return chosen, unknown


def source_paths(name: str, folder: str | Path) -> list[str]:
    """Return how the source of a path may be written: as given, without `..`, and with links followed; the
    file need not exist."""
    path = Path(folder, name).absolute()
    plain = Path(os.path.normpath(path))
    return list(dict.fromkeys(spelling.as_posix() for spelling in (plain, path, path.resolve())))
