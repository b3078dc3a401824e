"""PropRAG on a made graph of any size, no database: how long its matrices take and hold, and a question over
all of it against its bounded form.

    python bench/proprag_scale.py [--passages 1000000] [--questions 20] [--dimension 64]

A passage has one proposition of five concepts: names of its topic and some of any other, so that names have
neighbours as in text; some 13 edges a passage. A question is near the propositions of one topic; recall is
of the first 5 passages of the walk over all.
"""

from __future__ import annotations

import argparse
import resource
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import cast

import numpy as np

from gsw_graph.retrieve.propositions import graph as proposition_graph
from gsw_graph.retrieve.propositions.passages import best_passages
from gsw_graph.retrieve.propositions.walk_graph import alone
from gsw_graph.retrieve.recipes import QUICK

TOPIC = 20  # passages of one topic
NAMES = 20  # concepts of one topic
MENTIONS = 5  # of a proposition
COMMON = 0.1  # share of mentions that are of any topic


def rows(passages: int, dimension: int) -> Iterator[proposition_graph.PassagePropositions]:
    rng = np.random.default_rng(0)
    for begin in range(0, passages, TOPIC):
        centre = rng.normal(size=dimension)
        vectors = (centre + rng.normal(scale=0.7, size=(TOPIC, dimension))).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        own = rng.integers(0, NAMES, size=(TOPIC, MENTIONS)) + begin // TOPIC * NAMES
        far = rng.integers(0, passages // TOPIC * NAMES, size=(TOPIC, MENTIONS))
        mentioned = np.where(rng.random((TOPIC, MENTIONS)) < COMMON, far, own)
        for n in range(TOPIC):
            vector = cast("Sequence[Sequence[float]]", vectors[n : n + 1])  # `build` takes an array as well
            yield (
                f"p{begin + n}",
                [f"f{begin + n}"],
                vector,
                [[f"c{concept}" for concept in set(mentioned[n].tolist())]],
            )


def asked(
    graph: proposition_graph.PropositionGraph, number: int
) -> tuple[np.ndarray, list[tuple[str, float]], list[tuple[str, float]]]:
    """A question: its vector, and the passages and propositions near it, of one topic and by chance."""
    rng = np.random.default_rng(number)
    begin = int(rng.integers(0, len(graph.passages) // TOPIC)) * TOPIC
    near = np.concatenate([np.arange(begin, begin + TOPIC), rng.integers(0, len(graph.passages), 80)])
    vector = graph.unit(near[:3]).mean(axis=0)
    vector /= np.linalg.norm(vector)
    cosines = graph.unit(near) @ vector
    order = np.argsort(-cosines, kind="stable")
    ranked = dict.fromkeys((int(near[n]), float(cosines[n])) for n in order)
    return vector, [(f"p{n}", c) for n, c in ranked], [(f"f{n}", c) for n, c in ranked][:20]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--dimension", type=int, default=64)
    arguments = parser.parse_args()
    start = perf_counter()
    graph = proposition_graph.build(rows(arguments.passages, arguments.dimension))
    read = perf_counter() - start
    walk_graph = alone(graph, QUICK.weights)
    print(
        f"{walk_graph.edges.nnz // 2:,} edges, {len(graph.concepts):,} concepts, "
        f"{len(graph.propositions):,} propositions"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"rows made and read {read:.1f} s, matrices {perf_counter() - start - read:.1f} s, peak {peak:.2f} GB"
    )
    questions = [asked(graph, n) for n in range(arguments.questions)]
    found: dict[str, list[list[str]]] = {}
    for name, whole in (("whole", 10**9), ("bounded", 0)):
        recipe = replace(QUICK, whole=whole)
        best_passages(walk_graph, "?", *questions[0], 5, recipe)  # what is made once is made here
        times = []
        for vector, near, facts in questions:
            start = perf_counter()
            found.setdefault(name, []).append(
                best_passages(walk_graph, "?", vector, near, facts, 5, recipe).passages
            )
            times.append(perf_counter() - start)
        print(f"{name}: mean {statistics.fmean(times) * 1e3:.0f} ms, most {max(times) * 1e3:.0f} ms")
    recall = statistics.fmean(
        len(set(a) & set(b)) / len(a) for a, b in zip(found["whole"], found["bounded"], strict=True)
    )
    print(f"of the whole walk's first five, the bounded one has {recall:.3f}")


if __name__ == "__main__":
    main()
