"""Choose settings on some questions and measure them on others: what a choice is worth on questions that it
has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.ask.retrieve.variants import Value, Variant, current_value
from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import QuestionSet
from gsw_graph.evaluate.evaluation import rescored
from gsw_graph.evaluate.metrics import JUDGED, METRICS, SEED, interval, paired
from gsw_graph.evaluate.run import evaluate
from gsw_graph.memory import Memory
from gsw_graph.model.results import Result


@dataclass(frozen=True)
class Tuning(Result):
    """What choosing among settings is worth.

    Attributes:
        held_out: The mean of the metric on questions that the choice did not see, over all splits.
        held_out_interval: Its 95 % interval over questions.
        gain: held_out minus that of the settings as they are, paired.
        best: The settings that are best on all questions.
        tried: Every combination with its figure on all questions and the share of the splits that chose it;
            the first are the settings as they are. The figure of the best flatters: it was chosen by it.
        settings, failures: As of `Evaluation`.
    """

    metric: str
    questions: int
    folds: int
    repeats: int
    held_out: float
    held_out_interval: list[float]
    gain: dict[str, Any]
    best: dict[str, Value]
    tried: list[dict[str, Any]]
    settings: dict[str, Any]
    failures: list[dict[str, str]]


def tune(
    memory: Memory,
    questions: QuestionSet | str | Path,
    strategy: str,
    grid: Mapping[str, Sequence[Value]],
    *,
    metric: str = "recall@5",
    folds: int = 5,
    repeats: int = 20,
    **options: Any,
) -> Tuning:
    """Ask with every combination of a grid {setting: values} and cross-validate the choice by a metric.

    Args:
        folds: Parts that the questions are dealt into.
        repeats: How often they are dealt anew.
        options: Those of `evaluate`.

    Raises:
        InputError: A setting does not exist, the metric is none, or too few questions have it.
    """
    metrics = [name for name in METRICS if name not in (*JUDGED, "ms")]
    if metric not in metrics:
        hint = f"Use one of {', '.join(metrics)}"
        raise InputError(f"there is no metric {metric!r} to tune for", hint=hint)
    usual = {name: current_value(strategy, name) for name in grid}
    combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    combinations = [usual, *(each for each in combinations if each != usual)]
    variants = [Variant(strategy, each) for each in combinations]
    evaluation = evaluate(memory, questions, variants, **options)
    rows = [
        [rescored(question, variant.name, evaluation).get(metric) for question in evaluation.questions]
        for variant in variants
    ]
    columns = [values for values in zip(*rows, strict=True) if None not in values]
    table = np.array(columns, dtype=np.float64).reshape(-1, len(variants)).T
    tuning = cross_validate(table, combinations, metric=metric, folds=folds, repeats=repeats)
    return replace(tuning, settings=evaluation.settings, failures=evaluation.failures)


def cross_validate(
    table: NDArray[np.float64],
    combinations: Sequence[dict[str, Value]],
    *,
    metric: str,
    folds: int,
    repeats: int,
) -> Tuning:
    """Score the questions of each fold with what is best on the others. Of equals the first is chosen, so
    that nothing changes for nothing.

    Args:
        table: Values (combinations, questions), the first combination being the usual one.
        combinations: The settings of each row.

    Raises:
        InputError: Too few questions.
    """
    number = table.shape[1]
    if not 2 <= folds <= number:
        hint = "Give more questions that have the metric, or fewer folds"
        raise InputError(
            f"{number} questions that have {metric} cannot be dealt into {folds} folds", hint=hint
        )
    generator = np.random.default_rng(SEED)
    held_out, chosen = np.zeros(number), np.zeros(len(table))
    for _ in range(repeats):
        fold = generator.permutation(np.arange(number) % folds)
        for part in range(folds):
            best = _best(table[:, fold != part])
            chosen[best] += 1
            held_out[fold == part] += table[best, fold == part]
    held_out /= repeats
    tried = [
        {
            "settings": settings,
            "mean": float(values.mean()),
            "interval": interval(values.tolist()),
            "chosen": float(share),
        }
        for settings, values, share in zip(combinations, table, chosen / (folds * repeats), strict=True)
    ]
    return Tuning(
        metric,
        number,
        folds,
        repeats,
        held_out=float(held_out.mean()),
        held_out_interval=interval(held_out.tolist()) or [],
        gain=paired(table[0].tolist(), held_out.tolist()) or {},
        best=combinations[_best(table)],
        tried=tried,
        settings={},
        failures=[],
    )


def _best(table: NDArray[np.float64]) -> int:
    """Return the row with the highest mean, rounded: sums in another order are no difference."""
    return int(np.argmax(table.mean(axis=1).round(12)))
