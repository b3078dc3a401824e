"""Fits the `confidence` of a strategy's record: every question asked on the whole memory and on one without
its gold passages.

    python bench/confidence.py QUESTIONS.json WORKSPACES.jsonl --memory URL [--strategy fusion] [--keep FILE]

The memory holds the workspaces; the gold passages of a question are forgotten by `forget`, the question is
asked with its gold plan, and they are loaded again. Fitted is the chance that the gold answer stands in the
evidence. Printed, held out by ten folds over questions: the area under the ROC curve of telling the two
memories apart, and answers in the evidence from others; for thresholds the share of refused questions whose
gold answer stands in the evidence, and of refused questions without their passages; and how often the
answer stands in the evidence at which confidence.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import rankdata

from gsw_graph import Memory
from gsw_graph.ask.answer import chains as confidence
from gsw_graph.ask.retrieve.strategies import STRATEGIES
from gsw_graph.model.results import Answer


def roc(scores: np.ndarray, there: np.ndarray) -> float:
    ranks = rankdata(scores)
    positive, negative = there.sum(), (~there).sum()
    return float((ranks[there].sum() - positive * (positive + 1) / 2) / (positive * negative))


def gold_in_evidence(result: Answer, question: dict[str, Any]) -> bool:
    wanted = [a.casefold() for a in [question["answer"], *question.get("answer_aliases", [])]]
    evidence = " ".join(
        " ".join([hop.qa.question, *hop.qa.answers]) for chain in result.chains for hop in chain.hops
    ).casefold()
    return any(w in evidence for w in wanted)


def fit(features: np.ndarray, there: np.ndarray, penalty: float = 0.001) -> tuple[np.ndarray, float]:
    sign = np.where(there, 1.0, -1.0)

    def loss(w: np.ndarray) -> float:
        return float(
            np.mean(np.logaddexp(0, -sign * (features @ w[:-1] - w[-1]))) + penalty * (w[:-1] ** 2).sum()
        )

    found = minimize(loss, np.zeros(features.shape[1] + 1)).x
    return found[:-1], float(found[-1])


def ask(memory: Memory, question: dict[str, Any], strategy: str) -> dict[str, Any]:
    result = memory.ask(
        question["question"],
        strategy=strategy,
        plan=question["question_decomposition"],
        llm=False,
        keep=False,
    )
    return {
        "features": confidence.features([hop.score for hop in result.chains[0].hops], result.chains[0].score)
        if result.chains
        else [0.0] * len(confidence.FEATURES),
        "evidence": gold_in_evidence(result, question),
    }


def gather(
    memory: Memory, questions: list[dict[str, Any]], workspaces: Path, strategy: str
) -> list[dict[str, Any]]:
    lines = {
        f"{record['title']}\n{record['text']}": line
        for line in workspaces.read_text("utf-8").splitlines()
        for record in [json.loads(line)]
    }
    rows = []
    for number, question in enumerate(questions):
        gold = [
            lines[f"{p['title']}\n{p['paragraph_text']}"]
            for p in question["paragraphs"]
            if p["is_supporting"]
        ]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "gold.jsonl"
            file.write_text("\n".join(gold) + "\n", "utf-8")
            rows.append({"question": number, "there": True, **ask(memory, question, strategy)})
            try:
                memory.forget(str(file))
                rows.append({"question": number, "there": False, **ask(memory, question, strategy)})
            finally:  # the memory is the user's
                memory.load(str(file))
        print(number, end=" ", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("workspaces", type=Path)
    parser.add_argument("--memory", required=True)
    parser.add_argument(
        "--strategy",
        choices=[one.name for one in STRATEGIES.values() if one.confidence],
        default="ricr",
        help="whose chains",
    )
    parser.add_argument("--keep", type=Path, help="keep what was asked in this file, or read it from there")
    arguments = parser.parse_args()
    questions = json.loads(arguments.questions.read_text("utf-8"))
    if arguments.keep and arguments.keep.exists():
        rows = json.loads(arguments.keep.read_text("utf-8"))
    else:
        with Memory.open(arguments.memory) as memory:
            rows = gather(memory, questions, arguments.workspaces, arguments.strategy)
        if arguments.keep:
            arguments.keep.write_text(json.dumps(rows), "utf-8")
    features = np.array([row["features"] for row in rows])
    there = np.array([row["there"] for row in rows])
    number = np.array([row["question"] for row in rows])
    evidence = np.array([row["evidence"] for row in rows]) & there
    print()
    for name, column in zip(confidence.FEATURES, features.T, strict=True):
        print(f"{name:12s} alone: {roc(column, there):.3f}")
    folds = np.random.default_rng(0).permutation(len(questions)) % 10
    held = np.empty(len(rows))
    for fold in range(10):
        out = folds[number] == fold
        weights, bias = fit(features[~out], evidence[~out])
        held[out] = 1 / (1 + np.exp(bias - features[out] @ weights))
    print(
        f"held out: area under the curve {roc(held, there):.3f}, of the answer in the evidence "
        f"{roc(held, evidence):.3f}"
    )
    weights, bias = fit(features, evidence)
    print(
        f"fitted on all: WEIGHTS {dict(zip(confidence.FEATURES, weights.round(3).tolist(), strict=True))} "
        f"BIAS {bias:.3f}"
    )
    for threshold in np.arange(0.1, 0.65, 0.05):
        print(
            f"below {threshold:.2f} refused: {np.mean(held[evidence] < threshold):.3f} of those with the "
            "answer in the evidence, "
            f"{np.mean(held[~there] < threshold):.3f} of those without their passages"
        )
    for low, high in ((0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01)):
        inside = (held >= low) & (held < high)
        share = evidence[inside].mean() if inside.any() else 0
        print(
            f"confidence {low:.2f} to {high:.2f}: the answer stands in the evidence for {share:.2f} of "
            f"{inside.sum()}"
        )


if __name__ == "__main__":
    main()
