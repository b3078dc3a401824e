"""A warm two-hop ask with a plan, split into its stages, against one question embedded and one bare vector
query on the same memory, in one run.

    python bench/ask.py ricr [--memory URL] [--workspaces FILE] [--pairs 10000 100000] [--rounds 100]

Each memory is made anew by renaming the workspaces of a file until it has so many question-answer pairs
(bench/made.py).
Questions are made from the pairs: one pair's question, then another's in which the first one's answer is
named. A server's database is emptied first, so give no memory you need.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from made import copies, originals, vectors

from gsw_graph import Memory, Settings
from gsw_graph.engine import Connection
from gsw_graph.model.documents import Workspace
from gsw_graph.model.results import Answer
from gsw_graph.store import schema
from gsw_graph.store.rows import Vectors
from gsw_graph.store.writer import BATCH_BYTES, Batch, write_batch

BARE = (
    "CALL db.index.vector.queryNodes('qa_pair_embedding', $k, $embedding) YIELD node, score "
    "RETURN "
    "node.id AS id, score"
)
EXAMPLES = str(Path(__file__).parent.parent / "examples/workspaces.jsonl")
STAGES = ("embed", "database", "rerank", "rank")


class Base:
    """The vectors of the originals, by text of each kind, and copies of them with noise."""

    def __init__(self, memory: Memory, workspaces: list[Workspace]) -> None:
        encode = memory.embedder.encode
        self._passages = encode([p.full_text for w in workspaces for p in w.document.passages])
        self._pairs = encode(
            [pair.text for w in workspaces for phrase in w.verb_phrases for pair in phrase.pairs]
        )
        self._facts = encode([fact.text for w in workspaces for fact in w.propositions] or ["none"])
        phrases = sorted({phrase.phrase for w in workspaces for phrase in w.verb_phrases})
        self._phrases = dict(zip(phrases, encode(phrases), strict=True))
        self._places: list[tuple[int, int, int]] = []
        pairs = facts = passages = 0
        self._starts = {}
        for workspace in workspaces:
            self._starts[passages] = (pairs, facts)
            passages += len(workspace.document.passages)
            pairs += sum(len(phrase.pairs) for phrase in workspace.verb_phrases)
            facts += len(workspace.propositions)

    def of(self, copy: int, first: int, workspace: Workspace, rng: np.random.Generator) -> Vectors:
        pair, fact = self._starts[first]
        count = sum(len(phrase.pairs) for phrase in workspace.verb_phrases)
        return Vectors(
            vectors(self._passages, copy, first, len(workspace.document.passages), rng),
            vectors(self._pairs, copy, pair, count, rng),
            vectors(self._facts, copy, fact, len(workspace.propositions), rng),
            self._phrases,
        )


def plans(made: list[Workspace], count: int) -> list[tuple[str, list[str]]]:
    """Questions with a plan of two hops: a pair's question, and another's in which its answer is named."""
    about = defaultdict(list)
    pairs = [pair for workspace in made for phrase in workspace.verb_phrases for pair in phrase.pairs]
    for pair in pairs:
        for name in pair.about:
            about[name].append(pair)
    chosen: list[tuple[str, list[str]]] = []
    rng = random.Random(0)
    while len(chosen) < count:
        first = rng.choice(pairs)
        seconds = (
            [pair for pair in about[first.answers[0]] if pair.question != first.question]
            if first.answers
            else []
        )
        if seconds and "#" not in first.question:
            second = rng.choice(seconds).question.replace(first.answers[0], "#1")
            if "#1" in second:
                chosen.append((f"{first.question} {second.replace('#1', 'that')}", [first.question, second]))
    return chosen


def median_ms(work: Callable[[int], object], rounds: int) -> float:
    times = []
    for number in range(rounds):
        start = time.perf_counter()
        work(number)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory")
    parser.add_argument("--workspaces", default=EXAMPLES)
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    workspaces = originals(arguments.workspaces)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for size in sorted(arguments.pairs):
            settings = replace(Settings.from_env(), memory=arguments.memory or f"{folder}/{size}")
            with Memory.open(settings=settings) as memory:
                measure(memory, workspaces, size, arguments.rounds)


def measure(memory: Memory, workspaces: list[Workspace], size: int, rounds: int) -> None:
    memory.forget(everything=True)
    connection = memory._connection
    schema.prepare(connection, memory.embedder.name, memory.embedder.dimension)
    start = time.perf_counter()
    kept, have = fill(connection, Base(memory, workspaces), workspaces, size)
    schema.build_search_indexes(connection, memory.embedder.dimension)
    memory._state = None
    print(
        f"{connection.dialect.name} {connection.dialect.version}: {have} pairs, written and indexed in "
        f"{time.perf_counter() - start:.0f} s",
        flush=True,
    )
    asked = plans(kept, rounds)
    embedded = [memory.embedder.encode_query([plan[0]])[0].tolist() for _, plan in asked]
    results: list[Answer] = []

    def ask(number: int) -> None:
        results.append(
            memory.ask(asked[number][0], strategy="ricr", plan=asked[number][1], keep=False, llm=False)
        )

    def bare(number: int) -> None:
        connection.driver.execute_query(
            BARE, k=10, embedding=embedded[number], database_=connection.database, routing_="r"
        )

    def embed(number: int) -> None:
        memory.embedder.encode_query([asked[number][1][1]])

    for work in (ask, ask, bare):  # the servers compile what runs often
        median_ms(work, rounds)
    results.clear()
    bare_before, embed_ms, total = median_ms(bare, rounds), median_ms(embed, rounds), median_ms(ask, rounds)
    bare_ms = (bare_before + median_ms(bare, rounds)) / 2
    parts = {stage: 1000 * statistics.median(result.seconds[stage] for result in results) for stage in STAGES}
    rest = 1000 * statistics.median(
        r.seconds["total"] - sum(r.seconds[stage] for stage in STAGES) for r in results
    )
    print(
        f"two hops {total:.1f} ms = {total / (2 * (embed_ms + bare_ms)):.1f} x 2 x (one question embedded "
        f"{embed_ms:.1f} + bare vector query {bare_ms:.1f}): "
        + ", ".join(f"{stage} {ms:.1f}" for stage, ms in parts.items())
        + f", rest {rest:.1f} ({rest / total:.0%}); at most {max(r.round_trips for r in results)} round "
        "trips",
        flush=True,
    )
    memory.forget(everything=True)


def fill(
    connection: Connection, base: Base, workspaces: list[Workspace], size: int
) -> tuple[list[Workspace], int]:
    rng = np.random.default_rng(0)
    kept, have, batch = [], 0, Batch()
    writer = connection
    for copy, first, workspace in copies(workspaces, 10**9):
        if have >= size:
            break
        batch.add(workspace, base.of(copy, first, workspace, rng))
        have += sum(len(phrase.pairs) for phrase in workspace.verb_phrases)
        kept.append(workspace)
        if batch.bytes >= BATCH_BYTES:
            write_batch(writer, batch)
            batch = Batch()
    write_batch(writer, batch)
    return kept, have
