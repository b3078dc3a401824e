"""Says what a fit of `gswgraph eval fit` is worth: "held out" figures come from weights fitted without the question.

    python bench/scorer.py QUESTIONS.json --memory URL [--strategy fusion] [--folds 5]

QUESTIONS in the shape of MuSiQue with gold decompositions; the memory holds the workspaces of their passages.
Gold plans are used throughout: this measures the choice of pairs and chains, not the planning.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from gsw_graph import Memory
from gsw_graph.evaluate import read_questions
from gsw_graph.evaluate.data import Question
from gsw_graph.evaluate.fit import fit_scores
from gsw_graph.evaluate.metrics import gold_ranks

COLUMNS = ("recall@5", "answer first", "in a chain", "in the evidence", "refused")


def judge(memory: Memory, question: Question, strategy: str) -> list[float]:
    """One question asked with its gold plan: the columns."""
    result = memory.ask(question.question, strategy=strategy, plan=question.plan, k=10, keep=False, llm=False)
    wanted = [answer.casefold() for answer in question.answers]
    answers = [chain.hops[-1].answer.casefold() for chain in result.chains]
    hops = [hop for chain in result.chains for hop in chain.hops]
    evidence = " ".join(" ".join([hop.qa.question, *hop.qa.answers]) for hop in hops).casefold()
    return [
        float(np.mean([rank is not None for rank in gold_ranks(question.gold, result.passages[:5])])),
        float(any(w in a for w in wanted for a in answers[:1])),
        float(any(w in a for w in wanted for a in answers)),
        float(any(w in evidence for w in wanted)),
        float(result.abstained),
    ]


def report(name: str, rows: list[list[float]]) -> None:
    means = zip(COLUMNS, np.mean(rows, axis=0), strict=True)
    print(f"{name:10s}", "  ".join(f"{column} {value:.3f}" for column, value in means), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--memory", required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--strategy", choices=("ricr", "fusion"), default="ricr", help="whose chains")
    arguments: Any = parser.parse_args()
    every = read_questions(arguments.questions)
    order = np.random.default_rng(0).permutation(len(every.questions)).tolist()
    rows = []
    with Memory.open(arguments.memory) as memory, tempfile.TemporaryDirectory() as folder:
        report("in use", [judge(memory, question, arguments.strategy) for question in every.questions])
        for fold in range(arguments.folds):
            out = set(order[fold :: arguments.folds])
            kept = [question for number, question in enumerate(every.questions) if number not in out]
            file = Path(folder) / f"{fold}.json"
            file.write_text(
                json.dumps(asdict(fit_scores(memory, replace(every, questions=kept))[0])), "utf-8"
            )
            fitted = Memory(memory._connection, replace(memory.settings, fit=str(file)), memory.embedder)
            rows += [judge(fitted, every.questions[number], arguments.strategy) for number in sorted(out)]
    report("held out", rows)


if __name__ == "__main__":
    main()
