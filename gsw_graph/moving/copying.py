"""A memory copied from one engine to another: ids, properties, vectors, relationships, questions, indexes.

Nodes go first, kind by kind in the order of their keys, then relationships by those of their beginnings.
Each transaction writes rows and, in the Memory node, how far that is, so that a copy that was cut off goes on
where it stopped and nothing comes twice. Until all is there, compared and released, documents are `loading`
and the Memory node says that the copy is not whole: nothing reads it, loads into it or mends it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.errors import EngineError, InputError, SchemaError
from gsw_graph.model import content_id
from gsw_graph.results import Copied

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.engine import Connection
    from gsw_graph.store.digest import Digest
    from gsw_graph.store.schema import MemoryState
    from gsw_graph.store.transfer import Mark

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a copy is. stage: `copying`, `indexing` or `comparing`. done, total: nodes and relationships;
    while comparing, those of both sides."""

    stage: str
    done: int
    total: int


Report = Callable[[Moved], None]


def sides(source: str, target: str, env: Mapping[str, str] | None = None) -> tuple[Settings, Settings]:
    """The settings of both sides from the environment: NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE, for
    `source` NEO4J_FROM_USERNAME and so on where these are set. A password on a command line is read by every
    user of the machine."""
    from gsw_graph.config import Settings

    env = os.environ if env is None else env
    to = Settings.from_env(env)
    own: dict[str, Any] = {
        name: found
        for name in ("username", "password", "database")
        if (found := env.get(f"NEO4J_FROM_{name.upper()}"))
    }
    return replace(to, memory=source, **own), replace(to, memory=target)


def copy(source: Settings, target: Settings, progress: Report = lambda _: None) -> Copied:
    """Copy the memory of `source.memory` to `target.memory`, each a folder or a url, with the user, password
    and database of its own settings; `sides` makes both of the environment.

    Run again after it was cut off it goes on; run again when it is done it compares the two. The copy is as
    `source` was when it began: nobody may write to either meanwhile, nor ask with questions kept.
    Raises InputError: there is nothing to copy, or both are one memory; SchemaError: `target` holds another
    memory or another application's nodes, or `source` changed since; EngineError: a side cannot be reached,
    or the two are not equal at the end, with what differs.
    """
    from gsw_graph.store import schema

    start = perf_counter()
    _check(source, target)
    with _opened(source) as from_, _opened(target) as to:
        state = schema.read_state(from_)
        if state is None:
            raise InputError(
                "there is nothing to copy", where=from_.url, hint="Load something first: gswgraph load PATH"
            )
        schema.check_known(state)
        schema.check_whole(state)
        return _Copy(from_, to, state, progress).run(start)


class _Copy:
    def __init__(self, from_: Connection, to: Connection, state: MemoryState, report: Report) -> None:
        from gsw_graph.store import transfer

        self._from, self._to, self._state, self._report = from_, to, state, report
        totals = transfer.totals(from_)
        self._total = sum(totals)
        self._source = content_id("copy", state.created, str(state.version), *map(str, totals))

    def run(self, start: float) -> Copied:
        from gsw_graph.store import schema, transfer
        from gsw_graph.store.digest import overall

        mark = self._begun()
        before = self._total if mark is None else mark.done
        if mark is not None:
            self._copy(mark)
            self._report(Moved("indexing", self._total, self._total))
            schema.build_search_indexes(self._to, self._state.dimension)
            self._release()
        digests = self._compared()
        transfer.end(self._to, self._state.version)
        counts = {name: one.count for name, one in digests.items()}
        known = sum(counts.values())
        return Copied(
            self._from.url,
            self._to.url,
            nodes={name: count for name, count in counts.items() if " " not in name},
            relationships={name: count for name, count in counts.items() if " " in name},
            copied=known - min(before, known),
            left=self._total - known,
            hash=overall(digests),
            seconds=perf_counter() - start,
        )

    def _begun(self) -> Mark | None:
        """Where to go on, in a target that is made where there is none; None where the target is whole."""
        from gsw_graph.store import schema, transfer
        from gsw_graph.store.graph import labels

        found = schema.read_state(self._to)
        if found is None or (found.moving is None and transfer.totals(self._to) == (1, 0)):
            schema.prepare_copy(self._to)
            mark = transfer.Mark(self._source, self._from.url)
            (page,) = transfer.read(self._from, labels()["Memory"])
            transfer.begin(self._to, page.rows[0]["properties"], mark)
            return mark
        if found.moving is not None:
            mark = transfer.Mark.read(found.moving)
            if mark.source != self._source:
                raise SchemaError(
                    f"a copy of {mark.place} was begun here, of another memory or before that one changed",
                    where=self._to.url,
                    hint="Remove the folder, or empty the database, and copy again",
                )
            return mark
        if (found.created, found.version) == (self._state.created, self._state.version):
            return None
        raise SchemaError(
            "the target holds a memory already",
            where=self._to.url,
            hint="Copy into a new folder or an empty database",
        )

    def _copy(self, mark: Mark) -> None:
        from gsw_graph.store import transfer
        from gsw_graph.store.graph import kinds

        wanted = [kind for kind in kinds() if kind.name != "Memory"]
        names = [kind.name for kind in wanted]
        for kind in wanted[names.index(mark.kind) if mark.kind in names else 0 :]:
            after = mark.after if mark.kind == kind.name else ""
            for batch in _ahead(transfer.batches(transfer.read(self._from, kind, after))):
                mark = replace(mark, kind=kind.name, after=batch.last, done=mark.done + len(batch.rows))
                rows = batch.rows
                if kind.name == "Document":
                    rows = [{**row, "properties": {**row["properties"], "status": "loading"}} for row in rows]
                transfer.write(self._to, kind, rows, mark)
                self._report(Moved("copying", mark.done, self._total))

    def _release(self) -> None:
        from gsw_graph.store import transfer
        from gsw_graph.store.graph import labels

        for page in transfer.read(self._from, labels()["Document"]):
            transfer.release(
                self._to, [{"key": row["key"], "status": row["properties"]["status"]} for row in page.rows]
            )

    def _compared(self) -> dict[str, Digest]:
        """The digests of both, which are equal."""
        from gsw_graph.store.digest import digest

        done = 0

        def on_read(count: int) -> None:
            nonlocal done
            done += count
            self._report(Moved("comparing", done, 2 * self._total))

        ours, theirs = digest(self._from, on_read), digest(self._to, on_read)
        if ours != theirs:
            differ = "; ".join(
                f"{name}: {one.count:,} and {theirs[name].count:,}"
                for name, one in ours.items()
                if one != theirs[name]
            )
            raise EngineError(
                f"the copy differs from {self._from.url} ({differ})",
                where=self._to.url,
                hint="Somebody wrote to one of them meanwhile: remove the folder, or empty the database, and "
                "copy again",
            )
        return ours


@contextmanager
def _opened(settings: Settings) -> Iterator[Connection]:
    """A connection for a copy. A folder that was made for it and got nothing goes again."""
    from gsw_graph.engine import connect, exists
    from gsw_graph.engine.embedded_folder import discard
    from gsw_graph.store import schema

    path = Path(settings.memory).expanduser()
    new, folder = not exists(settings), not path.exists()
    connection, empty = connect(settings), True
    try:
        yield connection
        empty = False
    finally:
        with ExitStack() as stack:
            stack.callback(connection.close)
            with suppress(Exception):  # an engine that is gone says nothing
                empty = empty and new and schema.read_state(connection) is None
        if empty and new:
            discard(Path(connection.url), whole=folder)


def _check(source: Settings, target: Settings) -> None:
    from gsw_graph.engine import exists

    if not exists(source):
        where = str(Path(source.memory).expanduser().absolute())
        raise EngineError("there is no memory here", where=where, hint="Name the folder or the url of one")
    same = (source.memory, source.database) == (target.memory, target.database)
    if "://" not in source.memory + target.memory:
        same = Path(source.memory).expanduser().resolve() == Path(target.memory).expanduser().resolve()
    if same:
        raise InputError("the memory cannot be copied onto itself", where=target.memory)


def _ahead(items: Iterable[T]) -> Iterator[T]:
    """The items, the next made in a thread while the last is worked on."""
    iterator = iter(items)
    with ThreadPoolExecutor(1, "gswgraph-copy") as pool:
        coming = pool.submit(next, iterator, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, iterator, None)
            yield item
