"""Count the tokens of passages that an agent reads over a series of questions, with what it has seen left out or not.

    python bench/series.py FOLDER [--questions 10] [--series 20]

FOLDER has `corpus.json` and `questions.json`. The questions of a series are the nearest by vector to one drawn at
random, so that they are about the same documents. Prints the tokens of the last question and of all of a series, by
`gsw_graph`'s estimate, a ratio in one run.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import numpy as np

from gsw_graph.evaluate import read_questions
from gsw_graph.memory import Memory
from gsw_graph.models.chat.request import estimate


def main() -> None:
    """Load the memory, ask each series, and print the tokens."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--series", type=int, default=20)
    arguments = parser.parse_args()
    questions = [row.question for row in read_questions(arguments.folder / "questions.json").questions]
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/memory") as memory:
        memory.load(str(arguments.folder / "corpus.json"))
        vectors = memory.embedder.encode(questions)
        rows = []
        for first in random.Random(0).sample(range(len(questions)), arguments.series):
            nearest = np.argsort(-(vectors @ vectors[first]))[: arguments.questions]
            rows.append(series(memory, [questions[place] for place in nearest]))
        usual, fewer = np.array(rows).mean(axis=0)
    print(f"last question: {usual[-1]:.0f} tokens, {fewer[-1]:.0f} without what was shown")
    print(f"series of {arguments.questions}: {usual.sum():.0f} tokens, {fewer.sum():.0f} without what was shown")


def series(memory: Memory, questions: list[str]) -> tuple[list[int], list[int]]:
    """Ask the questions one after another, and return the tokens of each, whole and without what was shown."""
    shown: list[str] = []
    usual, fewer = [], []
    for question in questions:
        passages = memory.ask(question, llm=False, answer=False, keep=False).passages
        new = memory.ask(question, llm=False, answer=False, keep=False, shown=tuple(shown)).passages
        usual.append(sum(estimate(passage.text) for passage in passages))
        fewer.append(sum(estimate(passage.text) for passage in new))
        shown += [passage.id for passage in new]
    return usual, fewer


if __name__ == "__main__":
    main()
