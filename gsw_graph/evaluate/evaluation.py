"""The result of an evaluation: figures by strategy, differences between strategies, every question's own;
several joined, and two compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.evaluate.journal import Outcome
from gsw_graph.evaluate.metrics import METRICS, ScoredOutcome, interval, mean, paired, ranked_values, spread
from gsw_graph.model.results import Result

FILE = "results.json"
_LISTED = ("key", "question", "answers", "answerable", "hops", "type", "scope")  # of a question
ALL_PAIRS = 4  # strategies of which every two are compared; of more, each with the first
_HINT = "gswgraph eval QUESTIONS --out DIR writes them"
_SAME = ("plans", "plans_sha256", "k", "answer", "llm", "protocol", "memory", "versions")
# Settings that are compared by another name, or without effect.
_IGNORED = ("memory", "llm", "cache_dir", "concurrency")
Figures: TypeAlias = dict[str, Any]
Scored: TypeAlias = Sequence[ScoredOutcome]
Values: TypeAlias = Mapping[str, float]
"""Of METRICS for one question."""


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

    settings: Figures
    strategies: dict[str, Figures]
    differences: list[Figures]
    questions: list[Figures]
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
    differences: list[Figures]


def assemble(
    settings: Figures, scored: Mapping[str, Scored], unread: Iterable[tuple[str, str]] = ()
) -> Evaluation:
    """Sum up the rows of a run, which do not depend on the order they came in.

    Args:
        settings: As of `Evaluation`.
        scored: By strategy the outcomes, in the order of the questions.
        unread: Places of records that are no questions, and why.
    """
    names = list(scored)
    pairs = list(combinations(names, 2))
    if len(names) > ALL_PAIRS:
        pairs = [(names[0], name) for name in names[1:]]
    values = {name: [outcome.values for outcome in outcomes] for name, outcomes in scored.items()}
    compared: list[Figures] = []
    for first, second in pairs:
        compared += differences(first, values[first], second, values[second])
    return Evaluation(
        settings,
        {name: summarise(outcomes) for name, outcomes in scored.items()},
        compared,
        [_listed(names, outcomes) for outcomes in zip(*scored.values(), strict=True)],
        [
            {"question": key, "strategy": name, "reason": reason}
            for key, name, reason in _failures(scored, unread)
        ],
    )


def _failures(
    scored: Mapping[str, Scored], unread: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str, str]]:
    """Yield question, strategy and reason of each failure, those of the judge last."""
    for place, reason in unread:
        yield place, "", reason
    for name, outcomes in scored.items():
        for outcome in outcomes:
            if problem := outcome.row.error or outcome.row.note:
                yield outcome.row.key, name, problem
    for name, outcomes in scored.items():
        for outcome in outcomes:
            verdict = outcome.judgement
            if verdict and verdict.error:
                yield verdict.key, name, f"{verdict.judge} judged nothing: {verdict.error}"


def _listed(names: Sequence[str], outcomes: Scored) -> Figures:
    """Return a question with what every strategy returned for it."""
    question = outcomes[0].question
    values = asdict(question)
    listed: Figures = {name: values[name] for name in _LISTED}
    listed["answers"] = list(question.answers)
    listed["gold"] = len(question.gold)
    listed["strategies"] = {}
    for name, outcome in zip(names, outcomes, strict=True):
        listed["strategies"][name] = outcome.to_dict()
    return listed


def summarise(scored: Scored) -> Figures:
    """Return the figures of all questions, `intervals` of them, and under `by_hops` and `by_type` those of
    the questions of so many hops and of a type (`?`: not known)."""
    figures = _figures(scored)
    figures["intervals"] = {}
    for metric in METRICS:
        if limits := interval(_values(scored, metric)):
            figures["intervals"][metric] = limits
    figures["by_hops"] = _figures_by(scored, "hops")
    figures["by_type"] = _figures_by(scored, "type")
    return figures


def _figures_by(scored: Scored, field: str) -> dict[str, Figures]:
    groups: dict[Any, list[ScoredOutcome]] = {}
    for outcome in scored:
        groups.setdefault(getattr(outcome.question, field), []).append(outcome)
    known = sorted(value for value in groups if value)
    unknown = [value for value in groups if not value]
    return {str(value or "?"): _figures(groups[value]) for value in known + unknown}


def differences(
    first: str, first_values: Iterable[Values], second: str, second_values: Iterable[Values]
) -> list[Figures]:
    """Return by metric the paired difference of two strategies on the questions for which both have it."""
    both = list(zip(first_values, second_values, strict=True))
    rows = []
    for metric in METRICS:
        pairs = [(a[metric], b[metric]) for a, b in both if metric in a and metric in b]
        if pairs:
            names = {"first": first, "second": second, "metric": metric}
            rows.append(names | paired(*zip(*pairs, strict=True)))
    return rows


def load(path: str | Path) -> Evaluation:
    """Load an evaluation from its `results.json`, or the folder that holds it; also one of another version.
    InputError: it cannot be read, or is none."""
    file = Path(path)
    if file.is_dir():
        file /= FILE
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
    a = first if isinstance(first, Evaluation) else load(first)
    b = second if isinstance(second, Evaluation) else load(second)
    names = [(name, name) for name in a.strategies if name in b.strategies]
    if not names and len(a.strategies) == len(b.strategies) == 1:
        names = list(zip(a.strategies, b.strategies, strict=True))
    others = {_identity(question): question for question in b.questions}
    shared = [question for question in a.questions if _identity(question) in others]
    if not names or not shared:
        noun = "question" if names else "strategy"
        raise InputError(
            f"the evaluations have no {noun} in common",
            hint=f"The first has {', '.join(a.strategies)}, the second {', '.join(b.strategies)}",
        )
    rows: list[Figures] = []
    for name, other in names:
        first_values = [_stored_values(question, name, a) for question in shared]
        second_values = [_stored_values(others[_identity(question)], other, b) for question in shared]
        rows += differences(name, first_values, other, second_values)
    was, now = _circumstances(a), _circumstances(b)
    changed = {}
    for setting in was | now:
        if was.get(setting) != now.get(setting):
            changed[setting] = [was.get(setting), now.get(setting)]
    if names[0][0] != names[0][1]:
        changed["strategy"] = list(names[0])
    number = len(shared)
    return Comparison(number, len(a.questions) - number, len(b.questions) - number, changed, rows)


def _identity(question: Figures) -> tuple[str, str]:
    return question["key"], question["question"]


def _stored_values(question: Figures, strategy: str, evaluation: Evaluation) -> Values:
    """Return the METRICS of a strategy for a question, from the results."""
    row = question["strategies"][strategy]
    values = {metric: row[metric] for metric in METRICS if row.get(metric) is not None}
    if question["answerable"] and question["gold"]:
        values |= ranked_values(row["ranks"], evaluation.settings["k"])
    return values


def _values(scored: Scored, metric: str) -> list[float]:
    return [outcome.values[metric] for outcome in scored if metric in outcome.values]


def _figures(scored: Scored) -> Figures:
    """Return n, with_gold (questions that recall is of); figures of passages by k; those of answers (None
    if nothing is answered or judged); abstention; ms; tokens and dollars; economy; plans; failed (could
    not be asked); silent (the model gave no plan or no answer); cached (replies came from the cache)."""
    figures: Figures = {"n": len(scored), "with_gold": len(_values(scored, "recall@1"))}
    for metric in METRICS[:-1]:
        name, has_k, k = metric.partition("@")
        value = mean(_values(scored, metric))
        if not has_k:
            figures[name] = value
            continue
        by_k = figures.setdefault(name, {})
        if value is not None:
            by_k[k] = value
    rows = [outcome.row for outcome in scored]
    dollars = [row.dollars for row in rows if row.dollars is not None]
    plans = Counter(row.plan_source or "none" for row in rows if not row.error)
    figures["abstention"] = _abstention(scored)
    figures["ms"] = {**spread(_values(scored, "ms")), "stages": _stages(rows)}
    figures["tokens"] = _tokens(scored)
    figures["dollars"] = sum(dollars) if dollars else None
    figures["economy"] = economy(scored)
    figures["plans"] = dict(sorted(plans.items()))
    figures["failed"] = sum(row.error is not None for row in rows)
    figures["silent"] = sum(row.note is not None for row in rows)
    figures["cached"] = sum(row.cached for row in rows)
    return figures


def _abstention(scored: Scored) -> Figures | None:
    """Return how many questions are answerable and not, and the shares of them that were answered, and that
    were abstained from. None if nothing is answered."""
    if not any(outcome.answers for outcome in scored):
        return None
    answered = [outcome.row.answer is not None for outcome in scored if outcome.question.answerable]
    abstained = [outcome.row.abstained for outcome in scored if not outcome.question.answerable]
    return {
        "answerable": len(answered),
        "answered": mean(answered),
        "unanswerable": len(abstained),
        "abstained": mean(abstained),
    }


def _stages(rows: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Return milliseconds by stage; stages in which nothing passed are left out."""
    timed = [row.seconds for row in rows if not row.error and row.seconds]
    stages = {}
    for name in dict.fromkeys(name for seconds in timed for name in seconds):
        milliseconds = [1000 * seconds.get(name, 0.0) for seconds in timed]
        if name != "total" and any(milliseconds):
            stages[name] = spread(milliseconds)
    return stages


def _tokens(scored: Scored) -> Figures:
    """Return means a question by kind, see `Outcome`, and `total`, in and out of all questions."""
    sums: Counter[str] = Counter()
    for outcome in scored:
        sums.update(outcome.row.tokens)
    tokens: Figures = {name: number / len(scored) for name, number in sums.items()}
    tokens["total"] = sum(outcome.tokens for outcome in scored)
    return tokens


def economy(scored: Scored) -> Figures | None:
    """Return GRASP's success economy, tokens for a right answer weighted by hops: sum of d tokens_d over
    sum of d right_d, d the hops (1 if not known).

    `value`, and `by_hops` tokens_d over right_d; None if nothing is right, all None if nothing is answered.
    Less is better.
    """
    if not any(outcome.answers for outcome in scored):
        return None
    tokens: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for outcome in scored:
        hops = outcome.question.hops or 1
        tokens[hops] += outcome.tokens
        right[hops] += outcome.correct
    spent = sum(hops * number for hops, number in tokens.items())
    earned = sum(hops * number for hops, number in right.items())
    by_hops = {str(hops): tokens[hops] / right[hops] if right[hops] else None for hops in sorted(tokens)}
    return {"value": spent / earned if earned else None, "by_hops": by_hops}


def _circumstances(evaluation: Evaluation) -> Figures:
    """Return what two evaluations must have in common to differ by their strategies alone."""
    settings = evaluation.settings
    judge = settings.get("judge") or {}
    circumstances = {"questions": settings["questions"]["sha256"], "judge": judge.get("model")}
    for name in _SAME:
        circumstances[name] = settings.get(name)
    for name, value in settings["config"].items():
        if name not in _IGNORED:
            circumstances[f"config.{name}"] = value
    return circumstances
