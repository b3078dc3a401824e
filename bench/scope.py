"""Hold a scope over one corpus of a memory of several against a memory of that corpus alone.

    python bench/scope.py FOLDER FOLDER... [--sample 100] [--strategies auto,linked]

Each folder has `corpus.json` and `questions.json`; the questions of the first are asked. Prints for each strategy
recall@5 in the first corpus's own memory and within the scope, passages from outside, and the time of a question
within the scope by that of one without: a ratio in one run, each question asked in turn both ways.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from gsw_graph.evaluate import read_questions
from gsw_graph.evaluate.metrics import gold_ranks
from gsw_graph.memory import Memory

K = 5


def main() -> None:
    """Load the memories, ask, and print a line for each strategy."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--strategies", default="auto,dense")
    arguments = parser.parse_args()
    first = arguments.folders[0]
    corpus = str(first / "corpus.json")
    questions = read_questions(first / "questions.json").subset(sample=arguments.sample).questions
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(f"{folder}/own") as own,
        Memory.open(f"{folder}/all") as several,
    ):
        own.load(corpus)
        for path in arguments.folders:
            several.load(str(path / "corpus.json"), meta=(f"set={path.name}",))
        rows = own.cypher("MATCH (d:Document) RETURN d.source AS source").rows
        sources, scope = {row["source"] for row in rows}, f"set = {first.name}"
        for strategy in arguments.strategies.split(","):
            print(strategy, measure(own, several, questions, strategy, scope, sources))


def measure(
    own: Memory, several: Memory, questions: Any, strategy: str, scope: str, sources: set[str]
) -> str:
    """Return recall@5 of both, passages from outside, and the ratio of times."""
    quiet: dict[str, Any] = {"strategy": strategy, "k": K, "llm": False, "keep": False, "answer": False}
    recalls: dict[str, list[float]] = {"own": [], "scope": []}
    ratios, outside = [], 0
    for number, question in enumerate(questions):
        ways: dict[str, dict[str, Any]] = {"all": {}, "scope": {"where": scope}}
        seconds, answers = {}, {"own": own.ask(question.question, **quiet)}
        for name in sorted(ways, reverse=bool(number % 2)):
            start = perf_counter()
            answers[name] = several.ask(question.question, **ways[name], **quiet)
            seconds[name] = perf_counter() - start
        outside += sum(passage.source not in sources for passage in answers["scope"].passages)
        if number >= min(10, len(questions) // 2):  # warm
            ratios.append(seconds["scope"] / seconds["all"])
        for name, values in recalls.items():
            ranks = gold_ranks(question.gold, answers[name].passages)
            if ranks:
                values.append(float(np.mean([rank is not None for rank in ranks])))
    means = ", ".join(f"recall@{K} {name} {np.mean(values):.3f}" for name, values in recalls.items())
    return f"{means}; {outside} passages from outside; time {np.median(ratios):.2f}"


if __name__ == "__main__":
    main()
