"""Comparative and temporal questions over the examples: right answers and passages among the first five, by strategy.

`python bench/times.py` loads examples/corpus (read by rules, so plain text) and examples/workspaces.jsonl into a memory of its own; `--memory` takes one that is loaded, such as
one that `examples/recorded.sh` filled by the recorded language model. The questions are a development set: docs/pathwise.md says how the rules were made."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from gsw_graph.config import Settings
from gsw_graph.evaluate.data import Question as Record
from gsw_graph.evaluate.data import read_record as record
from gsw_graph.evaluate.metrics import exact_match
from gsw_graph.evaluate.metrics import gold_ranks as ranks
from gsw_graph.memory import Memory
from gsw_graph.retrieve.comparison.matrix import comparison_matrix
from gsw_graph.retrieve.comparison.recipe import MATRIX
from gsw_graph.retrieve.strategy import Strategy
from gsw_graph.retrieve.times.ordered import time_ordered
from gsw_graph.retrieve.times.recipe import TIMES

EXAMPLES = Path(__file__).parents[1] / "examples"
STRATEGIES: tuple[str | Strategy[Any], ...] = (
    *("dense", "linked", "fusion", "auto"),
    Strategy("comparison_matrix", "", comparison_matrix, MATRIX),
    Strategy("time_ordered", "", time_ordered, TIMES),
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--memory", help="a memory that is loaded")
    options.add_argument("--each", action="store_true", help="print what ours answers to each question")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, Memory.open(settings=Settings(memory=given.memory or f"{folder}/memory")) as memory:
        if given.memory is None:
            memory.load(str(EXAMPLES / "corpus"), str(EXAMPLES / "workspaces.jsonl"))
        for kind in ("comparative", "temporal"):
            lines = (EXAMPLES / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
            questions = [record(json.loads(line), str(n)) for n, line in enumerate(lines, 1)]
            print(f"\n{kind}: {len(questions)} questions\n{'strategy':<20}{'right':>6}{'wrong':>6}{'none':>6}{'recall@5':>10}{'all@5':>7}")
            for strategy in STRATEGIES:
                _print(memory, strategy, questions, given.each)


def _print(memory: Memory, strategy: str | Strategy[Any], questions: list[Record], each: bool) -> None:
    right = wrong = whole = 0
    recall = 0.0
    for one in questions:
        found = memory.ask(one.question, strategy=strategy, k=5, keep=False)
        places = ranks(one.gold, found.passages)
        share = sum(place is not None for place in places) / len(places)
        recall, whole = recall + share, whole + (share == 1)
        good = found.answer is not None and exact_match(found.answer, one.answers)
        right, wrong = right + bool(good), wrong + (found.answer is not None and not good)
        if each and not isinstance(strategy, str):
            print(f"  {'right' if good else '     '} {share:.2f} {one.id}: {one.question} -> {found.answer} ({one.answers[0]})")
    n, name = len(questions), strategy if isinstance(strategy, str) else strategy.name
    print(f"{name:<20}{right:>6}{wrong:>6}{n - right - wrong:>6}{recall / n:>10.3f}{whole:>7}")


if __name__ == "__main__":
    main()
