"""A corpus as the files of `neo4j-admin database import full`, without an engine: read, extract, embed, make
rows, join what documents share, write. Each step is a function of a block of documents; memory holds some
blocks and the files' buffers, however large the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gsw_graph.feed import Feed
from gsw_graph.loading import Options, opened_extractor
from gsw_graph.model import Workspace
from gsw_graph.moving import fileset
from gsw_graph.moving.fileset import FileSet, Manifest, Row, arrow, finish
from gsw_graph.moving.joining import Joiner
from gsw_graph.moving.place import Place, new_place
from gsw_graph.pipeline import embed
from gsw_graph.results import BulkReport
from gsw_graph.store import schema
from gsw_graph.store.graph import kinds, labels
from gsw_graph.store.rows import ORDER, rows_of
from gsw_graph.store.tables import JOINED, Tables, joined, tables
from gsw_graph.tally import Progress, Tally

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.feed import Window
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

    with new_place(folder) as place, opened_extractor(chosen, settings, options, tally) as (found, _):
        feed = Feed(items, lambda _: {}, found, tally, position=lambda: position.bytes)
        with feed as windows:
            model = embedder()
            memory = memory_row(model.name, model.dimension)
            made = write(blocks(windows, model, tally, report), place, memory)
        tally.collect()
    return reported(folder, tally, made, start)


def blocks(
    windows: Iterable[Window | None], embedder: Embedder, tally: Tally, report: Callable[[], None]
) -> Iterator[Tables]:
    """The tables of each window. report: called now and then."""
    for window in windows:
        if window is not None:
            start = perf_counter()
            vectors = list(embed(window.workspaces, embedder))
            tally.seconds["embed"] += perf_counter() - start
            start = perf_counter()
            made = block([workspace for workspace, _ in window.workspaces], vectors)
            yield made
            tally.seconds["write"] += perf_counter() - start
            tally.documents_embedded += len(window.workspaces)
            tally.passages += window.passages
        report()


def block(workspaces: Sequence[Workspace], vectors: Iterable[Vectors]) -> Tables:
    """The tables of some workspaces, concepts and roles joined among themselves."""
    rows: dict[str, list[dict[str, Any]]] = {statement: [] for statement in ORDER}
    for workspace, found in zip(workspaces, vectors, strict=True):
        for statement, some in rows_of(workspace, found, floats=lambda vector: vector).items():
            rows[statement] += some
    made = tables(rows)
    return {**made, **{label: joined(label, made[label]) for label in JOINED}}


def write(made: Iterable[Tables], place: Place, memory: dict[str, Any]) -> Manifest:
    """Write all tables as one part, what they share joined, and end the set of files. memory: as of
    `memory_row`."""
    place.prepare()
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(dir=place.local))
        files = stack.enter_context(FileSet(place))
        joiners = {label: stack.enter_context(closing(Joiner(label, Path(folder)))) for label in JOINED}
        fill(files, made, {label: joiner.add for label, joiner in joiners.items()})
        for label, joiner in joiners.items():
            for rows in joiner.rows():
                files.add(labels()[label], arrow(labels()[label], rows))
    return finish(place, files.made, memory)


def fill(files: FileSet, made: Iterable[Tables], shared: Mapping[str, Callable[[list[Row]], object]]) -> None:
    """Write tables; rows of labels that many documents share are given to `shared`."""
    known = {kind.name: kind for kind in kinds()}
    for one in made:
        for name, rows in one.items():
            if name in shared:
                shared[name](rows)
            elif rows:
                files.add(known[name], arrow(known[name], rows))


def memory_row(embedder: str, dimension: int) -> dict[str, Any]:
    """The properties of the Memory node of a new set of files."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return {
        "id": "memory",
        "schema": schema.SCHEMA,
        "embedder": embedder,
        "dimension": dimension,
        "created": now,
        "version": 1,
    }


def reported(folder: str | Path, tally: Tally, made: Manifest, start: float) -> BulkReport:
    """The report on a set of files. start: of `perf_counter`."""
    url = Place.of(folder).url
    return BulkReport(
        url,
        tally.documents,
        nodes={name: count for name, count in made.counts.items() if " " not in name},
        relationships={name: count for name, count in made.counts.items() if " " in name},
        failures=tally.failures,
        skipped=tally.skipped,
        command=["neo4j-admin", *fileset.command(made.counts, url)],
        seconds={**tally.seconds, "total": perf_counter() - start},
    )
