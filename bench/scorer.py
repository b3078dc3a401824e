"""Fits the weights of retrieve/chains/pair_score.py and says honestly what they are worth: "held out" figures
come from weights fitted without the question.

    python bench/scorer.py QUESTIONS.json --memory URL [--strategy fusion] [--folds 5] [--penalty 0.0005]

QUESTIONS in the shape of MuSiQue with gold decompositions; the memory holds the workspaces of their passages.
Gold plans are used throughout: this measures the choice of pairs and chains, not the planning. Each
sub-question is asked with the true answers of the steps before it; a pair is right if it stands in the
gold passage and holds the gold answer. The weights are those of a softmax over the candidates of a
sub-question, then put on a logistic scale. They are fitted on the candidates of `ricr`, and `--strategy`
says whose chains are judged with them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from gsw_graph import Memory
from gsw_graph.ask.options import AskOptions
from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve import pair_score
from gsw_graph.ask.retrieve.qa_chains import Candidates, CandidateSearch
from gsw_graph.ask.retrieve.recipes import ChainRecipe
from gsw_graph.store.reader import Reader

COLUMNS = ("recall@5", "answer first", "in a chain", "in the evidence")


def full_text(title: str, text: str) -> str:
    return f"{title}\n{text}"


class Recorder(CandidateSearch):
    """Keeps the features of the candidates of one question instead of scoring them."""

    def _find(self, question: str, asked: Sequence[pair_score.ConcreteQuestion]) -> Candidates:
        (one,), vectors = asked, self._vectors(question, asked)
        found = self._hop(asked, vectors, {})
        self.pairs = [pair for pair, _ in found.candidates[0]]
        given = vectors[one.text], vectors[question], vectors[one.relation]
        self.features = pair_score.features(one, self.pairs, found, *given) if self.pairs else None
        return [[]]


def gather(memory: Memory, questions: list[dict[str, Any]]) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """For each sub-question: its question's number, features (candidates, 8), and which of them are right."""
    rows = []
    texts: dict[str, str] = {}
    state = memory._ready()
    assert state is not None  # it holds the workspaces
    for number, question in enumerate(questions):
        plan = parse(question["question_decomposition"])
        answers: dict[int, str] = {}
        for step, gold in zip(plan.steps, question["question_decomposition"], strict=True):
            find = Recorder(memory._context(AskOptions()), ChainRecipe())
            find(
                question["question"],
                [pair_score.concrete(step.question, {parent: answers[parent] for parent in step.parents})],
            )
            answers[step.id] = gold["answer"]
            paragraph = next(p for p in question["paragraphs"] if p["idx"] == gold["paragraph_support_idx"])
            new = [pair.passage for pair in find.pairs if pair.passage not in texts]
            texts.update(
                {
                    p.id: full_text(p.title, p.text)
                    for p in Reader(memory._connection).passages(new, [0.0] * len(new))
                }
                if new
                else {}
            )
            wanted = full_text(paragraph["title"], paragraph["paragraph_text"])
            right = np.array(
                [
                    texts[pair.passage] == wanted
                    and gold["answer"].casefold() in " | ".join(pair.answers).casefold()
                    for pair in find.pairs
                ],
                dtype=bool,
            )
            if find.features is not None:
                rows.append((number, find.features.astype(np.float64), right))
    return rows


def fit(rows: list[tuple[int, np.ndarray, np.ndarray]], penalty: float) -> tuple[np.ndarray, float]:
    """Weights and bias: a softmax with a penalty on the squares of the weights, then scale and bias of a
    logistic curve through all candidates."""
    useful = [(features, right) for _, features, right in rows if right.any()]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = 0.0, np.zeros_like(weights)
        for features, right in useful:
            logits = features @ weights
            chances = np.exp(logits - logits.max())
            hit = chances * right
            total -= np.log(hit.sum() / chances.sum())
            slope -= hit @ features / hit.sum() - chances @ features / chances.sum()
        return total / len(rows) + penalty * (weights**2).sum(), slope / len(rows) + 2 * penalty * weights

    weights = minimize(loss, np.zeros(len(pair_score.FEATURES)), jac=True, method="L-BFGS-B").x
    logits = np.concatenate([features @ weights for _, features, _ in rows])
    right = np.concatenate([right for _, _, right in rows])

    def off(curve: np.ndarray) -> float:
        scale, bias = curve
        return float(np.mean(np.logaddexp(0, np.where(right, -1, 1) * (scale * logits - bias))))

    scale, bias = minimize(off, [1.0, 0.0]).x
    return weights * scale, float(bias)


def hits(rows: list[tuple[int, np.ndarray, np.ndarray]], weights: np.ndarray) -> np.ndarray:
    """(sub-questions, 3): the right pair is first, among 5, among 15."""
    found = []
    for _, features, right in rows:
        order = np.argsort(-(features @ weights), kind="stable")
        found.append([bool(right[order[:k]].any()) for k in (1, 5, 15)])
    return np.array(found, dtype=float)


def judge(memory: Memory, question: dict[str, Any], strategy: str) -> list[float]:
    """One question asked with its gold plan: the columns."""
    result = memory.ask(
        question["question"],
        strategy=strategy,
        plan=question["question_decomposition"],
        k=10,
        keep=False,
        llm=False,
    )
    gold = {full_text(p["title"], p["paragraph_text"]) for p in question["paragraphs"] if p["is_supporting"]}
    wanted = [a.casefold() for a in [question["answer"], *question.get("answer_aliases", [])]]
    answers = [chain.hops[-1].answer.casefold() for chain in result.chains]
    evidence = " ".join(
        " ".join([hop.qa.question, *hop.qa.answers]) for chain in result.chains for hop in chain.hops
    ).casefold()
    return [
        len({full_text(p.title, p.text) for p in result.passages[:5]} & gold) / len(gold),
        float(any(w in a for w in wanted for a in answers[:1])),
        float(any(w in a for w in wanted for a in answers)),
        float(any(w in evidence for w in wanted)),
    ]


def use(weights: np.ndarray, bias: float) -> None:
    pair_score.WEIGHTS, pair_score.BIAS = weights, bias


def report(name: str, rows: np.ndarray) -> None:
    print(
        f"{name:22s}",
        "  ".join(f"{column} {value:.3f}" for column, value in zip(COLUMNS, rows.mean(axis=0), strict=True)),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--memory", required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--penalty", type=float, default=0.0005)
    parser.add_argument("--strategy", choices=("ricr", "fusion"), default="ricr", help="whose chains")
    arguments = parser.parse_args()
    questions = json.loads(arguments.questions.read_text("utf-8"))
    strategy = arguments.strategy
    with Memory.open(arguments.memory) as memory:
        in_use = pair_score.WEIGHTS, pair_score.BIAS
        report("in use", np.array([judge(memory, question, strategy) for question in questions]))
        rows = gather(memory, questions)
        print(
            f"{len(rows)} sub-questions, the right pair among the candidates of "
            f"{np.mean([right.any() for _, _, right in rows]):.3f}"
        )
        order = np.random.default_rng(0).permutation(len(questions))
        held, pairs = [], []
        for fold in range(arguments.folds):
            out = set(order[fold :: arguments.folds].tolist())
            weights, bias = fit([row for row in rows if row[0] not in out], arguments.penalty)
            use(weights, bias)
            held += [judge(memory, questions[number], strategy) for number in sorted(out)]
            pairs.append(hits([row for row in rows if row[0] in out], weights))
        report("held out", np.array(held))
        print(
            "held out: the right pair first {:.3f}, among 5 {:.3f}, among 15 {:.3f}".format(
                *np.concatenate(pairs).mean(axis=0)
            )
        )
        weights, bias = fit(rows, arguments.penalty)
        use(weights, bias)
        report("fitted on all", np.array([judge(memory, question, strategy) for question in questions]))
        print(
            "WEIGHTS",
            dict(zip(pair_score.FEATURES, weights.round(2).tolist(), strict=True)),
            "BIAS",
            round(bias, 2),
        )
        use(*in_use)


if __name__ == "__main__":
    main()
