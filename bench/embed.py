"""How fast the embedder is beside plain sentence-transformers on torch in fp32, in one run: read the ratios.

    python bench/embed.py [--corpus FILE.json] [--limit 256] [--repeat 3]

A corpus file is a list of objects with `title` and `text`. Without one, the passages of `examples/corpus` are
taken
(.json, .jsonl, .txt, .md).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from gsw_graph.config import Settings
from gsw_graph.models.embed.embedder import Embedder, find_model
from gsw_graph.models.embed.torch_backend import TorchBackend

EXAMPLES = Path(__file__).parent.parent / "examples" / "corpus"
START = """
import time; start = time.perf_counter()
from gsw_graph.config import Settings
from gsw_graph.models.embed.embedder import Embedder
Embedder.load(Settings.from_env()).encode_query(["Who was it?"])
print(time.perf_counter() - start)
"""
PLAIN_START = """
import time; start = time.perf_counter()
import sys
from sentence_transformers import SentenceTransformer
SentenceTransformer(sys.argv[1], device="cpu").encode(["Who was it?"])
print(time.perf_counter() - start)
"""

Encode = Callable[[list[str]], NDArray[np.float32]]


def read_corpus(path: Path) -> list[str]:
    """Passages as `title` newline `text`; paragraphs of text files."""
    passages: list[str] = []
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.suffix in (".json", ".jsonl"):
            content = file.read_text(encoding="utf-8")
            records: Any = (
                json.loads(content)
                if file.suffix == ".json"
                else [json.loads(line) for line in content.splitlines() if line]
            )
            passages += [
                f"{r.get('title', '')}\n{r['text']}" for r in records if isinstance(r, dict) and "text" in r
            ]
        elif file.suffix in (".txt", ".md"):
            passages += [
                part.strip() for part in file.read_text(encoding="utf-8").split("\n\n") if part.strip()
            ]
    return passages


def per_second(encode: Encode, texts: list[str]) -> float:
    start = time.perf_counter()
    encode(texts)
    return len(texts) / (time.perf_counter() - start)


def latency_ms(encode: Encode, texts: list[str]) -> float:
    seconds = []
    for text in texts:
        start = time.perf_counter()
        encode([text])
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds) * 1000


def start_seconds(code: str, repeat: int, *arguments: str) -> float:
    command = [sys.executable, "-c", code, *arguments]
    return min(
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(repeat)
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, default=EXAMPLES)
    parser.add_argument("--limit", type=int, default=256, help="passages taken")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the best of each is shown")
    arguments = parser.parse_args()
    passages = read_corpus(arguments.corpus)[: arguments.limit]
    if not passages:
        sys.exit(f"{arguments.corpus}: no passages here. Give a file with --corpus")
    short = [" ".join(passage.replace("\n", ": ").split()[:14]) for passage in passages]

    settings = Settings.from_env()
    ours = Embedder.load(settings)
    plain = TorchBackend(settings.embedder, find_model(settings.embedder), "cpu").model
    ways: dict[str, tuple[Encode, Encode]] = {
        "torch fp32 (sentence-transformers)": (lambda texts: plain.encode(texts, normalize_embeddings=True),)
        * 2,
        f"gswgraph ({ours.backend}, {ours.device})": (
            ours.encode,
            ours.encode_query,
        ),
    }
    vectors = {
        name: np.vstack([encode(passages), encode(short)]) for name, (encode, _) in ways.items()
    }  # and everything is warm
    figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(arguments.repeat):  # in turns, so that other work on the machine hits both
        for name, (encode, query) in ways.items():
            figures[name].append(
                (per_second(encode, passages), per_second(encode, short), latency_ms(query, short[:100]))
            )
    starts = (
        start_seconds(PLAIN_START, 2, str(find_model(settings.embedder) or settings.embedder)),
        start_seconds(START, 2),
    )

    table = Table(
        "backend",
        "passages/s",
        "ratio",
        "short/s",
        "ratio",
        "query p50 ms",
        "ratio",
        "start s",
        "min cosine",
        title=f"{len(passages)} passages",
    )
    base: tuple[float, ...] = ()
    reference = next(iter(vectors.values()))
    for name, start in zip_longest(ways, starts):
        long_rate, short_rate, ms = (
            best(column)
            for best, column in zip((max, max, min), zip(*figures[name], strict=True), strict=True)
        )
        base = base or (long_rate, short_rate, ms)
        cells = [
            f"{long_rate:.0f}",
            f"{long_rate / base[0]:.1f}x",
            f"{short_rate:.0f}",
            f"{short_rate / base[1]:.1f}x",
            f"{ms:.1f}",
        ]
        cosine = float((vectors[name] * reference).sum(1).min())
        table.add_row(name, *cells, f"{base[2] / ms:.1f}x", f"{start:.2f}" if start else "-", f"{cosine:.5f}")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
