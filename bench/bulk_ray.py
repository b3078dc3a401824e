"""`bulk` on a local Ray cluster of two nodes with a slow embedder: one worker against two, in one run.

    python bench/bulk_ray.py [--passages 8000] [--rate 20]
    python bench/bulk_ray.py --here --passages 20000     # what a passage takes on one machine, embedding apart

The embedder sleeps for as long as one would take that makes so many vectors a second; everything else is the
real thing: files are read, names found by rule, files written, concepts joined. The cluster stands before the
clock starts. Two workers are as fast as two machines only as far as the work is the embedder's.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import made
import numpy as np
from numpy.typing import NDArray

from gsw_graph import Settings
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.moving.checking import check
from gsw_graph.moving.cluster import bulk
from gsw_graph.tally import Progress

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import fakes  # type: ignore[import-not-found]
import ray_cluster  # type: ignore[import-not-found]


class Slow(fakes.BagOfWords):  # type: ignore[misc]
    """Sleeps for each text."""

    def __init__(self, rate: float) -> None:
        self._rate = rate

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        time.sleep(len(texts) / self._rate)
        found: NDArray[np.float32] = super().encode(texts, query=query)
        return found


def slow(settings: Settings, rate: float) -> Embedder:
    return Embedder(settings.embedder, Slow(rate))


def corpus(folder: Path, passages: int) -> str:
    """The example corpus renamed until there are so many passages, in four files."""
    workspaces = [one for _, _, one in made.copies(made.originals(None), passages)]
    for n in range(4):
        records = [
            json.dumps(
                {
                    "id": f"{n}-{number}",
                    "title": one.document.title,
                    "text": "\n\n".join(p.text for p in one.document.passages),
                }
            )
            for number, one in enumerate(workspaces[n::4])
        ]
        (folder / f"{n}.jsonl").write_text("\n".join(records), encoding="utf-8")
    return str(folder)


class Constant(fakes.BagOfWords):  # type: ignore[misc]
    """Takes no time."""

    dimension = 384

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:  # noqa: ARG002
        return np.full((len(texts), self.dimension), self.dimension**-0.5, np.float32)


def here(passages: int) -> None:
    """Processor time and bytes of a passage in one process, and of a document for the one that leads."""
    from gsw_graph.loaders import Identity, Sources
    from gsw_graph.moving import bulk as one

    with tempfile.TemporaryDirectory() as place:
        (folder := Path(place, "corpus")).mkdir()
        name = corpus(folder, passages)
        start = time.process_time()
        report = one.bulk([name], Path(place, "files"), Settings(), lambda: Embedder("constant", Constant()))
        took, made = time.process_time() - start, report.nodes["Passage"]
        size, rows = (
            sum(file.stat().st_size for file in Path(place, "files").rglob("*") if file.is_file()),
            sum(report.nodes.values()) + sum(report.relationships.values()),
        )
        print(
            f"{made:,} passages: {1000 * took / made:.2f} ms of a processor, {size / made:,.0f} bytes of files, "
            f"{rows / made:.1f} nodes and relationships each"
        )
    told = [
        Identity(f"corpus/{n}.jsonl:{n}", f"corpus/{n}", f"{n:032}", f"{n:032}", 1) for n in range(500_000)
    ]
    tracemalloc.start()
    sources = Sources()
    for n in told:  # texts of its own, as they come from another process
        sources.fresh(Identity(*(text[:-1] + text[-1:] if isinstance(text, str) else text for text in n)))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    sources, start = Sources(), time.process_time()
    for n in told:
        sources.fresh(n)
    print(
        f"a document is told apart in {1e6 * (time.process_time() - start) / len(told):.1f} us, and kept in "
        f"{kept / len(told):.0f} bytes"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=8000)
    parser.add_argument("--rate", type=float, default=20, help="vectors a second of one worker")
    parser.add_argument("--here", action="store_true")
    arguments = parser.parse_args()
    if arguments.here:
        here(arguments.passages)
        return
    seconds = {}
    with tempfile.TemporaryDirectory() as place, ray_cluster.two_nodes() as address:
        (folder := Path(place, "corpus")).mkdir()
        name = corpus(folder, arguments.passages)
        for workers in (1, 2):
            parts = [0.0]
            start = time.perf_counter()

            def watch(_: Progress, start: float = start, parts: list[float] = parts) -> None:
                parts[0] = time.perf_counter() - start

            report = bulk(
                [name],
                Path(place, str(workers)),
                Settings(),
                partial(slow, rate=arguments.rate),
                address=address,
                workers=workers,
                progress=watch,
            )
            seconds[workers] = time.perf_counter() - start
            print(
                f"{workers} workers: {report.nodes['Passage']:,} passages in {seconds[workers]:.1f} s, "
                f"{parts[0]:.1f} s of them until all parts were made; {check(Path(place, str(workers))).faults or 'sound'}"
            )
    print(f"1 worker / 2 workers: {seconds[1] / seconds[2]:.2f}")


if __name__ == "__main__":
    main()
