"""What loads by several workers gain: seconds of a load by Ray with a language model that takes its time.

    python bench/workers.py --memory bolt://HOST:7687 [--documents 300] [--delay 1] [--workers 1,2,4] [--limit 8]

Made-up documents are loaded into an empty server and forgotten again, once for each number of workers, with a
scripted model server that answers after `delay` seconds and an empty cache of replies each time; every worker
has `limit` calls under way. `rules` loads the same documents without a model: embedding alone. The password is
NEO4J_PASSWORD.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import model_corpus  # type: ignore[import-not-found,unused-ignore]
from model_server import ModelServer  # type: ignore[import-not-found,unused-ignore]

from gsw_graph import Memory
from gsw_graph.config import Settings


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory", required=True)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--workers", default="1,2,4")
    options = parser.parse_args()
    settings = replace(Settings.from_env(), memory=options.memory)
    with tempfile.TemporaryDirectory() as folder, ModelServer(model_corpus.reply) as server:
        server.delay = options.delay
        corpus = Path(folder) / "corpus"
        passages = model_corpus.write(corpus, options.documents)
        print(f"{passages} passages, {options.limit} calls at once a worker")
        for number in map(int, options.workers.split(",")):
            modelled = replace(
                settings,
                llm="scripted",
                llm_url=server.url,
                concurrency=options.limit,
                cache_dir=Path(folder) / f"cache{number}",
            )
            for extractor, used in (("llm", modelled), ("rules", settings)):
                seconds, nodes = load(used, corpus, number, extractor)
                print(f"{number} workers, {extractor}: {seconds:.1f} s, {nodes:,} nodes", flush=True)


def load(settings: Settings, corpus: Path, workers: int, extractor: str) -> tuple[float, int]:
    """Return the seconds of a load and the nodes that it wrote; the server is empty afterwards."""
    with Memory.open(settings=settings) as memory:
        if any(memory.status().nodes.values()):
            sys.exit("the memory is not empty, and would be emptied")
        start = time.perf_counter()
        report = memory.load_by_workers(corpus, workers=workers, extractor=extractor)
        seconds = time.perf_counter() - start
        assert not report.failures, report.failures
        nodes = sum(memory.status().nodes.values())
        memory.forget(everything=True)
    return seconds, nodes


if __name__ == "__main__":
    main()
