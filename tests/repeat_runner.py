"""Asks questions of a memory and prints the passages of each: `repeat_runner.py MEMORY THREADS FILE`, with the fake embedder."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import fakes

from gsw_graph import Memory
from gsw_graph.models.embed.embedder import Embedder


def main(memory_name: str, threads: str, questions_file: str) -> None:
    Embedder.load = staticmethod(fakes.embedder)
    questions = json.loads(Path(questions_file).read_text(encoding="utf-8"))
    with Memory.open(memory_name) as memory, ThreadPoolExecutor(int(threads)) as pool:

        def ask(question: str) -> list[str]:
            answer = memory.ask(question, k=20, keep=False, question_cache=False, llm=False)
            return [passage.id for passage in answer.passages]

        print(json.dumps(list(pool.map(ask, questions))))


if __name__ == "__main__":
    main(*sys.argv[1:])
