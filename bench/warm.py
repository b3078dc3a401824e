"""How long a warm question takes in a memory of so many passages, and the first question of a process, without embedding.

    python bench/warm.py CORPUS QUESTIONS [--passages 100000] [--memory FOLDER_OR_URL] [--strategy linked]

The passages of a corpus are renamed until there are enough (bench/made.py), with the vectors of the originals and noise. A
memory that holds passages is asked as it is. Each question counts with its fastest round, and the mean and the median
over the questions are printed: all, in the database, ranking, and the processor time of this process. The first question is
asked before, in the process of its own that this is.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from made import copies, originals, vectors

from gsw_graph import Memory, Settings
from gsw_graph.evaluate import read_questions
from gsw_graph.store import schema
from gsw_graph.store.writer import BATCH_BYTES, Batch, write_batch

ROUNDS = 3


def fill(memory: Memory, corpus: str, passages: int) -> None:
    """Write renamed copies of a corpus until there are so many passages."""
    workspaces = originals(corpus)
    texts = [passage.full_text for workspace in workspaces for passage in workspace.document.passages]
    base = memory.embedder.encode(texts)
    connection, rng, batch = memory._connection, np.random.default_rng(0), Batch()
    schema.prepare(connection, memory.embedder.name, base.shape[1])
    for copy, first, workspace in copies(workspaces, passages):
        own = workspace.document.passages
        embedded = vectors(base, copy, first, len(own), rng)
        batch.add(workspace, dict(zip((passage.full_text for passage in own), embedded, strict=True)))
        if batch.bytes >= BATCH_BYTES:
            write_batch(connection, batch)
            batch = Batch()
    write_batch(connection, batch)
    schema.build_search_indexes(connection, base.shape[1])


def ask(memory: Memory, question: str, strategy: str) -> list[float]:
    """Ask a question; return milliseconds: all, in the database, ranking, and of this process's processor time."""
    start, processor = time.perf_counter(), time.process_time()
    answer = memory.ask(question, strategy=strategy, k=10, llm=False, keep=False)
    whole, own = time.perf_counter() - start, time.process_time() - processor
    embed, database, rank = (answer.seconds[stage] for stage in ("embed", "database", "rank"))
    return [1000 * seconds for seconds in (whole - embed, database, rank, own)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--memory")
    parser.add_argument("--strategy", default="linked")
    arguments = parser.parse_args()
    sample = read_questions(arguments.questions).subset(sample=50).questions
    questions = [question.question for question in sample]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = arguments.memory or f"{folder}/memory"
        settings = replace(Settings.from_env(), memory=place)
        with Memory.open(settings=settings) as memory:
            if not memory.status().nodes.get("Passage"):
                fill(memory, arguments.corpus, arguments.passages)
        with Memory.open(settings=settings) as memory:
            print("ms: all, database, rank, own processor")
            print("first", np.round(ask(memory, questions[-1], arguments.strategy)))
            rounds = []
            for question in questions * ROUNDS:
                rounds += ask(memory, question, arguments.strategy)
            fastest = np.reshape(rounds, (ROUNDS, len(questions), -1)).min(axis=0)
            print("median", np.median(fastest, axis=0).round(1), "mean", fastest.mean(axis=0).round(1))


if __name__ == "__main__":
    main()
