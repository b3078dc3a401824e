"""`bulk` on a local Ray cluster of two nodes with a slow embedder: one worker against two, in one run.

    python bench/bulk_ray.py [--passages 4000] [--rate 40]

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=4000)
    parser.add_argument("--rate", type=float, default=40, help="vectors a second of one worker")
    arguments = parser.parse_args()
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
