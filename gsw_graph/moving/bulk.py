"""A corpus as the files of `neo4j-admin database import full`, without an engine: read, extract, embed, make
rows, join what documents share, write. Each step is a function of a block of documents; memory holds some
blocks and the files' buffers, however large the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gsw_graph.feed import Feed
from gsw_graph.folders import new_folder
from gsw_graph.loading import Options, opened_extractor
from gsw_graph.model import Workspace
from gsw_graph.moving import fileset
from gsw_graph.moving.fileset import FileSet, arrow
from gsw_graph.moving.joining import Joiner
from gsw_graph.pipeline import embed
from gsw_graph.results import BulkReport
from gsw_graph.store import schema
from gsw_graph.store.graph import kinds
from gsw_graph.store.rows import ORDER, rows_of
from gsw_graph.store.tables import JOINED, Tables, joined, tables
from gsw_graph.store.transfer import Mark
from gsw_graph.tally import Progress, Tally

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.inference.embed.embedder import Embedder
    from gsw_graph.store.rows import Vectors


def bulk(
    names: Sequence[str],
    folder: str | Path,
    settings: Settings,
    embedder: Callable[[], Embedder],
    *,
    extractor: str = "auto",
    follow_links: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> BulkReport:
    """Write what `names` mean into a folder that is new or empty: all of it or, after an error, nothing.

    names, extractor, follow_links: as of `Memory.load`. InputError: there is something in the folder, or a
    path does not exist.
    """
    from gsw_graph import loaders

    start = perf_counter()
    fileset.needs_pyarrow()
    options = Options(extractor, follow_links=follow_links)
    chosen = options.chosen(settings)
    position = loaders.Position()
    items = loaders.read(list(names), position=position, follow_links=follow_links)
    tally = Tally(bytes=loaders.size(list(names), follow_links=follow_links))

    def report() -> None:
        said = tally.progress("loading")
        if progress is not None:
            progress(said)

    with new_folder(folder) as beside, opened_extractor(chosen, settings, options, tally) as (found, _):
        feed = Feed(items, lambda _: {}, found, tally, position=lambda: position.bytes)
        with feed as windows, _Writing(beside, embedder().name, embedder().dimension) as writing:
            for window in windows:
                if window is not None:
                    workspaces = [workspace for workspace, _ in window.workspaces]
                    at = perf_counter()
                    vectors = list(embed([(workspace, "new") for workspace in workspaces], embedder()))
                    tally.seconds["embed"] += perf_counter() - at
                    at = perf_counter()
                    writing.add(block(workspaces, vectors))
                    tally.seconds["write"] = tally.seconds.get("write", 0.0) + perf_counter() - at
                    tally.documents_embedded += len(workspaces)
                    tally.passages += window.passages
                report()
        tally.collect()
        made = fileset.manifest(beside)
    return BulkReport(
        str(Path(folder).resolve()),
        tally.documents,
        nodes={name: count for name, count in made.counts.items() if " " not in name},
        relationships={name: count for name, count in made.counts.items() if " " in name},
        failures=tally.failures,
        skipped=tally.skipped,
        command=["neo4j-admin", *fileset.command(made.counts, str(Path(folder).resolve()))],
        seconds={**tally.seconds, "total": perf_counter() - start},
    )


def write(
    blocks: Iterable[tuple[Sequence[Workspace], Sequence[Vectors]]], folder: Path, name: str, dimension: int
) -> None:
    """Write workspaces whose vectors are there, block by block, into a folder that exists and is empty. name,
    dimension: of the embedder."""
    with _Writing(folder, name, dimension) as writing:
        for workspaces, vectors in blocks:
            writing.add(block(workspaces, vectors))


def block(workspaces: Sequence[Workspace], vectors: Iterable[Vectors]) -> Tables:
    """The tables of some workspaces, concepts and roles joined among themselves."""
    rows: dict[str, list[dict[str, Any]]] = {statement: [] for statement in ORDER}
    for workspace, found in zip(workspaces, vectors, strict=True):
        for statement, some in rows_of(workspace, found, floats=lambda vector: vector).items():
            rows[statement] += some
    made = tables(rows)
    return {**made, **{label: joined(label, made[label]) for label in JOINED}}


def memory_row(embedder: str, dimension: int, mark: Mark) -> dict[str, Any]:
    """The Memory node of files: not whole, until `doctor --mend` has made indexes and counted."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return {
        "id": "memory",
        "schema": schema.SCHEMA,
        "embedder": embedder,
        "dimension": dimension,
        "created": now,
        "version": 1,
        "indexed": False,
        "vectors": 0,
        "moving": mark.text(),
    }


class _Writing:
    """The files of one corpus while they are written."""

    def __init__(self, folder: Path, embedder: str, dimension: int) -> None:
        self._files, self._embedder, self._dimension = FileSet(folder), embedder, dimension
        self._joiners = {label: Joiner(label, folder) for label in JOINED}
        self._kinds = {kind.name: kind for kind in kinds()}

    def __enter__(self) -> _Writing:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._files.abandon()
            for joiner in self._joiners.values():
                joiner.abandon()

    def add(self, made: Tables) -> None:
        """Write the tables of a block."""
        for name, rows in made.items():
            if name in self._joiners:
                self._joiners[name].add(rows)
            elif rows:
                self._files.add(self._kinds[name], arrow(self._kinds[name], rows))

    def _finish(self) -> None:
        for label, joiner in self._joiners.items():
            for rows in joiner.rows():
                self._files.add(self._kinds[label], arrow(self._kinds[label], rows))
        memory = self._kinds["Memory"]
        row = memory_row(self._embedder, self._dimension, self._files.mark())
        self._files.add(memory, arrow(memory, [row]))
        self._files.close(schema.SCHEMA, self._embedder, self._dimension)
