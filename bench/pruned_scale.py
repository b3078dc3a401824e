"""The coarse and the fine stage of `pruned` over a million runs: made data, no engine, no model. Times are of
the processor, all threads together; OPENBLAS_NUM_THREADS=1 makes them those of one.

A made memory has as many concepts, relations and edges for a run as the workspaces of docs/pruned.md: 1.7
concepts, 0.9 relations and 3.9 lines. Vectors of symbols lie around centres, as names do. Compared with the
same product over all symbols at once, by how many of its best runs are among those found.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from gsw_graph.retrieve.pruned import symbols
from gsw_graph.retrieve.pruned.coarse import shortlist
from gsw_graph.retrieve.pruned.codebook import Codebook
from gsw_graph.retrieve.pruned.question import Asked
from gsw_graph.retrieve.pruned.runs import facts
from gsw_graph.retrieve.pruned.symbols import Symbols
from gsw_graph.retrieve.recipes import PrunedRecipe

CONCEPTS, RELATIONS, LINES, CENTRES = 1.7, 0.9, 3.9, 2000


def made(count: int, dimension: int, rng: np.random.Generator) -> Symbols:
    """Symbols around CENTRES centres."""
    centres = rng.standard_normal((CENTRES, dimension), dtype=np.float32)
    vectors = np.empty((count, dimension), np.int8)
    for begin in range(0, count, 50_000):
        part = slice(begin, min(begin + 50_000, count))
        some = centres[rng.integers(0, CENTRES, part.stop - begin)]
        some = some + rng.standard_normal(some.shape, dtype=np.float32)
        vectors[part] = np.rint(127 * some / np.linalg.norm(some, axis=1, keepdims=True)).astype(np.int8)
    return Symbols([str(n) for n in range(count)], vectors)


def book(runs: int, dimension: int, rng: np.random.Generator) -> Codebook:
    """A codebook of so many runs. Names repeat as they do in texts: the number of a symbol falls as its rank
    to the power of -1/2."""
    concepts, relations = (made(int(share * runs), dimension, rng) for share in (CONCEPTS, RELATIONS))
    lengths = 1 + rng.poisson(LINES - 1, runs)
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    lines = int(begins[-1])

    def drawn(of: Symbols) -> np.ndarray:
        return (len(of.names) * rng.random(lines) ** 2).astype(np.int32)

    block = made(min(lines, 200_000), dimension, rng).vectors
    vectors = np.resize(block, (lines, dimension))
    ids = [str(n) for n in range(runs)]
    return Codebook(
        concepts, relations, concepts.names, ids, ids, [], begins, drawn(concepts), drawn(relations),
        drawn(concepts), np.repeat(np.arange(runs, dtype=np.int32), lengths), np.zeros(lines, np.int64), vectors,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--questions", type=int, default=30)
    given = parser.parse_args()
    rng, recipe = np.random.default_rng(7), PrunedRecipe()
    start = time.process_time()
    of = book(given.runs, given.dimension, rng)
    print(
        f"made {len(of.runs):,} runs, {len(of.concepts.names):,} concepts, {len(of.relations.names):,} relations, {len(of.subject):,} lines in {time.process_time() - start:.0f} s"
    )
    start = time.process_time()
    asked = [question(of, rng) for _ in range(given.questions)]
    facts(of, asked[0], recipe)
    print(f"the first question, which groups the symbols: {time.process_time() - start:.1f} s")
    coarse, whole, found = [], [], []
    for one in asked:
        start = time.process_time()
        found.append(shortlist(of, one.concepts, one.relations, recipe)[0])
        coarse.append(time.process_time() - start)
        start = time.process_time()
        facts(of, one, recipe)
        whole.append(time.process_time() - start)
    print(
        f"coarse: median {1e3 * statistics.median(coarse):.0f} ms, largest {1e3 * max(coarse):.0f} ms; coarse and fine: median {1e3 * statistics.median(whole):.0f} ms"
    )
    symbols._EXACT = 10**9  # all symbols compared
    shares = []
    for one, some in list(zip(asked, found, strict=True))[:5]:
        exact = shortlist(of, one.concepts, one.relations, recipe)[0][: recipe.runs]
        shares.append(len(set(exact.tolist()) & set(some.tolist())) / len(exact))
    print(
        f"of the {recipe.runs} best runs by all symbols {statistics.fmean(shares):.3f} are in the shortlist"
    )


def question(of: Codebook, rng: np.random.Generator) -> Asked:
    """Two concepts of the memory, a question near one of them, and a relation near one of the memory."""
    own = of.concepts.unit(rng.integers(0, len(of.concepts.names), 2))
    relation = near(of.relations.unit(rng.integers(0, len(of.relations.names), 1)), rng)
    return Asked([], np.concatenate([near(own[:1], rng), own]), relation, relation)


def near(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Vectors with a cosine of about 0.7 to these."""
    noise = rng.standard_normal(vectors.shape, dtype=np.float32)
    moved = vectors + noise / np.linalg.norm(noise, axis=1, keepdims=True)
    unit: np.ndarray = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


if __name__ == "__main__":
    main()
