"""The result of an evaluation: figures by strategy, differences between strategies, every question's own; and
two evaluations compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import Gold, Question, QuestionSet
from gsw_graph.evaluate.journal import Judgement, Outcome
from gsw_graph.evaluate.metrics import AT, METRICS, ScoredOutcome
from gsw_graph.evaluate.statistics import interval, mean, paired, spread
from gsw_graph.model.results import Result

FILE = "results.json"
ALL_PAIRS = 4  # strategies of which every two are compared; of more, each with the first
_HINT = "gswgraph eval QUESTIONS --out DIR writes them"
_SAME = ("plans", "plans_sha256", "k", "answer", "llm", "memory", "versions")
_IGNORED = ("memory", "llm", "cache_dir")  # of the configuration: compared by another name, or without effect


@dataclass(frozen=True)
class Evaluation(Result):
    """The result of an evaluation; the attributes are the keys of its JSON.

    Attributes:
        settings: All that was set, with the memory, the versions and the questions' file.
        strategies: Figures by name, see `summarise`; `by_hops` has the same for questions of so many hops.
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
        what
            the settings object has, `strategy` where each has one of its own.
        differences: By strategy and metric the second minus the first, with its 95 % interval.
        won, lost: By `strategy metric` the keys of the questions whose value rose or fell.
    """

    questions: int
    only_first: int
    only_second: int
    settings: dict[str, list[Any]]
    differences: list[dict[str, Any]]
    won: dict[str, list[str]]
    lost: dict[str, list[str]]


def assemble(
    settings: dict[str, Any],
    questions: QuestionSet,
    names: Sequence[str],
    rows: Mapping[tuple[str, str], Outcome],
    verdicts: Mapping[tuple[str, str], Judgement] | None = None,
) -> Evaluation:
    """Sum up the rows of a run, in the order of the questions and strategies, whatever order they came in.

    Args:
        settings: As of `Evaluation`.
        questions: What was asked.
        names: The strategies.
        rows: By strategy and question.
        verdicts: Those of a judge by strategy and question; None where there was none.
    """
    scored: dict[str, list[ScoredOutcome]] = {}
    for name in names:
        own = [rows[name, question.key] for question in questions.questions]
        # A strategy answers if it did, or abstained though it retrieved something.
        does = settings["answer"] and any(
            row.answer is not None or (row.abstained and row.passages) for row in own
        )
        scored[name] = [
            ScoredOutcome(
                question,
                row,
                settings["k"],
                does,
                verdicts is not None,
                (verdicts or {}).get((name, row.key)),
            )
            for question, row in zip(questions.questions, own, strict=True)
        ]
    everything = [outcome for name in names for outcome in scored[name]]
    failed = [(failure.source, "", failure.reason) for failure in questions.failures]
    failed += [
        (outcome.row.key, outcome.row.variant, reason)
        for outcome in everything
        if (reason := outcome.row.error or outcome.row.note)
    ]
    failed += [
        (verdict.key, verdict.variant, f"{verdict.judge} judged nothing: {verdict.error}")
        for outcome in everything
        if (verdict := outcome.judgement) is not None and verdict.error
    ]
    listed = [
        {
            "key": question.key,
            "question": question.question,
            "answers": list(question.answers),
            "answerable": question.answerable,
            "hops": question.hops,
            "gold": len(question.gold),
            "strategies": {name: scored[name][number].to_dict() for name in names},
        }
        for number, question in enumerate(questions.questions)
    ]
    all_pairs = len(names) <= ALL_PAIRS
    pairs = combinations(names, 2) if all_pairs else ((names[0], name) for name in names[1:])
    return Evaluation(
        settings,
        {name: summarise(scored[name]) for name in names},
        [row for a, b in pairs for row in differences(a, scored[a], b, scored[b])],
        listed,
        [{"question": key, "strategy": name, "reason": reason} for key, name, reason in failed],
    )


def summarise(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """Return the figures of all questions, and under `by_hops` of those with so many hops (`?`: not
    known)."""
    every = sorted({outcome.question.hops for outcome in scored}, key=lambda hops: (hops is None, hops))
    by_hops = {
        "?" if hops is None else str(hops): _figures([row for row in scored if row.question.hops == hops])
        for hops in every
    }
    return {**_figures(scored), "by_hops": by_hops}


def differences(
    first: str, ones: Sequence[ScoredOutcome], second: str, others: Sequence[ScoredOutcome]
) -> list[dict[str, Any]]:
    """Return by metric the paired difference of two strategies on the questions for which both have it."""
    rows = []
    for metric in METRICS:
        values = [(one.get(metric), other.get(metric)) for one, other in zip(ones, others, strict=True)]
        both = [(a, b) for a, b in values if a is not None and b is not None]
        if both and (difference := paired([a for a, _ in both], [b for _, b in both])):
            rows.append({"first": first, "second": second, "metric": metric, **difference})
    return rows


def load(path: str | Path) -> Evaluation:
    """Load an evaluation from its `results.json`, or the folder that holds it. InputError: it cannot be read,
    or is none."""
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
    pairs = [(name, name) for name in a.strategies if name in b.strategies]
    if not pairs and len(a.strategies) == len(b.strategies) == 1:
        pairs = list(zip(a.strategies, b.strategies, strict=True))
    if not pairs:
        hint = f"The first has {', '.join(a.strategies)}, the second {', '.join(b.strategies)}"
        raise InputError("the evaluations have no strategy in common", hint=hint)
    theirs = {(question["key"], question["question"]): question for question in b.questions}
    shared = [
        (question, theirs[key])
        for question in a.questions
        if (key := (question["key"], question["question"])) in theirs
    ]
    if not shared:
        raise InputError("the evaluations have no question in common", hint="Ask both the same file")
    rows: list[dict[str, Any]] = []
    won: dict[str, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for name, other_name in pairs:
        ones = [rescored(question, name, a) for question, _ in shared]
        others = [rescored(question, other_name, b) for _, question in shared]
        rows += differences(name, ones, other_name, others)
        for metric in METRICS[:-1]:  # of time nobody wants the questions
            label = f"{name if name == other_name else f'{name} -> {other_name}'} {metric}"
            for one, other in zip(ones, others, strict=True):
                before, after = one.get(metric), other.get(metric)
                if before is not None and after is not None and before != after:
                    (won if after > before else lost).setdefault(label, []).append(one.question.key)
    was, now = _circumstances(a), _circumstances(b)
    changed = {
        name: [was.get(name), now.get(name)] for name in {**was, **now} if was.get(name) != now.get(name)
    }
    if pairs[0][0] != pairs[0][1]:
        changed["strategy"] = list(pairs[0])
    alone = len(a.questions) - len(shared), len(b.questions) - len(shared)
    return Comparison(len(shared), *alone, changed, rows, won, lost)


def rescored(question: dict[str, Any], strategy: str, evaluation: Evaluation) -> ScoredOutcome:
    """Return what a strategy returned for a question, from the results. Of its gold passages only the
    number is known."""
    row = question["strategies"][strategy]
    outcome = Outcome(
        strategy,
        question["key"],
        **{name: row[name] for name in Outcome.__dataclass_fields__ if name in row},
    )
    known = Question(
        question["key"],
        question["question"],
        tuple(question["answers"]),
        tuple(Gold(source=str(number)) for number in range(question["gold"])),
        question["answerable"],
        hops=question["hops"],
        key=question["key"],
    )
    judged = "lr1" in row
    verdict = Judgement(strategy, known.key, "", "", row["lr1"], row["lr2"]) if judged else None
    answers = evaluation.strategies[strategy]["abstention"] is not None
    return ScoredOutcome(known, outcome, evaluation.settings["k"], answers, judged, verdict)


def _figures(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """Return n, with_gold (questions that recall is of); recall and all_gold by k; em, f1, lr1, lr2 (None
    where nothing is answered or judged); abstention; ms; tokens and dollars; economy; plans; intervals by
    metric; failed (could not be asked); silent (the model gave no plan or no answer); cached (replies came
    from the cache)."""
    values = {
        metric: [value for outcome in scored if (value := outcome.get(metric)) is not None]
        for metric in METRICS
    }
    rows = [outcome.row for outcome in scored]
    dollars = [row.dollars for row in rows if row.dollars is not None]
    return {
        "n": len(scored),
        "with_gold": len(values["recall@1"]),
        **{
            name: {str(k): mean(values[f"{name}@{k}"]) for k in AT if values[f"{name}@{k}"]}
            for name in ("recall", "all_gold")
        },
        **{name: mean(values[name]) for name in ("em", "f1", "lr1", "lr2")},
        "abstention": _abstention(scored),
        "ms": {**(spread(values["ms"]) or {}), "stages": _stages(rows)},
        "tokens": _tokens(scored),
        "dollars": sum(dollars) if dollars else None,
        "economy": economy(scored),
        "plans": dict(sorted(Counter(row.plan_source or "none" for row in rows if not row.error).items())),
        "intervals": {metric: limits for metric in METRICS if (limits := interval(values[metric]))},
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
        name: spread([1000 * seconds.get(name, 0.0) for seconds in timed]) or {}
        for name in names
        if any(seconds.get(name) for seconds in timed)
    }


def _tokens(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """Return means a question by kind (`in` and `out` as the server counted them, `evidence` and `prompt`
    of the answer as estimated), and `total`, in and out."""
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
    tokens: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for outcome in scored:
        hops = outcome.question.hops or 1
        tokens[hops] += outcome.tokens
        right[hops] += outcome.correct
    weighted = sum(hops * number for hops, number in right.items())
    value = sum(hops * number for hops, number in tokens.items()) / weighted if weighted else None
    by_hops = {str(hops): tokens[hops] / right[hops] if right[hops] else None for hops in sorted(tokens)}
    return {"value": value, "by_hops": by_hops}


def _circumstances(evaluation: Evaluation) -> dict[str, Any]:
    """Return what two evaluations must have in common to differ by their strategies alone."""
    settings = evaluation.settings
    return {
        "questions": settings["questions"]["sha256"],
        **{name: settings[name] for name in _SAME},
        "judge": (settings.get("judge") or {}).get("model"),
        **{f"config.{name}": value for name, value in settings["config"].items() if name not in _IGNORED},
    }
