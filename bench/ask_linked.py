"""A warm `linked` ask, without encoding the question, against one bare vector query on the same memory, in
one run.

    python bench/ask.py linked [--memory URL] [--corpus FILE --questions FILE] [--passages 2000 20000 100000]
    [--rounds 100]

The memory is made by renaming a small corpus until it has so many passages (bench/made.py); it grows from
size to size. A server's database is emptied first, so give no memory you need.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from made import copies, originals, vectors

from gsw_graph import Memory, Settings
from gsw_graph.ask.retrieve.context import Context
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.strategy import Query
from gsw_graph.model.documents import Workspace
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import schema
from gsw_graph.store.reader import Reader
from gsw_graph.store.rows import Vectors
from gsw_graph.store.writer import BATCH_BYTES, Batch, write_batch

BARE = (
    "CALL db.index.vector.queryNodes('passage_embedding', $k, $embedding) YIELD node, score "
    "RETURN "
    "node.id AS id, score"
)
QUESTIONS = Path(__file__).parent.parent / "examples/questions.jsonl"


class Given:
    """Models of which the questions' vectors are known; those of further questions are, from their second
    time on."""

    name = "given"
    reranker = None

    def __init__(self, vectors: dict[str, list[float]], embedder: Embedder) -> None:
        self._vectors, self._embedder = vectors, embedder
        self.embedder: Any = self

    def encode_query(self, texts: Sequence[str]) -> np.ndarray:
        for text in texts:
            if text not in self._vectors:
                self._vectors[text] = self._embedder.encode_query([text])[0].tolist()
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)


def median_ms(work: Callable[[int], object], rounds: int) -> float:
    for number in range(rounds // 2):
        work(number)
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def grow(
    memory: Memory,
    made: Iterator[tuple[int, int, Workspace]],
    base: np.ndarray,
    until: int,
    rng: np.random.Generator,
) -> float:
    start, batch, size = time.perf_counter(), Batch(), 0
    writer = memory._connection
    for copy, first, workspace in made:
        count = len(workspace.document.passages)
        batch.add(workspace, Vectors(vectors(base, copy, first, count, rng)))
        size += count
        if batch.bytes >= BATCH_BYTES:
            write_batch(writer, batch)
            batch = Batch()
        if size >= until:
            break
    write_batch(writer, batch)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory")
    parser.add_argument("--corpus")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--passages", type=int, nargs="+", default=[2000, 20000, 100000])
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    text = arguments.questions.read_text("utf-8")
    questions = [
        q["question"]
        for q in (json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines()))
    ]
    workspaces = originals(arguments.corpus)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(
        ignore_cleanup_errors=True
    ) as folder:  # the engine may still write its start cache
        settings = replace(
            Settings.from_env(), memory=arguments.memory or f"{folder}/memory", cache_dir=Path(folder)
        )
        keep = Settings.from_env()
        with Memory.open(settings=settings) as memory:
            memory._settings = replace(
                keep, memory=settings.memory
            )  # the embedder's export from the usual cache
            memory.forget(everything=True)
            base = memory.embedder.encode([p.full_text for w in workspaces for p in w.document.passages])
            asked = list(
                islice(
                    cycle([(q, memory.embedder.encode_query([q])[0].tolist()) for q in questions]),
                    arguments.rounds,
                )
            )
            models, connection, reader = (
                Given(dict(asked), memory.embedder),
                memory._connection,
                Reader(memory._connection),
            )
            schema.prepare(connection, memory.embedder.name, memory.embedder.dimension)
            made, have = copies(workspaces, max(arguments.passages)), 0
            print(f"{connection.dialect.name} {connection.dialect.version}")
            for size in sorted(arguments.passages):
                loaded = grow(memory, made, base, size - have, rng)
                start = time.perf_counter()
                if have == 0:
                    schema.build_search_indexes(connection, memory.embedder.dimension)
                schema.warm_up(connection, memory.embedder.dimension)
                indexed, have = time.perf_counter() - start, size
                state = schema.read_state(connection)
                assert state is not None  # `prepare` wrote it
                memory._state = state
                context = Context(reader, models, lambda: None)
                start = time.perf_counter()
                LINKED(context, Query(asked[0][0]))
                read = time.perf_counter() - start

                def bare(number: int) -> object:
                    return connection.driver.execute_query(
                        BARE, k=10, embedding=asked[number][1], database_=connection.database, routing_="r"
                    )

                def ask(number: int, context: Context = context) -> object:
                    context.neighbourhood = None  # a question of its own
                    return LINKED(context, Query(asked[number][0]))

                once = median_ms(bare, arguments.rounds)
                median_ms(ask, arguments.rounds // 2)
                context.seconds.update(dict.fromkeys(context.seconds, 0.0))
                chosen = median_ms(ask, arguments.rounds)
                asks = arguments.rounds + arguments.rounds // 2  # `median_ms` warms up
                parts = ", ".join(
                    f"{name} {1000 * seconds / asks:.1f}"
                    for name, seconds in context.seconds.items()
                    if name != "embed"
                )
                again = median_ms(bare, arguments.rounds)
                bare_ms = (once + again) / 2
                print(
                    f"{size:7d} passages (written {loaded:.0f} s, indexes {indexed:.0f} s, first "
                    f"question {read:.1f} s): bare vector query {bare_ms:.1f} ms; "
                    f"linked {chosen:.1f} ms = {chosen / bare_ms:.1f} x (mean {parts})",
                    flush=True,
                )
