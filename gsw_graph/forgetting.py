"""Documents out of the memory, by any name that people have for them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.errors import InputError
from gsw_graph.model import Failure
from gsw_graph.results import Forgotten
from gsw_graph.store import writer
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from gsw_graph.engine import Connection


def forget(
    connection: Connection, sources: Sequence[str], *, everything: bool, folder: str | Path | None = ""
) -> Forgotten:
    """Remove documents with all that only they supported, and the questions whose answers cite them; see
    `Memory.forget`."""
    reader = Reader(connection)
    chosen, unknown = (reader.sources(), []) if everything else _resolve(reader, sources, folder)
    with connection.session() as session:
        questions = writer.forget_cited(session, list(chosen))
        writer.forget(session, list(chosen))
        if everything:
            writer.forget_questions(session)
    return Forgotten(sorted(chosen.values()), unknown, questions)


def _resolve(
    reader: Reader, names: Sequence[str], folder: str | Path | None
) -> tuple[dict[str, str], list[str]]:
    """Stored documents by id and source that these names mean, and the names that mean none.

    A name is a source, the path of a loaded file or folder whether it still exists or not, or a corpus
    file whose records are meant. Paths begin in `folder`; without one a name is a source alone.
    """
    from gsw_graph import loaders

    stored = reader.sources()
    chosen: dict[str, str] = {}
    unknown = []
    for name in names:
        path = None if folder is None else Path(folder, name).absolute()
        written = path and path.as_posix()
        meant = {
            i: source
            for i, source in stored.items()
            if source in (name, written) or (path and source.startswith(f"{written}/"))
        }
        if not meant and name != "-" and path:
            with suppress(InputError):
                read = loaders.read([str(path)])
                sources = {item.source for item in read if not isinstance(item, Failure)}
                meant = {i: source for i, source in stored.items() if source in sources}
        chosen |= meant
        if not meant:
            unknown.append(name)
    return chosen, unknown
