"""Our writer against a bare driver loop: the same rows, the same engine, the same run. Prints rows a second
and the ratio.

    python bench/write.py [--memory URL] [--corpus FILE] [--passages 2000] [--rounds 3]
        [--writers 1,4,16 [--delay 10]]

A bare loop is what a careful user writes in ten lines: one statement a batch of 1,000 rows, each a managed
transaction, one thread. Both get the same rows, built before the clock starts; ours keeps documents whole and
raises the version stamp. How long building the rows takes is told apart. --writers instead writes a
transaction a document by so many threads; --delay has each message to and from a server so many milliseconds
late, as over a network. The database is emptied in between: give no memory you need.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

import numpy as np
from delayed import delayed
from made import copies, originals, vectors

from gsw_graph.config import Settings
from gsw_graph.cypher import statement
from gsw_graph.engine import Connection
from gsw_graph.engine.opening import connect
from gsw_graph.model.documents import Workspace
from gsw_graph.store import schema
from gsw_graph.store.rows import Row
from gsw_graph.store.writer import BATCH_BYTES, Batch, forget, write_batch

Work = list[tuple[Workspace, np.ndarray]]
ROWS = 1000


def bare(connection: Connection, rows: dict[str, list[Row]]) -> float:
    start = time.perf_counter()
    for name, all_rows in rows.items():
        text = statement(f"write/{name}", connection.dialect.name)
        for first in range(0, len(all_rows), ROWS):
            connection.driver.execute_query(
                text, rows=all_rows[first : first + ROWS], database_=connection.database
            )
    return time.perf_counter() - start


def ours(connection: Connection, batches: list[Batch]) -> float:
    start = time.perf_counter()
    writer = connection
    for batch in batches:
        write_batch(writer, batch)
    return time.perf_counter() - start


def build(work: Work) -> list[Batch]:
    batches = [Batch()]
    for workspace, embeddings in work:
        if batches[-1].bytes >= BATCH_BYTES:
            batches.append(Batch())
        passages = (passage.full_text for passage in workspace.document.passages)
        batches[-1].add(workspace, dict(zip(passages, embeddings, strict=True)))
    return batches


def side_by_side(connection: Connection, work: Work, writers: list[int]) -> None:
    """Print how many transactions of a document each some threads write a second."""
    batches = []
    for item in work:
        batches += build([item])
    for number in [writers[0], *writers]:  # the first is a warm-up
        start = time.perf_counter()
        with ThreadPoolExecutor(number) as pool:
            list(pool.map(partial(write_batch, connection), batches))
        seconds = time.perf_counter() - start
        print(f"{number} writers: {len(batches) / seconds:.0f} transactions/s", flush=True)
        empty(connection, work)


def empty(connection: Connection, work: Work) -> None:
    with connection.driver.session(database=connection.database) as session:
        forget(session, [workspace.document.id for workspace, _ in work])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory")
    parser.add_argument("--corpus")
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--writers", default="")
    parser.add_argument("--delay", type=float, default=0, help="milliseconds, each way")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    base = rng.normal(size=(100_000, 384)).astype(np.float32)
    work = [
        (w, vectors(base, copy, first, len(w.document.passages), rng))
        for copy, first, w in copies(originals(arguments.corpus), arguments.passages)
    ]
    with tempfile.TemporaryDirectory() as folder:
        memory = arguments.memory or f"{folder}/memory"
        if arguments.delay:
            address = urlsplit(memory)
            port = delayed(address.port or 7687, arguments.delay / 1000)
            memory = f"{address.scheme}://{address.hostname}:{port}"
        connection = connect(replace(Settings.from_env(), memory=memory))
        schema.prepare(connection, "none", 384)
        if arguments.writers:
            side_by_side(connection, work, list(map(int, arguments.writers.split(","))))
            connection.close()
            return
        start = time.perf_counter()
        batches = build(work)
        building = time.perf_counter() - start
        rows = {name: [row for batch in batches for row in batch.rows[name]] for name in batches[0].rows}
        count = sum(len(some) for some in rows.values())
        print(
            f"{connection.dialect.name} {connection.dialect.version}: {count} rows of {len(work)} "
            f"documents, built in {building:.2f} s"
        )
        ratios = []
        for number in range(arguments.rounds + 1):
            pair = {}
            for kind in ("bare", "ours") if number % 2 else ("ours", "bare"):
                pair[kind] = bare(connection, rows) if kind == "bare" else ours(connection, batches)
                empty(connection, work)
            note = "warm-up" if number == 0 else f"ratio {pair['bare'] / pair['ours']:.2f}"
            print(
                f"bare {count / pair['bare']:8.0f} rows/s   ours {count / pair['ours']:8.0f} rows/s   {note}"
            )
            if number:
                ratios.append(pair["bare"] / pair["ours"])
        print(f"ours / bare, median: {statistics.median(ratios):.2f}")
        connection.close()


if __name__ == "__main__":
    main()
