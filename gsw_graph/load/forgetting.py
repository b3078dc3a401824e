"""Remove documents from the memory, by any name that people use for them."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from gsw_graph import loaders
from gsw_graph.engine import Connection
from gsw_graph.errors import InputError
from gsw_graph.model.documents import Failure, Skipped, source_paths
from gsw_graph.model.results import Forgotten
from gsw_graph.store import writer
from gsw_graph.store.reader import Reader

Folder: TypeAlias = "str | Path | None"
Sources = dict[str, str]  # of documents, by id
Records: TypeAlias = "dict[str, set[str] | None]"  # sources of the records of a file, None if unknown


def forget(
    connection: Connection,
    sources: Sequence[str],
    *,
    everything: bool,
    gone: bool = False,
    dry_run: bool = False,
    folder: Folder = "",
) -> Forgotten:
    """Remove documents with everything that only they support, and the questions whose answers cite them; see
    `Memory.forget`."""
    reader = Reader(connection)
    unknown: list[str] = []
    if everything:
        chosen = reader.sources()
    elif gone:
        chosen = gone_from(reader, sources, folder)
    else:
        chosen, unknown = resolve(reader, sources, folder)
    below = {}
    for name in unknown:
        documents, _ = resolve(reader, [f"{name}/"], folder)
        if documents:
            below[name] = len(documents)
    questions = 0
    if not dry_run:
        ids = list(chosen)
        with connection.session() as session:
            questions = writer.forget_cited(session, ids)
            writer.forget(session, ids)
            if everything:
                writer.forget_questions(session)
                session.execute_write(writer.execute, "forget_corrections")
    return Forgotten(sorted(chosen.values()), unknown, questions, below)


def resolve(reader: Reader, names: Sequence[str], folder: Folder) -> tuple[Sources, list[str]]:
    """Return the stored documents of some names, by id and source, and the names without a document.

    A name is a source, the path of a loaded file whether it still exists or not, a folder written with a
    slash at its end, or a corpus file, for its records.

    Args:
        reader: Reader of the memory.
        names: Names of documents.
        folder: Base folder of paths; None if no name is a path.

    Raises:
        InputError: A name is empty.
    """
    if any(not name.strip() for name in names):
        raise InputError("an empty name means no document", hint="All documents: gswgraph forget --all")
    stored = reader.sources()
    chosen: Sources = {}
    unknown = []
    for name in names:
        sources = _sources_of(name, stored.values(), folder)
        meant = {id_: source for id_, source in stored.items() if source in sources}
        chosen |= meant
        if not meant:
            unknown.append(name)
    return chosen, unknown


def _sources_of(name: str, stored: Collection[str], folder: Folder) -> set[str]:
    """Return the sources that a name may mean."""
    if folder is None or name in stored:
        return {name}
    spellings = source_paths(name, folder)
    if name.endswith(("/", os.sep)):
        below = tuple(f"{path}/" for path in spellings)
        return {source for source in stored if source.startswith(below)}
    path = Path(folder, name)
    if name != "-" and not any(source in stored for source in spellings) and path.is_file():
        with suppress(InputError):
            return {item.source for item in loaders.read([str(path)]) if not isinstance(item, Failure)}
    return set(spellings)


def gone_from(reader: Reader, names: Sequence[str], folder: Folder) -> Sources:
    """Return the stored documents, by id and source, that are no longer in some folders: the file is missing,
    or no longer holds the document. In doubt a document stays.

    Args:
        reader: Reader of the memory.
        names: Folders.
        folder: Base folder of their paths.

    Raises:
        InputError: A folder cannot be read, or is empty though documents of it are stored: it may be a drive
            that is not mounted.
    """
    rows = reader.rows("read/sources")
    records: Records = {}
    gone: Sources = {}
    for name in names:
        below = tuple(f"{path}/".replace("//", "/") for path in source_paths(name, folder or ""))
        stored = [row for row in rows if (row["file"] or row["source"]).startswith(below)]
        try:
            is_empty = not any(Path(folder or "", name).iterdir())
        except OSError as error:
            message = f"this folder cannot be read ({error.strerror}), so nothing is forgotten"
            raise InputError(message, where=name, hint="Is its drive connected?") from error
        if is_empty and stored:
            hint = f"Is its drive connected? If it is: gswgraph forget {name.rstrip('/')}/"
            raise InputError("this folder is empty, so nothing is forgotten", where=name, hint=hint)
        for row in stored:
            if not _is_there(row["source"], row["file"], records):
                gone[row["id"]] = row["source"]
    return gone


def _is_there(source: str, file: str | None, records: Records) -> bool:
    """Return whether the source of a document is a file, or a record of one.

    Args:
        source: Of the document.
        file: The file that it was read from, if its source does not say so.
        records: What files hold, None where that cannot be told; it grows.
    """
    if file is None and _may_exist(source):
        return True
    holder = file or source.rpartition("#")[0]
    if not _may_exist(holder):
        return False
    if holder not in records:
        items = list(loaders.read([holder]))
        failed = [item for item in items if isinstance(item, Failure) and not isinstance(item, Skipped)]
        records[holder] = None if failed else {item.source for item in items}
    sources = records[holder]
    return sources is None or source in sources


def _may_exist(path: str) -> bool:
    """Return whether a file is there, or the system does not tell."""
    try:
        os.stat(path)  # noqa: PTH116 - Path raises for what no file is named
    except (OSError, ValueError) as error:
        return not isinstance(error, FileNotFoundError | NotADirectoryError)
    return True
