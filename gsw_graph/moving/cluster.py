"""`bulk` on a Ray cluster. This process leads: it lists files, tells documents that come twice apart in the
order of the corpus, as one machine does, and hands out parts. Workers read, extract, embed and write them;
what parts share is joined by Ray Data. A language model is asked from here: one limit, one budget, one cache
of replies, and its key stays here."""

from __future__ import annotations

import itertools
import logging
import math
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.feed import Feed
from gsw_graph.loading import Options, opened_extractor
from gsw_graph.model import Failure, Skipped, Workspace
from gsw_graph.moving import fileset
from gsw_graph.moving.bulk import memory_row, reported
from gsw_graph.moving.fileset import Made
from gsw_graph.moving.place import Place, new_place
from gsw_graph.moving.pool import TRIES, Pool, Ref, connected, needs_ray
from gsw_graph.moving.worker import SHARED, Piece, chunks, gathered, items_of, scattered
from gsw_graph.results import BulkReport
from gsw_graph.store.tables import JOINED
from gsw_graph.tally import Progress, Tally

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.inference.embed.embedder import Embedder

T = TypeVar("T")
PART = 20_000  # passages of a part, at most: what a worker that dies loses
PARTS = 8  # of a worker, at least, so that none waits long for the last
LEAST = 500  # and no fewer passages, however small the corpus
PASSAGE = 1000  # bytes of a file that are one, about: for the size of parts
GROUP = 64_000_000, 1000  # bytes and files that one task reads
READERS = 2  # groups that are read at once, for each node
CHUNK = 1000  # passages that are handed on at once, about a megabyte
AHEAD = 4  # chunks that a reader is ahead
JOINED_ROWS = 500_000  # of a partition, about 200 MB


def bulk(
    names: Sequence[str],
    folder: str | Path,
    settings: Settings,
    embedder: Callable[[Settings], Embedder],
    *,
    address: str,
    extractor: str = "auto",
    follow_links: bool = False,
    progress: Callable[[Progress], None] | None = None,
    workers: int | None = None,
    part: int | None = None,
) -> BulkReport:
    """What `moving.bulk.bulk` does, on a cluster, with the same nodes and relationships in the files.

    folder: one that all nodes share, or a url of fsspec. embedder: called by each worker. address: `local`
    (this machine), `auto` (the cluster that this machine is a node of) or `HOST:PORT`. workers: default what
    the cluster has room for. part: passages of one; default by the size of the corpus. Seconds of the report
    are those of all workers.
    InputError as there, or Ray is not installed. EngineError: no such cluster. ModelError: workers die again
    and again.
    """
    from gsw_graph import loaders

    start = perf_counter()
    fileset.needs_pyarrow()
    needs_ray(address)
    options = Options(extractor, follow_links=follow_links)
    chosen = options.chosen(settings)
    asked = chosen == "llm"
    tally = Tally(bytes=loaders.size(list(names), follow_links=follow_links))
    found = loaders.paths(list(names), follow_links=follow_links)

    def report() -> None:
        said = tally.progress("loading" if pool.model[1] or asked else "waiting for a worker")
        if progress is not None:
            progress(said)

    with new_place(folder) as place, connected(address):
        place.prepare()
        place.below(SHARED).prepare()
        open_settings = replace(settings, password=None, llm_key=None, reranker_key=None)

        def done(told: dict[str, Any]) -> None:  # what was asked about was counted when it was answered
            tally.post(**{name: value for name, value in told.items() if not (asked and name == "new")})

        pool = Pool(place, open_settings, "none" if asked else chosen, embedder, workers, done)
        try:
            size = part or min(max((tally.bytes or 0) // PASSAGE // (PARTS * pool.size), LEAST), PART)
            with _ended(_read(_groups(found, tally), min(size, CHUNK), tally)) as read:
                ready = _parts(read, size, tally, counted=not asked)
                if asked:
                    ready = _answered(ready, size, settings, options, tally, report)
                with closing(ready):
                    for number, pieces in enumerate(ready):
                        pool.submit(number, pieces, report)
            pool.finish(report)
        finally:
            pool.end()
        pool.made.add(_join(place, pool.shared))
        place.remove(SHARED)
        tally.collect()
        made = fileset.finish(place, pool.made, memory_row(*pool.model))
    return reported(folder, tally, made, start)


def _groups(found: Iterable[Path | Failure], tally: Tally) -> Iterator[tuple[list[tuple[str, Path]], int]]:
    """Files by groups that one task reads, and their bytes."""
    group: list[tuple[str, Path]] = []
    size = 0
    for path in found:
        if isinstance(path, Failure):
            tally.post(**_listed(path))
            continue
        group.append((path.as_posix(), path.resolve()))
        with suppress(OSError):  # who reads it says what is wrong with it
            size += path.stat().st_size
        if size >= GROUP[0] or len(group) >= GROUP[1]:
            yield group, size
            group, size = [], 0
    if group:
        yield group, size


def _read(
    groups: Iterator[tuple[list[tuple[str, Path]], int]], size: int, tally: Tally
) -> Generator[tuple[list[Any], Ref]]:
    """What is read of the groups, in their order: what is told of so many passages, and a reference to them.
    Readers are some groups and chunks ahead, never more."""
    import ray

    def read(group: list[tuple[str, Path]]) -> Iterator[Any]:
        for told, found in chunks(group, size):
            yield told
            yield found

    reader = ray.remote(
        num_cpus=0,
        num_returns="streaming",
        scheduling_strategy="SPREAD",
        max_retries=TRIES,
        _generator_backpressure_num_objects=2 * AHEAD,
    )(read)
    at_once = READERS * sum(node["Alive"] for node in ray.nodes())
    under_way: deque[tuple[Iterator[Ref], int]] = deque()
    try:
        while True:
            for group, bytes_ in itertools.islice(groups, at_once - len(under_way)):
                under_way.append((reader.remote(group), bytes_))
            if not under_way:
                break
            stream, bytes_ = under_way[0]
            for told in stream:
                yield ray.get(told), next(stream)
            under_way.popleft()
            tally.post(read_bytes=bytes_)
    finally:
        for stream, _ in under_way:
            ray.cancel(stream)
    tally.post(all_read=1)


@contextmanager
def _ended(read: Generator[T]) -> Iterator[Generator[T]]:
    """Closed at the end, unless a thread of `Feed` that was left behind is still in it; that ends it."""
    try:
        yield read
    finally:
        with suppress(ValueError):  # generator already executing
            read.close()


def _parts(
    read: Iterator[tuple[list[Any], Ref]], size: int, tally: Tally, *, counted: bool
) -> Generator[list[Piece]]:
    """Parts of so many passages, each source once. counted: passages are told to the tally here, and not by
    who takes them."""
    from gsw_graph.loaders import Sources

    sources = Sources()
    part: list[Piece] = []
    passages = 0
    for told, reference in read:
        left_out, n = set(), 0
        for one in told:
            if isinstance(one, Failure):
                tally.post(**_listed(one))
                continue
            if (fresh := sources.fresh(one)) is True:
                passages += one.passages
                tally.post(seen=one.passages * counted)
            else:
                left_out.add(n)
                if isinstance(fresh, Failure):
                    tally.post(failures=[fresh])
            n += 1
        if n > len(left_out):
            part.append((reference, frozenset(left_out)))
        if passages >= size:
            yield part
            part, passages = [], 0
    if part:
        yield part


def _answered(
    parts: Iterable[list[Piece]],
    size: int,
    settings: Settings,
    options: Options,
    tally: Tally,
    report: Callable[[], None],
) -> Generator[list[Piece]]:
    """The same as workspaces that a language model made of the documents, asked from here."""
    import ray

    workspaces: list[Workspace] = []
    passages = 0
    items = itertools.chain.from_iterable(map(items_of, parts))
    with (
        opened_extractor("llm", settings, options, tally) as (extractor, _),
        Feed(items, lambda _: {}, extractor, tally) as windows,
    ):
        for window in windows:
            report()
            if window is None:
                continue
            workspaces += (workspace for workspace, _ in window.workspaces)
            passages += window.passages
            if passages >= size:
                yield [(ray.put(workspaces), frozenset())]
                workspaces, passages = [], 0
    if workspaces:
        yield [(ray.put(workspaces), frozenset())]


def _join(place: Place, shared: Made) -> Made:
    """Join what parts share, by key, and write it."""
    import ray.data

    partitions = {label: math.ceil(shared.counts.get(label, 0) / JOINED_ROWS) for label in JOINED}
    files = [{"label": name.split("/")[1].split(".")[0], "name": name} for name in sorted(shared.files)]
    made = Made()
    if not files:
        return made
    context, log = ray.data.DataContext.get_current(), logging.getLogger("ray.data")
    bars, level = context.enable_progress_bars, log.level
    context.enable_progress_bars = False
    log.setLevel(logging.ERROR)
    try:
        found = (
            ray.data.from_items(files)
            .map_batches(partial(scattered, place=place, partitions=partitions), batch_size=1)
            .groupby(["label", "partition"], num_partitions=sum(partitions.values()))
            .map_groups(partial(gathered, place=place), batch_format="pyarrow")
            .take_all()
        )
    finally:
        context.enable_progress_bars = bars
        log.setLevel(level)
    for one in found:
        made.add(Made.read(one["made"]))
    return made


def _listed(failure: Failure) -> dict[str, list[Failure]]:
    return {"skipped" if isinstance(failure, Skipped) else "failures": [failure]}
