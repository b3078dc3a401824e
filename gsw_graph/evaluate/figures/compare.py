"""Two evaluations against each other: paired differences on the questions that both asked, and which were
won and lost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data.gold import Gold
from gsw_graph.evaluate.data.questions import Question
from gsw_graph.evaluate.evaluation import Evaluation, differing, load
from gsw_graph.evaluate.figures.scores import METRICS, ScoredOutcome
from gsw_graph.evaluate.journal import Judgement, Outcome
from gsw_graph.results import Result

_SAME = ("plans", "plans_sha256", "k", "answer", "llm", "memory", "versions")
_ELSEWHERE = (
    "memory",
    "llm",
    "cache_dir",
)  # of the configuration: said by another name, or without effect on what is found


@dataclass(frozen=True)
class Comparison(Result):
    """How the second evaluation differs from the first.

    questions: how many both asked; only_first, only_second: what one of them asked alone. settings: what was
    set otherwise, by name [first, second]: files by their hashes, `config.` before what the settings object
    has, `strategy` where each has one of its own.
    differences: by strategy and metric the second minus the first, with its 95 % interval. won, lost: by
    `strategy metric` the keys of the questions whose value rose or fell.
    """

    questions: int
    only_first: int
    only_second: int
    settings: dict[str, list[Any]]
    differences: list[dict[str, Any]]
    won: dict[str, list[str]]
    lost: dict[str, list[str]]


def compare(first: Evaluation | str | Path, second: Evaluation | str | Path) -> Comparison:
    """Compare two evaluations, or the files or folders that hold them: strategies of the same name, or the
    one of each where each has one.

    InputError: they have no question or no strategy in common.
    """
    a, b = (one if isinstance(one, Evaluation) else load(one) for one in (first, second))
    pairs = [(name, name) for name in a.strategies if name in b.strategies]
    if not pairs and len(a.strategies) == len(b.strategies) == 1:
        pairs = [(next(iter(a.strategies)), next(iter(b.strategies)))]
    if not pairs:
        raise InputError(
            "the evaluations have no strategy in common",
            hint=f"The first has {', '.join(a.strategies)}, the second {', '.join(b.strategies)}",
        )
    theirs = {(question["key"], question["question"]): question for question in b.questions}
    shared = [
        (question, other)
        for question in a.questions
        if (other := theirs.get((question["key"], question["question"])))
    ]
    if not shared:
        raise InputError("the evaluations have no question in common", hint="Ask both the same file")
    differences: list[dict[str, Any]] = []
    won: dict[str, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for name, other_name in pairs:
        ours = [scored(question, name, a) for question, _ in shared]
        others = [scored(question, other_name, b) for _, question in shared]
        differences += differing(name, ours, other_name, others)
        for metric in METRICS[:-1]:  # of time nobody wants the questions
            values = [
                (x.question.key, x.get(metric), y.get(metric)) for x, y in zip(ours, others, strict=True)
            ]
            label = f"{name if name == other_name else f'{name} -> {other_name}'} {metric}"
            if up := [key for key, u, v in values if u is not None and v is not None and v > u]:
                won[label] = up
            if down := [key for key, u, v in values if u is not None and v is not None and v < u]:
                lost[label] = down
    was, now = _circumstances(a), _circumstances(b)
    changed = {
        name: [was.get(name), now.get(name)]
        for name in dict.fromkeys([*was, *now])
        if was.get(name) != now.get(name)
    }
    if pairs[0][0] != pairs[0][1]:
        changed["strategy"] = list(pairs[0])
    return Comparison(
        len(shared),
        len(a.questions) - len(shared),
        len(b.questions) - len(shared),
        changed,
        differences,
        won,
        lost,
    )


def _circumstances(evaluation: Evaluation) -> dict[str, Any]:
    """What two evaluations must have in common to differ by their strategies alone."""
    settings = evaluation.settings
    config = {f"config.{name}": value for name, value in settings["config"].items() if name not in _ELSEWHERE}
    return {
        "questions": settings["questions"]["sha256"],
        **{name: settings[name] for name in _SAME},
        "judge": (settings.get("judge") or {}).get("model"),
        **config,
    }


def scored(question: dict[str, Any], strategy: str, evaluation: Evaluation) -> ScoredOutcome:
    """What a strategy found for a question, from the results. Of what had to be found only the number is
    known."""
    found = question["strategies"][strategy]
    known_fields = {name: found[name] for name in Outcome.__dataclass_fields__ if name in found}
    row = Outcome(strategy, question["key"], **known_fields)
    known = Question(
        question["key"],
        question["question"],
        tuple(question["answers"]),
        tuple(Gold(source=str(number)) for number in range(question["gold"])),
        question["answerable"],
        hops=question["hops"],
        key=question["key"],
    )
    judged = "lr1" in found
    said = Judgement(strategy, row.key, "", row.answer or "", found["lr1"], found["lr2"]) if judged else None
    answers = evaluation.strategies[strategy]["abstention"] is not None
    return ScoredOutcome(known, row, evaluation.settings["k"], answers, judged, said)
