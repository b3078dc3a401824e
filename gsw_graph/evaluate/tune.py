"""Choose settings on some questions and measure them on others: what a choice is worth on questions that it
has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import QuestionSet, read_questions
from gsw_graph.evaluate.evaluation import rescored
from gsw_graph.evaluate.metrics import JUDGED, METRICS, SEED, interval, paired
from gsw_graph.evaluate.report import notes
from gsw_graph.evaluate.run import K, evaluate
from gsw_graph.evaluate.variants import Value, Variant, current_value, find_strategy
from gsw_graph.model.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.memory import Memory


@dataclass(frozen=True)
class Tuning(Result):
    """What choosing among settings is worth.

    Attributes:
        held_out: The mean of the metric on questions that the choice did not see, over all splits.
        held_out_interval: Its 95 % interval over questions.
        usual: The same for the settings as they are.
        gain: held_out minus usual, paired.
        best: The settings that are best on all questions.
        fitted: Their figure there, which flatters, as they were chosen by it.
        tried: Every combination with its figure on all questions and the share of the splits that chose it.
        settings, failures: As of `Evaluation`.
        notes: What a reader must know beside the figures.
    """

    metric: str
    questions: int
    folds: int
    repeats: int
    held_out: float
    held_out_interval: list[float]
    usual: float
    gain: dict[str, Any]
    best: dict[str, Value]
    fitted: float
    tried: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


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
    if not isinstance(questions, QuestionSet):
        questions = read_questions(questions)
    _check(memory, questions, strategy, metric, folds, options)
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
    return replace(
        tuning, settings=evaluation.settings, failures=evaluation.failures, notes=notes(evaluation)
    )


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
    if not 2 <= folds <= number or repeats < 1:
        hint = "Give more questions that have the metric, or fewer folds"
        raise InputError(f"{number} questions cannot be dealt into {folds} folds {repeats} times", hint=hint)
    generator = np.random.default_rng(SEED)
    held_out, chosen = np.zeros(number), np.zeros(len(table))
    for _ in range(repeats):
        fold = generator.permutation(np.arange(number) % folds)
        for part in range(folds):
            # rounded: sums in another order are no difference
            best = int(np.argmax(table[:, fold != part].mean(axis=1).round(12)))
            chosen[best] += 1
            held_out[fold == part] += table[best, fold == part]
    held_out /= repeats
    means = table.mean(axis=1)
    best = int(np.argmax(means.round(12)))
    tried = [
        {
            "settings": settings,
            "mean": float(mean),
            "interval": interval(values.tolist()),
            "chosen": float(share),
        }
        for settings, mean, values, share in zip(
            combinations, means, table, chosen / (folds * repeats), strict=True
        )
    ]
    return Tuning(
        metric,
        number,
        folds,
        repeats,
        held_out=float(held_out.mean()),
        held_out_interval=interval(held_out.tolist()) or [],
        usual=float(means[0]),
        gain=paired(table[0].tolist(), held_out.tolist()) or {},
        best=combinations[best],
        fitted=float(means[best]),
        tried=tried,
    )


def _check(
    memory: Memory, questions: QuestionSet, strategy: str, metric: str, folds: int, options: Mapping[str, Any]
) -> None:
    """Raise InputError for what would be seen only when all is asked."""
    _, _, at = metric.partition("@")
    if at and int(at) > options.get("k", K):
        raise InputError(f"there is no {metric} among {options['k']} passages", hint=f"Ask for more: -k {at}")
    model = options.get("llm", True) and memory.settings.llm
    known = find_strategy(strategy)
    planned = "pairs" in known.needs or not known.follows_plan or options.get("plans") not in (None, "none")
    if not at and not (options.get("answer", True) and (model or ("answer" in known.gives and planned))):
        hint = "Tune for recall@5, or a strategy that answers: ricr, fusion with plans"
        raise InputError(f"nothing is answered, so there is no {metric}", hint=hint)
    number = sum(item.answerable and bool(item.gold if at else item.answers) for item in questions.questions)
    if number < folds:
        raise InputError(
            f"{number} questions that have {metric} cannot be dealt into {folds} folds",
            hint="Give more questions, or fewer folds",
        )
