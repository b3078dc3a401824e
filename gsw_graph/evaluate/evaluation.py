"""The result of an evaluation: figures by strategy, differences between strategies, and every question's
own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data.questions import QuestionSet
from gsw_graph.evaluate.figures.bootstrap import paired
from gsw_graph.evaluate.figures.scores import METRICS, ScoredOutcome, answers
from gsw_graph.evaluate.figures.summary import summary
from gsw_graph.evaluate.journal import Judgement, Outcome
from gsw_graph.results import Result

FILE = "results.json"
ALL_PAIRS = 4  # strategies of which every two are compared; of more, each with the first

_WRITTEN = "gswgraph eval QUESTIONS --out DIR writes them"


@dataclass(frozen=True)
class Evaluation(Result):
    """What an evaluation found; the attributes are the keys of its JSON.

    settings: all that was set, with the memory, the versions and the questions' file. strategies: figures by
    name, see `summary.summary`; `by_hops` has the same for the questions of so many hops. differences: for
    two strategies and a metric the second minus the first, on the same questions. questions: each with what
    every strategy found. failures: records that are no questions, questions that could not be asked, and
    those for which the language model gave no plan or no answer, or the judge no verdict.
    """

    settings: dict[str, Any]
    strategies: dict[str, dict[str, Any]]
    differences: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    failures: list[dict[str, str]]


def put_together(
    settings: dict[str, Any],
    questions: QuestionSet,
    names: Sequence[str],
    rows: Mapping[tuple[str, str], Outcome],
    judged: Mapping[tuple[str, str], Judgement] | None = None,
) -> Evaluation:
    """Sum up the rows of a run, in the order of the questions and strategies, whatever order they came in.
    judged: what a judge said of them, None where there was none."""
    scored: dict[str, list[ScoredOutcome]] = {}
    for name in names:
        mine = [rows[name, question.key] for question in questions.questions]
        said = settings["answer"] and answers(mine)
        scored[name] = [
            ScoredOutcome(
                question,
                row,
                settings["k"],
                said,
                judged is not None,
                (judged or {}).get((name, question.key)),
            )
            for question, row in zip(questions.questions, mine, strict=True)
        ]
    failures = [
        {"question": failure.source, "strategy": "", "reason": failure.reason}
        for failure in questions.failures
    ]
    wrong = [
        (name, one, reason)
        for name in names
        for one in scored[name]
        if (reason := one.row.error or one.row.note)
    ]
    failures += [
        {"question": one.question.key, "strategy": name, "reason": reason} for name, one, reason in wrong
    ]
    failures += [
        {"question": one.key, "strategy": one.variant, "reason": f"{one.judge} judged nothing: {one.error}"}
        for name in names
        for question in questions.questions
        if (one := (judged or {}).get((name, question.key))) is not None and one.error
    ]
    listed = []
    for number, question in enumerate(questions.questions):
        found = {name: scored[name][number].to_dict() for name in names}
        listed.append(
            {
                "key": question.key,
                "question": question.question,
                "answers": list(question.answers),
                "answerable": question.answerable,
                "hops": question.hops,
                "gold": len(question.gold),
                "strategies": found,
            }
        )
    pairs = (
        list(combinations(names, 2)) if len(names) <= ALL_PAIRS else [(names[0], name) for name in names[1:]]
    )
    differences = [
        one for first, second in pairs for one in differing(first, scored[first], second, scored[second])
    ]
    return Evaluation(
        settings, {name: summary(scored[name]) for name in names}, differences, listed, failures
    )


def differing(
    first: str, ones: Sequence[ScoredOutcome], second: str, others: Sequence[ScoredOutcome]
) -> list[dict[str, Any]]:
    """By metric the paired difference of two strategies on the questions for which both have it."""
    found = []
    for metric in METRICS:
        pairs = [
            (a, b)
            for one, other in zip(ones, others, strict=True)
            if (a := one.get(metric)) is not None and (b := other.get(metric)) is not None
        ]
        if pairs and (difference := paired([a for a, _ in pairs], [b for _, b in pairs])):
            found.append({"first": first, "second": second, "metric": metric, **difference.to_dict()})
    return found


def load(path: str | Path) -> Evaluation:
    """An evaluation from its `results.json`, or the folder that holds it. InputError: it cannot be read,
    or is none."""
    file = Path(path)
    file = file / FILE if file.is_dir() else file
    try:
        value = json.loads(file.read_bytes())
        return Evaluation(**{name: value[name] for name in Evaluation.__dataclass_fields__})
    except OSError as error:
        raise InputError(
            f"the results cannot be read ({error.strerror or error})", where=str(file), hint=_WRITTEN
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("these are no results of an evaluation", where=str(file), hint=_WRITTEN) from error
