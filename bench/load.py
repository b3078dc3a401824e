"""A load against embedding the same texts alone, in one run: what reading, extracting, writing and indexing
cost on top.

    python bench/load.py [PATH...] [--rounds 3] [--memory URL]

Without a path: the example corpus. Each round embeds every text of the load once with its embedder (of
workspaces pairs, propositions and verb phrases too), then loads them into an empty memory (a server's is
emptied).
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from gsw_graph import Memory, Settings, loaders
from gsw_graph.load.loading import texts
from gsw_graph.model.documents import Document, Failure, Workspace
from gsw_graph.models.embed.embedder import Embedder

EXAMPLES = str(Path(__file__).parent.parent / "examples/corpus")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", default=[EXAMPLES])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory")
    arguments = parser.parse_args()
    workspaces = [
        Workspace(item, "none") if isinstance(item, Document) else item
        for item in loaders.read(arguments.paths)
        if not isinstance(item, Failure)
    ]
    some = list(dict.fromkeys(text for workspace in workspaces for text in texts(workspace, "new")))
    passages = sum(len(workspace.document.passages) for workspace in workspaces)
    embedder = Embedder.load(Settings.from_env())
    embedder.encode(some[:64])
    print(
        f"{passages} passages, {len(some)} texts, {embedder.backend} on {embedder.device}, "
        f"{os.cpu_count()} processors"
    )
    ratios = []
    for _ in range(arguments.rounds):
        start = time.perf_counter()
        embedder.encode(some)
        alone = time.perf_counter() - start
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory.open(arguments.memory or f"{folder}/memory") as memory,
        ):
            memory.forget(everything=True)
            start = time.perf_counter()
            report = memory.load(*arguments.paths)
            load = time.perf_counter() - start
        ratios.append(load / alone)
        parts = ", ".join(
            f"{name} {seconds:.1f}" for name, seconds in report.seconds.items() if name != "total"
        )
        print(
            f"embedding alone {alone:.1f} s, load {load:.1f} s ({parts}; they overlap): ratio "
            f"{ratios[-1]:.2f}"
        )
    print(f"load / embedding alone, median: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
