"""A load into Neo4j against `bulk` with `neo4j-admin database import`, both without embedding, in one run; and what
bulk takes at size.

    python bench/bulk.py [--source workspaces.jsonl] [--passages 2000]       # the ratio; starts two private servers
    python bench/bulk.py --only-files --passages 1000000 --out DIR          # files alone: seconds, memory, bytes

Workspaces are made by renaming those of a source (`made.py`), vectors are random; neither side reads or extracts.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import made
import numpy as np

from gsw_graph import Settings
from gsw_graph.engine import Connection, connect, local
from gsw_graph.model import Workspace
from gsw_graph.moving import bulk, fileset
from gsw_graph.moving.checking import check
from gsw_graph.moving.importing import finish
from gsw_graph.moving.place import Place
from gsw_graph.pipeline import texts
from gsw_graph.store import schema
from gsw_graph.store.rows import Vectors
from gsw_graph.store.writer import BATCH_BYTES, Batch, Writer

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import engines  # type: ignore[import-not-found]
import neo4j_import  # type: ignore[import-not-found]

BLOCK = 256  # passages


def blocks(
    originals: list[Workspace], passages: int, dimension: int
) -> Iterator[tuple[list[Workspace], list[Vectors]]]:
    """Made workspaces with random unit vectors; the same each time."""
    rng = np.random.default_rng(1)

    def unit(n: int) -> np.ndarray:
        found = rng.standard_normal((n, dimension), np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found

    made_ones = (workspace for _, _, workspace in made.copies(originals, passages))
    while block := list(itertools.islice(made_ones, BLOCK)):
        vectors = []
        for workspace in block:
            passage_texts, pairs, facts, phrases = texts(workspace, "new")
            vectors.append(
                Vectors(
                    unit(len(passage_texts)),
                    unit(len(pairs)),
                    unit(len(facts)),
                    dict(zip(phrases, unit(len(phrases)), strict=True)),
                )
            )
        yield block, vectors


class Clock:
    """Seconds that a step takes, without those in which what it works on is made."""

    def __init__(self) -> None:
        self.making = 0.0

    def watch(
        self, items: Iterator[tuple[list[Workspace], list[Vectors]]]
    ) -> Iterator[tuple[list[Workspace], list[Vectors]]]:
        while True:
            start = time.perf_counter()
            item = next(items, None)
            self.making += time.perf_counter() - start
            if item is None:
                return
            yield item


def load(
    settings: Settings, items: Iterator[tuple[list[Workspace], list[Vectors]]], dimension: int
) -> tuple[float, float]:
    """Seconds to write, as a load does, and to index."""
    connection = connect(settings)
    clock, start = Clock(), time.perf_counter()
    put(connection, clock.watch(items), "random", dimension)
    written = time.perf_counter() - start - clock.making
    start = time.perf_counter()
    schema.build_search_indexes(connection, dimension)
    connection.close()
    return written, time.perf_counter() - start


def put(
    connection: Connection,
    items: Iterator[tuple[list[Workspace], list[Vectors]]],
    embedder: str,
    dimension: int,
) -> None:
    """Write by transactions, as a load does."""
    schema.prepare(connection, embedder, dimension)
    with Writer(connection) as writer:
        for workspaces, vectors in items:
            batch = Batch()
            for workspace, found in zip(workspaces, vectors, strict=True):
                batch.add(workspace, found)
                if batch.bytes >= BATCH_BYTES:
                    writer.put(batch)
                    batch = Batch()
            if batch.documents:
                writer.put(batch)


def write(
    folder: Path, items: Iterator[tuple[list[Workspace], list[Vectors]]], dimension: int
) -> tuple[float, dict[str, int]]:
    """Seconds to write the files, and what is in them."""
    clock, start = Clock(), time.perf_counter()
    tables = (bulk.block(workspaces, vectors) for workspaces, vectors in clock.watch(items))
    bulk.write(tables, Place.of(folder), bulk.memory_row("random", dimension))
    return time.perf_counter() - start - clock.making, fileset.manifest(folder).counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", help="workspaces or texts; default: the example corpus")
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--only-files", action="store_true")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    originals = made.originals(arguments.source)

    def items() -> Iterator[tuple[list[Workspace], list[Vectors]]]:
        return blocks(originals, arguments.passages, arguments.dimension)

    with tempfile.TemporaryDirectory() as folder:
        place = Path(arguments.out or folder) / "files"
        files, counts = write(place, items(), arguments.dimension)
        nodes, edges = (
            sum(n for name, n in counts.items() if (" " in name) == between) for between in (False, True)
        )
        size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{arguments.passages:,} passages, {nodes:,} nodes, {edges:,} relationships: files in {files:.1f} s, "
            f"{size / 1e6:,.0f} MB, peak memory {peak:,.0f} MB"
        )
        start = time.perf_counter()
        found = check(place)
        print(
            f"read back in {time.perf_counter() - start:.1f} s: {found.faults or 'sound'}, peak memory "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"
        )
        if arguments.only_files:
            return
        settings = engines.private_cache(Path(folder) / "load")
        server = local.start(settings, "5.26", *engines.free_ports())
        try:
            at = Settings(memory=server.url, cache_dir=settings.cache_dir)
            written, indexed = load(at, items(), arguments.dimension)
        finally:
            local.stop(settings, "5.26")
        start = time.perf_counter()
        with neo4j_import.imported(place, Path(folder) / "import") as at:
            imported = time.perf_counter() - start  # with the start of the server
            start = time.perf_counter()
            connection = connect(at)
            finish(connection)
            connection.close()
            finished = time.perf_counter() - start
    print(f"load: written in {written:.1f} s, indexed in {indexed:.1f} s")
    print(f"bulk: files {files:.1f} s, import and start {imported:.1f} s, doctor --mend {finished:.1f} s")
    print(f"written, load / (files + import): {written / (files + imported):.1f}")
    print(f"with indexes: {(written + indexed) / (files + imported + finished):.1f}")


if __name__ == "__main__":
    main()
