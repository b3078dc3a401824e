"""The result of an evaluation: figures by strategy, differences between strategies, every question's own;
several joined, and two compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import Question, QuestionSet
from gsw_graph.evaluate.journal import Outcome, Verdicts
from gsw_graph.evaluate.metrics import (
    METRICS,
    answer_scores,
    interval,
    mean,
    paired,
    ranked_values,
    spread,
)
from gsw_graph.model.results import Result
from gsw_graph.values import Fields

FILE = "results.json"
_LISTED = ("key", "question", "answers", "answerable", "hops", "type", "scope")  # of a question
ALL_PAIRS = 4  # strategies of which every two are compared; of more, each with the first
_HINT = "gswgraph eval QUESTIONS --out DIR writes them"
_SAME = ("plans", "plans_sha256", "k", "answer", "llm", "protocol", "memory", "versions", "at_once")
# Settings that are compared by another name, or without effect.
_IGNORED = ("memory", "llm", "cache_dir", "concurrency")
Figures: TypeAlias = Fields
Values: TypeAlias = Mapping[str, float]
"""Of METRICS for one question."""


@dataclass(frozen=True)
class Evaluation(Result):
    """The result of an evaluation; the attributes are the keys of its JSON.

    Attributes:
        settings: All settings, with the memory, the versions and the file of questions.
        strategies: Figures by strategy, see `summarise`.
        differences: For two strategies and a metric the second minus the first, on the same questions.
        questions: Questions with the result of each strategy.
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
    """Hold the differences of a second evaluation from a first.

    Attributes:
        questions: Number of common questions.
        only_first, only_second: Questions of only one evaluation.
        settings: Different settings, by name [first, second]: files by their hashes, `config.` before what
            the settings object has, `strategy` if they have none of the same name.
        differences: By strategy and metric the second minus the first, with its 95 % interval.
    """

    questions: int
    only_first: int
    only_second: int
    settings: dict[str, list[Any]]
    differences: list[Figures]


class Scored(NamedTuple):
    """Hold a question and the result of a strategy, in the form of the results, and its METRICS."""

    question: Figures
    row: Figures
    values: Values


def assemble(
    settings: Figures,
    questions: QuestionSet,
    outcomes: Mapping[str, Sequence[Outcome]],
    verdicts: Verdicts | None = None,
) -> Evaluation:
    """Sum up the rows of a run, in any order.

    Args:
        settings: See `Evaluation`.
        questions: All questions of the run.
        outcomes: Outcomes by strategy, in the order of the questions.
        verdicts: Verdicts of a judge; None without a judge.
    """
    listed = [_listed(question) for question in questions.questions]
    share = settings.get("index_tokens", 0) / max(len(listed), 1)
    figures: dict[str, Figures] = {}
    scored: dict[str, list[Scored]] = {}
    for name, rows in outcomes.items():
        # A strategy answers if it did, or abstained though it retrieved something.
        answers = settings["answer"] and any(
            row.answer is not None or (row.abstained and row.passages) for row in rows
        )
        for question, entry, row in zip(questions.questions, listed, rows, strict=True):
            verdict = verdicts.get((name, question.key)) if verdicts else None
            judged = verdicts is not None
            scores = answer_scores(question, row, verdict, answers=answers, judged=judged)
            outcome = asdict(row) | scores
            del outcome["variant"], outcome["key"]
            entry["strategies"][name] = outcome
        scored[name] = _scored(listed, name, settings)
        figures[name] = summarise(scored[name], share, answers=answers)
    names = list(outcomes)
    pairs = list(combinations(names, 2))
    if len(names) > ALL_PAIRS:
        pairs = [(names[0], name) for name in names[1:]]
    compared: list[Figures] = []
    for first, second in pairs:
        compared += differences(scored[first], scored[second], first, second)
    failures = _failures(questions, outcomes, verdicts)
    return Evaluation(
        settings,
        figures,
        compared,
        listed,
        [{"question": key, "strategy": name, "reason": reason} for key, name, reason in failures],
    )


def _listed(question: Question) -> Figures:
    """Return a question as the results have it, without strategies yet."""
    values = asdict(question)
    entry: Figures = {name: values[name] for name in _LISTED}
    entry["answers"] = list(question.answers)
    entry["gold"] = len(question.gold)
    entry["strategies"] = {}
    return entry


def _failures(
    questions: QuestionSet, outcomes: Mapping[str, Sequence[Outcome]], verdicts: Verdicts | None
) -> Iterator[tuple[str, str, str]]:
    """Yield question, strategy and reason of each failure, those of the judge last."""
    for failure in questions.failures:
        yield failure.source, "", failure.reason
    for name, rows in outcomes.items():
        for row in rows:
            if problem := row.error or row.note:
                yield row.key, name, problem
    for name, rows in outcomes.items():
        for row in rows:
            verdict = verdicts.get((name, row.key)) if verdicts else None
            if verdict and verdict.error:
                yield row.key, name, f"{verdict.judge} judged nothing: {verdict.error}"


def _scored(questions: Iterable[Figures], strategy: str, settings: Figures) -> list[Scored]:
    """Return what a strategy returned for questions of the results. A metric is left out if it has no value,
    as recall has none without gold passages or beyond k."""
    scored = []
    for question in questions:
        row = question["strategies"][strategy]
        values = {metric: row[metric] for metric in METRICS if row.get(metric) is not None}
        if question["answerable"] and question["gold"]:
            values |= ranked_values(row["ranks"], settings["k"])
        scored.append(Scored(question, row, values))
    return scored


def summarise(scored: Sequence[Scored], share: float = 0.0, *, answers: bool) -> Figures:
    """Return the figures of all questions, `intervals` of them, and under `by_hops` and `by_type` those of
    the questions of so many hops and of a type (`?`: not known). share: as of `economy`."""
    figures = _figures(scored, share, answers=answers)
    figures["intervals"] = {}
    for metric in METRICS:
        if limits := interval(_values(scored, metric)):
            figures["intervals"][metric] = limits
    for field in ("hops", "type"):
        groups: dict[Any, list[Scored]] = {}
        for one in scored:
            groups.setdefault(one.question[field], []).append(one)
        parts: dict[str, Figures] = {}
        for value in sorted(groups, key=lambda value: (not value, value)):
            parts[str(value or "?")] = _figures(groups[value], share, answers=answers)
        figures[f"by_{field}"] = parts
    return figures


def differences(
    first: Iterable[Scored], second: Iterable[Scored], first_name: str, second_name: str
) -> list[Figures]:
    """Return by metric the paired difference of two strategies on the questions for which both have it."""
    both = [(a.values, b.values) for a, b in zip(first, second, strict=True)]
    rows = []
    for metric in METRICS:
        pairs = [(a[metric], b[metric]) for a, b in both if metric in a and metric in b]
        if pairs:
            names = {"first": first_name, "second": second_name, "metric": metric}
            rows.append(names | paired(*zip(*pairs, strict=True)))
    return rows


def load(path: str | Path) -> Evaluation:
    """Load an evaluation from its `results.json`, or the folder with it, even of another version. Raises
    InputError if the file cannot be read, or is no evaluation."""
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
    """Compare two evaluations, or their files or folders: strategies of the same name or, without any, each
    of the first with each of the second. Raises InputError if they have no common question."""
    a = first if isinstance(first, Evaluation) else load(first)
    b = second if isinstance(second, Evaluation) else load(second)
    names = [(name, name) for name in a.strategies if name in b.strategies]
    if not names:
        names = list(product(a.strategies, b.strategies))
    others = {_identity(question): question for question in b.questions}
    shared = [question for question in a.questions if _identity(question) in others]
    if not shared:
        hint = "Compare two runs of the same questions"
        raise InputError("the evaluations have no question in common", hint=hint)
    rows: list[Figures] = []
    for name, other in names:
        first_scored = _scored(shared, name, a.settings)
        second_scored = _scored([others[_identity(question)] for question in shared], other, b.settings)
        rows += differences(first_scored, second_scored, name, other)
    was, now = _circumstances(a), _circumstances(b)
    changed = {}
    for setting in was | now:
        if was.get(setting) != now.get(setting):
            changed[setting] = [was.get(setting), now.get(setting)]
    if names[0][0] != names[0][1]:
        changed["strategy"] = [", ".join(a.strategies), ", ".join(b.strategies)]
    number = len(shared)
    return Comparison(number, len(a.questions) - number, len(b.questions) - number, changed, rows)


def _identity(question: Figures) -> tuple[str, str]:
    return question["key"], question["question"]


def _values(scored: Iterable[Scored], metric: str) -> list[float]:
    return [one.values[metric] for one in scored if metric in one.values]


def _figures(scored: Sequence[Scored], share: float, *, answers: bool) -> Figures:
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
    rows = [one.row for one in scored]
    dollars = [row["dollars"] for row in rows if row["dollars"] is not None]
    plans = Counter(row["plan_source"] or "none" for row in rows if not row["error"])
    figures["abstention"] = _abstention(scored) if answers else None
    figures["ms"] = {**spread(_values(scored, "ms")), "stages": _stages(rows)}
    figures["tokens"] = _tokens(rows)
    figures["dollars"] = sum(dollars) if dollars else None
    figures["economy"] = economy(scored, share) if answers else None
    figures["plans"] = dict(sorted(plans.items()))
    figures["failed"] = sum(row["error"] is not None for row in rows)
    figures["silent"] = sum(row["note"] is not None for row in rows)
    figures["cached"] = sum(row["cached"] for row in rows)
    return figures


def _abstention(scored: Iterable[Scored]) -> Figures:
    """Return how many questions are answerable and not, and the shares of them that were answered, and that
    were abstained from."""
    answered: list[bool] = []
    abstained: list[bool] = []
    for question, row, _ in scored:
        if question["answerable"]:
            answered.append(row["answer"] is not None)
        else:
            abstained.append(row["abstained"])
    return {
        "answerable": len(answered),
        "answered": mean(answered),
        "unanswerable": len(abstained),
        "abstained": mean(abstained),
    }


def _stages(rows: Iterable[Figures]) -> dict[str, dict[str, float]]:
    """Return milliseconds by stage; stages in which nothing passed are left out."""
    timed = [row["seconds"] for row in rows if not row["error"] and row["seconds"]]
    stages = {}
    for name in dict.fromkeys(name for seconds in timed for name in seconds):
        milliseconds = [1000 * seconds.get(name, 0.0) for seconds in timed]
        if name != "total" and any(milliseconds):
            stages[name] = spread(milliseconds)
    return stages


def _tokens(rows: Sequence[Figures]) -> Figures:
    """Return means a question by kind, see `Outcome`, and `total`, in and out of all questions."""
    sums: Counter[str] = Counter()
    for row in rows:
        sums.update(row["tokens"])
    tokens: Figures = {name: number / len(rows) for name, number in sums.items()}
    tokens["total"] = sums["in"] + sums["out"]
    return tokens


def economy(scored: Iterable[Scored], share: float = 0.0) -> float | None:
    """Return GRASP's success economy, tokens for a right answer weighted by hops: sum of d tokens_d over sum
    of d right_d, d the hops (1 if not known). An exact answer is right, and so is no answer to a question
    that the corpus does not answer. Less is better; None if nothing is right.

    Args:
        scored: Scored results of a strategy.
        share: Tokens of the index for each question, added to its own.
    """
    spent = earned = 0.0
    for question, row, values in scored:
        hops = question["hops"] or 1
        is_right = values.get("em") == 1 if question["answerable"] else row["abstained"]
        spent += hops * (row["tokens"].get("in", 0) + row["tokens"].get("out", 0) + share)
        earned += hops * is_right
    return spent / earned if earned else None


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
