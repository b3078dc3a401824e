"""Settings chosen on some questions and measured on others: what a choice is worth on questions it has not
seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data.questions import QuestionSet, read_questions
from gsw_graph.evaluate.figures.bootstrap import SEED, interval, paired
from gsw_graph.evaluate.figures.compare import scored
from gsw_graph.evaluate.figures.scores import JUDGED, METRICS
from gsw_graph.evaluate.report.tables import notes
from gsw_graph.evaluate.run import K, evaluate
from gsw_graph.evaluate.settings import Value, current, known
from gsw_graph.evaluate.variants import Variant
from gsw_graph.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.memory import Memory

FOLDS = 5
REPEATS = 20


@dataclass(frozen=True)
class Tuning(Result):
    """What choosing among settings is worth.

    held_out: the mean of the metric on questions that the choice did not see, over all splits, with its 95 %
    interval over questions. usual: the same for the settings as they stand; gain: held_out minus usual,
    paired. best: the settings that are best on all questions; fitted: their figure there, which flatters, as
    they were chosen by it. tried: every combination with its figure on all questions and the share of the
    splits that chose it. settings, failures: of `Evaluation`; notes: what a reader must know beside the
    figures.
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
    folds: int = FOLDS,
    repeats: int = REPEATS,
    **options: Any,
) -> Tuning:
    """Ask with every combination of a grid {setting: values} and cross-validate the choice by `metric`.
    `options` are those of `evaluate`.

    Settings are named as in `settings`. Raises InputError where one does not exist, the metric is none, or
    too few questions have it.
    """
    known_metrics = [name for name in METRICS if name not in (*JUDGED, "ms")]
    if metric not in known_metrics:
        raise InputError(
            f"there is no metric {metric!r} to tune for", hint=f"Use one of {', '.join(known_metrics)}"
        )
    if not isinstance(questions, QuestionSet):
        questions = read_questions(questions)
    _check_askable(memory, questions, strategy, metric, folds, options)
    usual = {name: current(strategy, name) for name in grid}
    combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    combinations = [usual, *(one for one in combinations if one != usual)]
    variants = [Variant(strategy, one) for one in combinations]
    found = evaluate(memory, questions, variants, **options)
    rows = {
        variant.name: [scored(question, variant.name, found).get(metric) for question in found.questions]
        for variant in variants
    }
    asked = [
        number
        for number in range(len(found.questions))
        if all(row[number] is not None for row in rows.values())
    ]
    table = np.array([[row[number] for number in asked] for row in rows.values()], dtype=np.float64)
    done = cross_validate(table, combinations, metric=metric, folds=folds, repeats=repeats)
    return replace(done, settings=found.settings, failures=found.failures, notes=notes(found))


def _check_askable(
    memory: Memory, questions: QuestionSet, strategy: str, metric: str, folds: int, options: Mapping[str, Any]
) -> None:
    """InputError for what would be seen only when all is asked: metrics that nothing will have, and too
    few questions."""
    _, _, at = metric.partition("@")
    if at and int(at) > options.get("k", K):
        raise InputError(f"there is no {metric} among {options['k']} passages", hint=f"Ask for more: -k {at}")
    model = options.get("llm", True) and memory.settings.llm
    of = known(strategy)
    planned = "pairs" in of.needs or not of.follows_plan or options.get("plans") not in (None, "none")
    if not at and not (options.get("answer", True) and (model or ("answer" in of.gives and planned))):
        raise InputError(
            f"nothing is answered, so there is no {metric}",
            hint="Tune for recall@5, or a strategy that answers: ricr, fusion with plans",
        )
    if (
        number := sum(one.answerable and bool(one.gold if at else one.answers) for one in questions.questions)
    ) < folds:
        raise InputError(
            f"{number} questions that have {metric} cannot be dealt into {folds} folds",
            hint="Give more questions, or fewer folds",
        )


def cross_validate(
    table: NDArray[np.float64],
    combinations: Sequence[dict[str, Value]],
    *,
    metric: str,
    folds: int,
    repeats: int,
) -> Tuning:
    """Values (combinations, questions), the first combination being the usual one: `repeats` times the
    questions are dealt into `folds`, and those of each fold are scored with what is best on the others. Of
    equals the first is chosen, so that nothing changes for nothing. InputError: too few questions."""
    number = table.shape[1] if table.ndim == 2 else 0
    if not 2 <= folds <= number or repeats < 1:
        hint = "Give more questions that have the metric, or fewer folds"
        raise InputError(f"{number} questions cannot be dealt into {folds} folds {repeats} times", hint=hint)
    source = np.random.default_rng(SEED)
    held_out = np.zeros(number)
    chosen = np.zeros(len(table))
    for _ in range(repeats):
        fold = source.permutation(np.arange(number) % folds)
        for part in range(folds):
            best = int(
                np.argmax(table[:, fold != part].mean(axis=1).round(12))
            )  # sums in another order are no difference
            chosen[best] += 1
            held_out[fold == part] += table[best, fold == part]
    held_out /= repeats
    means = table.mean(axis=1)
    best = int(np.argmax(means.round(12)))
    limits, gain = interval(held_out.tolist()), paired(table[0].tolist(), held_out.tolist())
    assert limits is not None and gain is not None  # noqa: S101, PT018 - there are questions
    tried = [
        {
            "settings": one,
            "mean": float(mean),
            "interval": list(interval(values.tolist()) or ()),
            "chosen": float(share),
        }
        for one, mean, values, share in zip(
            combinations, means, table, chosen / (folds * repeats), strict=True
        )
    ]
    return Tuning(
        metric=metric,
        questions=number,
        folds=folds,
        repeats=repeats,
        held_out=float(held_out.mean()),
        held_out_interval=list(limits),
        usual=float(means[0]),
        gain=gain.to_dict(),
        best=combinations[best],
        fitted=float(means[best]),
        tried=tried,
    )
