"""The result of an evaluation: figures by strategy, differences between strategies, every question's own;
several joined, and two compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import Gold, Question
from gsw_graph.evaluate.journal import Judgement, Outcome, from_row
from gsw_graph.evaluate.metrics import METRICS, ScoredOutcome, interval, mean, paired, spread
from gsw_graph.model.results import Result

FILE = "results.json"
ALL_PAIRS = 4  # strategies of which every two are compared; of more, each with the first
_HINT = "gswgraph eval QUESTIONS --out DIR writes them"
_SAME = ("plans", "plans_sha256", "k", "answer", "llm", "protocol", "memory", "versions")
_IGNORED = (
    "memory",
    "llm",
    "cache_dir",
    "concurrency",
)  # of the configuration: compared by another name, or without effect


@dataclass(frozen=True)
class Evaluation(Result):
    """The result of an evaluation; the attributes are the keys of its JSON.

    Attributes:
        settings: All that was set, with the memory, the versions and the questions' file.
        strategies: Figures by name, see `summarise`.
        differences: For two strategies and a metric the second minus the first, on the same questions.
        questions: Each with what every strategy returned.
        failures: Records that are no questions, questions that could not be asked, and those for which the
            language model gave no plan or no answer, or the judge no verdict.
    """

    settings: dict[str, Any]
    strategies: dict[str, dict[str, Any]]
    differences: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    failures: list[dict[str, str]]


@dataclass(frozen=True)
class Comparison(Result):
    """How the second evaluation differs from the first.

    Attributes:
        questions: How many both asked.
        only_first, only_second: What one of them asked alone.
        settings: What was set otherwise, by name [first, second]: files by their hashes, `config.` before
            what the settings object has, `strategy` where each has one of its own.
        differences: By strategy and metric the second minus the first, with its 95 % interval.
    """

    questions: int
    only_first: int
    only_second: int
    settings: dict[str, list[Any]]
    differences: list[dict[str, Any]]


def assemble(
    settings: dict[str, Any], scored: dict[str, list[ScoredOutcome]], unread: Sequence[tuple[str, str]] = ()
) -> Evaluation:
    """Sum up the rows of a run, which do not depend on the order they came in.

    Args:
        settings: As of `Evaluation`.
        scored: By strategy the outcomes, in the order of the questions.
        unread: Places of records that are no questions, and why.
    """
    failed = [(place, "", reason) for place, reason in unread]
    failed += [
        (outcome.row.key, name, reason)
        for name, outcomes in scored.items()
        for outcome in outcomes
        if (reason := outcome.row.error or outcome.row.note)
    ]
    failed += [
        (verdict.key, name, f"{verdict.judge} judged nothing: {verdict.error}")
        for name, outcomes in scored.items()
        for outcome in outcomes
        if (verdict := outcome.judgement) and verdict.error
    ]
    names = list(scored)
    listed = [
        {
            "key": (question := outcomes[0].question).key,
            "question": question.question,
            "answers": list(question.answers),
            "answerable": question.answerable,
            "hops": question.hops,
            "type": question.type,
            "scope": question.scope,
            "gold": len(question.gold),
            "strategies": {name: outcome.to_dict() for name, outcome in zip(names, outcomes, strict=True)},
        }
        for outcomes in zip(*scored.values(), strict=True)
    ]
    all_pairs = len(names) <= ALL_PAIRS
    pairs = combinations(names, 2) if all_pairs else ((names[0], name) for name in names[1:])
    return Evaluation(
        settings,
        {name: summarise(outcomes) for name, outcomes in scored.items()},
        [row for a, b in pairs for row in differences(a, scored[a], b, scored[b])],
        listed,
        [{"question": key, "strategy": name, "reason": reason} for key, name, reason in failed],
    )


def summarise(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """Return the figures of all questions, `intervals` of them, and under `by_hops` and `by_type` those of
    the questions of so many hops and of a type (`?`: not known)."""
    intervals = {
        metric: limits for metric in METRICS if (limits := interval(_values(scored, metric))) is not None
    }
    return {
        **_figures(scored),
        "intervals": intervals,
        "by_hops": _figures_by(scored, "hops"),
        "by_type": _figures_by(scored, "type"),
    }


def _figures_by(scored: Sequence[ScoredOutcome], field: str) -> dict[str, dict[str, Any]]:
    values = {getattr(outcome.question, field) for outcome in scored}
    return {
        str(value or "?"): _figures([row for row in scored if getattr(row.question, field) == value])
        for value in sorted(values, key=lambda value: (not value, value))
    }


def differences(
    first: str, first_outcomes: Sequence[ScoredOutcome], second: str, second_outcomes: Sequence[ScoredOutcome]
) -> list[dict[str, Any]]:
    """Return by metric the paired difference of two strategies on the questions for which both have it."""
    rows = []
    for metric in METRICS:
        values = [
            (first_outcome.get(metric), second_outcome.get(metric))
            for first_outcome, second_outcome in zip(first_outcomes, second_outcomes, strict=True)
        ]
        both = [(a, b) for a, b in values if a is not None and b is not None]
        if both:
            difference = paired([a for a, _ in both], [b for _, b in both])
            rows.append({"first": first, "second": second, "metric": metric, **difference})
    return rows


def load(path: str | Path) -> Evaluation:
    """Load an evaluation from its `results.json`, or the folder that holds it; also one of another version.
    InputError: it cannot be read, or is none."""
    file = Path(path)
    file = file / FILE if file.is_dir() else file
    try:
        value = json.loads(file.read_bytes())
        return Evaluation(**{name: value[name] for name in Evaluation.__dataclass_fields__})
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"the results cannot be read ({reason})", where=str(file), hint=_HINT) from error
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("these are no results of an evaluation", where=str(file), hint=_HINT) from error


def compare(first: Evaluation | str | Path, second: Evaluation | str | Path) -> Comparison:
    """Compare two evaluations, or the files or folders that hold them: strategies of the same name, or the
    only one of each. InputError: they have no question or no strategy in common."""
    a, b = (item if isinstance(item, Evaluation) else load(item) for item in (first, second))
    names, shared = _in_common(a, b)
    rows = [
        row
        for name, other in names
        for row in differences(
            name,
            [rescored(question, name, a) for question, _ in shared],
            other,
            [rescored(question, other, b) for _, question in shared],
        )
    ]
    was, now = _circumstances(a), _circumstances(b)
    changed = {
        name: [was.get(name), now.get(name)] for name in {**was, **now} if was.get(name) != now.get(name)
    }
    if names[0][0] != names[0][1]:
        changed["strategy"] = list(names[0])
    alone = len(a.questions) - len(shared), len(b.questions) - len(shared)
    return Comparison(len(shared), *alone, changed, rows)


def _in_common(
    a: Evaluation, b: Evaluation
) -> tuple[list[tuple[str, str]], list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Return the strategies and the questions that two evaluations have in common, those of both."""
    names = [(name, name) for name in a.strategies if name in b.strategies]
    if not names and len(a.strategies) == len(b.strategies) == 1:
        names = list(zip(a.strategies, b.strategies, strict=True))
    others = {(question["key"], question["question"]): question for question in b.questions}
    shared = [
        (question, others[key])
        for question in a.questions
        if (key := (question["key"], question["question"])) in others
    ]
    if not names or not shared:
        noun = "question" if names else "strategy"
        raise InputError(
            f"the evaluations have no {noun} in common",
            hint=f"The first has {', '.join(a.strategies)}, the second {', '.join(b.strategies)}",
        )
    return names, shared


def rescored(question: dict[str, Any], strategy: str, evaluation: Evaluation) -> ScoredOutcome:
    """Return what a strategy returned for a question, from the results. Of its gold passages only the
    number is known."""
    row = question["strategies"][strategy]
    key = question["key"]
    restored = Question(
        key,
        question["question"],
        tuple(question["answers"]),
        tuple(Gold(source=str(number)) for number in range(question["gold"])),
        question["answerable"],
        hops=question["hops"],
        key=key,
        type=question.get("type", ""),
        scope=question.get("scope", ""),
    )
    judged = "lr1" in row
    verdict = from_row(Judgement, row, variant=strategy, key=key, judge="", error=None) if judged else None
    answers = evaluation.strategies[strategy]["abstention"] is not None
    outcome = from_row(Outcome, row, variant=strategy, key=key)
    return ScoredOutcome(restored, outcome, evaluation.settings["k"], answers, judged, verdict)


def _values(scored: Sequence[ScoredOutcome], metric: str) -> list[float]:
    return [value for outcome in scored if (value := outcome.get(metric)) is not None]


def _figures(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """Return n, with_gold (questions that recall is of); figures of passages by k; those of answers (None
    where nothing is answered or judged); abstention; ms; tokens and dollars; economy; plans; failed (could
    not be asked); silent (the model gave no plan or no answer); cached (replies came from the cache)."""
    figures: dict[str, Any] = {"n": len(scored), "with_gold": len(_values(scored, "recall@1"))}
    for metric in METRICS[:-1]:
        name, at, k = metric.partition("@")
        value = mean(_values(scored, metric))
        if not at:
            figures[name] = value
        elif figures.setdefault(name, {}) is not None and value is not None:
            figures[name][k] = value
    rows = [outcome.row for outcome in scored]
    dollars = [row.dollars for row in rows if row.dollars is not None]
    return {
        **figures,
        "abstention": _abstention(scored),
        "ms": {**spread(_values(scored, "ms")), "stages": _stages(rows)},
        "tokens": _tokens(scored),
        "dollars": sum(dollars) if dollars else None,
        "economy": economy(scored),
        "plans": dict(sorted(Counter(row.plan_source or "none" for row in rows if not row.error).items())),
        "failed": sum(row.error is not None for row in rows),
        "silent": sum(row.note is not None for row in rows),
        "cached": sum(row.cached for row in rows),
    }


def _abstention(scored: Sequence[ScoredOutcome]) -> dict[str, float | int | None] | None:
    """Return how many questions are answerable and not, and the shares of them that were answered, and that
    were abstained from. None where nothing is answered."""
    if not any(outcome.answers for outcome in scored):
        return None
    answered = [row.row.answer is not None for row in scored if row.question.answerable]
    abstained = [row.row.abstained for row in scored if not row.question.answerable]
    return {
        "answerable": len(answered),
        "answered": mean(answered),
        "unanswerable": len(abstained),
        "abstained": mean(abstained),
    }


def _stages(rows: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Return milliseconds by stage; stages in which nothing passed are left out."""
    timed = [row.seconds for row in rows if not row.error and row.seconds]
    names = dict.fromkeys(name for seconds in timed for name in seconds if name != "total")
    return {
        name: spread([1000 * seconds.get(name, 0.0) for seconds in timed])
        for name in names
        if any(seconds.get(name) for seconds in timed)
    }


def _tokens(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """Return means a question by kind, see `Outcome`, and `total`, in and out of all questions."""
    names = dict.fromkeys(name for outcome in scored for name in outcome.row.tokens)
    means = {name: mean([outcome.row.tokens.get(name, 0) for outcome in scored]) for name in names}
    return {**means, "total": sum(outcome.tokens for outcome in scored)}


def economy(scored: Sequence[ScoredOutcome]) -> dict[str, Any] | None:
    """Return GRASP's success economy, tokens for a right answer weighted by hops: sum of d tokens_d over
    sum of d right_d, d the hops (1 where not known).

    `value`, and `by_hops` tokens_d over right_d; None where nothing is right, all None where nothing is
    answered. Less is better.
    """
    if not any(outcome.answers for outcome in scored):
        return None
    rows = [(outcome.question.hops or 1, outcome.tokens, outcome.correct) for outcome in scored]
    weighted = sum(hops * right for hops, _, right in rows)
    value = sum(hops * tokens for hops, tokens, _ in rows) / weighted if weighted else None
    by_hops: dict[str, float | None] = {}
    for depth in sorted({hops for hops, _, _ in rows}):
        right = sum(right for hops, _, right in rows if hops == depth)
        tokens = sum(tokens for hops, tokens, _ in rows if hops == depth)
        by_hops[str(depth)] = tokens / right if right else None
    return {"value": value, "by_hops": by_hops}


def _circumstances(evaluation: Evaluation) -> dict[str, Any]:
    """Return what two evaluations must have in common to differ by their strategies alone."""
    settings = evaluation.settings
    return {
        "questions": settings["questions"]["sha256"],
        **{name: settings.get(name) for name in _SAME},
        "judge": (settings.get("judge") or {}).get("model"),
        **{f"config.{name}": value for name, value in settings["config"].items() if name not in _IGNORED},
    }
