"""How long each analysis of `cypher/explore/` takes on a memory of so many question-answer pairs, with its defaults: the first time, when
the engine has its plan to make, and the fastest of further runs; and what processor time that took in the engine, which tells more where others
use the machine too.

    python bench/explore.py [--memory URL] [--workspaces FILE] [--pairs 100000] [--rounds 3] [--only NAME ...] [--keep] [--pid PID]

The memory is made anew by renaming the workspaces of a file until it has so many pairs (bench/made.py); its vectors are random, as no analysis
looks at them. Questions are made up: each used some pairs and passages. A server's database is emptied first, so give no memory you need;
`--keep` measures one that an earlier run left there. `--pid` is the process of a server on this machine, for its processor time.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from made import copies, originals

from gsw_graph import Memory, Settings
from gsw_graph.errors import GswGraphError
from gsw_graph.explore.analyses import analyses
from gsw_graph.load.loading import texts
from gsw_graph.model.documents import Workspace
from gsw_graph.store import schema
from gsw_graph.store.writer import BATCH_BYTES, Batch, write_batch

EXAMPLES = str(Path(__file__).parent.parent / "examples/workspaces.jsonl")
DIMENSION = 4
QUESTIONS = 2000
LONGEST = 60  # seconds
QUESTION = """UNWIND $rows AS row
CREATE (q:Question) SET q = row.properties
WITH q, row
CALL (q, row) {
  UNWIND row.pairs AS id MATCH (x:QAPair {id: id}) CREATE (q)-[:USED {hop: 1, rank: 1, score: 1.0}]->(x)
  RETURN count(*) AS pairs
}
CALL (q, row) {
  UNWIND row.passages AS id MATCH (x:Passage {id: id}) CREATE (q)-[:USED {rank: 1, score: 1.0, cited: true}]->(x)
  RETURN count(*) AS passages
}
RETURN count(*) AS n"""


def fill(memory: Memory, workspaces: list[Workspace], size: int) -> int:
    """Write renamed copies until there are so many pairs; how many there are."""
    rng = np.random.default_rng(0)

    def unit(count: int) -> np.ndarray:
        values = rng.normal(size=(count, DIMENSION)).astype(np.float32)
        vectors: np.ndarray = values / np.linalg.norm(values, axis=1, keepdims=True)
        return vectors

    have, batch = 0, Batch()
    writer = memory._connection
    for _, _, workspace in copies(workspaces, 10**9):
        if have >= size:
            break
        pairs = sum(len(phrase.pairs) for phrase in workspace.verb_phrases)
        distinct = list(dict.fromkeys(texts(workspace, "new")))
        batch.add(workspace, dict(zip(distinct, unit(len(distinct)), strict=True)))
        have += pairs
        if batch.bytes >= BATCH_BYTES:
            write_batch(writer, batch)
            batch = Batch()
    write_batch(writer, batch)
    return have


def ask(memory: Memory) -> None:
    """Questions that were never asked, each with pairs and passages that it used."""
    rng = random.Random(0)
    pairs = [row["id"] for row in memory.cypher("MATCH (n:QAPair) RETURN n.id AS id").rows]
    passages = [row["id"] for row in memory.cypher("MATCH (n:Passage) RETURN n.id AS id").rows]
    rows = [
        {
            "properties": {
                "id": f"q{n}",
                "question": f"Who built number {n % 500}?",
                "answer": None if n % 7 == 0 else "Ilse Tarn",
                "abstained": n % 7 == 0,
                "strategy": rng.choice(["fusion", "linked", "ricr"]),
                "model": rng.choice(["small", "large"]),
                "asked_at": f"2026-01-{n % 28 + 1:02}T12:00:00+00:00",
                "seconds": rng.random(),
                "confidence": rng.random(),
                "prompt_tokens": rng.randrange(2000),
                "completion_tokens": rng.randrange(200),
                "dollars": rng.random() / 100,
            },
            "pairs": rng.sample(pairs, 5),
            "passages": rng.sample(passages, 5),
        }
        for n in range(QUESTIONS)
    ]
    for first in range(0, len(rows), 500):
        memory.cypher(QUESTION, write=True, rows=rows[first : first + 500])


def processor(pid: int | None) -> float:
    """Seconds of processor time that a process has taken, on Linux; not a number for none."""
    if pid is None:
        return float("nan")
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def child() -> int | None:
    """The embedded engine of this process."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return int(children[0]) if children else None


def measure(memory: Memory, names: list[str], rounds: int, pid: int | None) -> None:
    dialect = memory._connection.dialect
    print(
        f"{dialect.name} {dialect.version}\n\n| analysis | rows | first, s | then, s | of a processor, s |\n|---|---:|---:|---:|---:|",
        flush=True,
    )
    for name in names:
        times: list[tuple[float, float]] = []
        try:
            for _ in range(1 + rounds):
                start, before = time.perf_counter(), processor(pid)
                rows = len(memory.explore(name, timeout=LONGEST).rows)
                times.append((time.perf_counter() - start, processor(pid) - before))
        except GswGraphError as error:
            print(f"| {name} | | {str(error)[:80]} | | |", flush=True)
            continue
        wall, used = min(times[1:])
        print(f"| {name} | {rows} | {times[0][0]:.2f} | {wall:.2f} | {used:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory")
    parser.add_argument("--workspaces", default=EXAMPLES)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=list(analyses()))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--pid", type=int)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        settings = replace(Settings.from_env(), memory=arguments.memory or f"{folder}/memory")
        with Memory.open(settings=settings) as memory:
            if not arguments.keep:
                memory.forget(everything=True)
                schema.prepare(memory._connection, "random", DIMENSION)
                start = time.perf_counter()
                have = fill(memory, originals(arguments.workspaces), arguments.pairs)
                ask(memory)
                print(f"{have} pairs written in {time.perf_counter() - start:.0f} s", flush=True)
            measure(memory, arguments.only, arguments.rounds, arguments.pid or child())


if __name__ == "__main__":
    main()
