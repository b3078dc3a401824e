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
_PROTOCOL = ("plans", "plans_sha256", "k", "answer", "llm", "protocol")
_SAME = (*_PROTOCOL, "memory", "versions")
_IGNORED = ("memory", "llm", "cache_dir")  # of the configuration: compared by another name, or without effect


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
    settings: dict[str, Any], scored: dict[str, list[ScoredOutcome]], unread: Sequence[tuple[str, str]] = ()
) -> Evaluation:
    """Sum up the rows of a run, which do not depend on the order they came in.

    Args:
        settings: As of `Evaluation`.
        scored: By strategy the outcomes, in the order of the questions.
        unread: Places of records that are no questions, and why.
    """
    failed = [(place, "", reason) for place, reason in unread]
    for name, outcomes in scored.items():
        failed += [
            (outcome.row.key, name, reason)
            for outcome in outcomes
            if (reason := outcome.row.error or outcome.row.note)
        ]
    for name, outcomes in scored.items():
        failed += [
            (verdict.key, name, f"{verdict.judge} judged nothing: {verdict.error}")
            for outcome in outcomes
            if (verdict := outcome.judgement) is not None and verdict.error
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
            "strategies": {name: one.to_dict() for name, one in zip(names, outcomes, strict=True)},
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
    groups: dict[str, dict[str, list[ScoredOutcome]]] = {"by_hops": {}, "by_type": {}}
    for outcome in sorted(scored, key=lambda row: (row.question.hops is None, row.question.hops)):
        groups["by_hops"].setdefault(str(outcome.question.hops or "?"), []).append(outcome)
    for outcome in sorted(scored, key=lambda row: row.question.type):
        groups["by_type"].setdefault(outcome.question.type or "?", []).append(outcome)
    return {
        **_figures(scored),
        "intervals": intervals,
        **{by: {name: _figures(rows) for name, rows in group.items()} for by, group in groups.items()},
    }


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


def merge(parts: Sequence[Evaluation | str | Path]) -> Evaluation:
    """Join evaluations of parts of the questions, or with other strategies, into one; of what is there twice
    the last counts. InputError: they were asked in other ways, or a strategy lacks questions."""
    evaluations = [item if isinstance(item, Evaluation) else load(item) for item in parts]
    settings = evaluations[0].settings
    rows: dict[str, dict[str, ScoredOutcome]] = {}
    for evaluation in evaluations:
        if changed := [name for name in _PROTOCOL if evaluation.settings.get(name) != settings.get(name)]:
            hint = "gswgraph eval compare shows in what they differ"
            raise InputError(f"these evaluations differ in {', '.join(changed)}", hint=hint)
        for question in evaluation.questions:
            for name in question["strategies"]:
                rows.setdefault(name, {})[question["key"]] = rescored(question, name, evaluation)
    keys = list(dict.fromkeys(key for by_key in rows.values() for key in by_key))
    for name, by_key in rows.items():
        if missing := len(keys) - len(by_key):
            raise InputError(f"{name} lacks {missing:,} of {len(keys):,} questions", hint="Ask it these too")
    facts = [evaluation.settings for evaluation in evaluations]
    strategies = {one["name"]: one for each in facts for one in each["strategies"]}
    files = {each["questions"]["name"]: each["questions"] for each in facts}
    questions = {
        "name": ", ".join(files),
        "sha256": " ".join(dict.fromkeys(each["sha256"] for each in files.values())),
        "n": len(keys),
        "shapes": dict(sorted(Counter(shape for each in files.values() for shape in each["shapes"]).items())),
    }
    scored = {name: [by_key[key] for key in keys] for name, by_key in rows.items()}
    unread = [(f["question"], f["reason"]) for e in evaluations for f in e.failures if not f["strategy"]]
    return assemble(
        {**settings, "questions": questions, "strategies": [strategies[name] for name in rows]},
        scored,
        unread,
    )


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
    key = question["key"]
    known = Question(
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
    return ScoredOutcome(known, outcome, evaluation.settings["k"], answers, judged, verdict)


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
        **{name: settings.get(name) for name in _SAME},
        "judge": (settings.get("judge") or {}).get("model"),
        **{f"config.{name}": value for name, value in settings["config"].items() if name not in _IGNORED},
    }
