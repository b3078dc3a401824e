"""The figures of one strategy over some questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gsw_graph.evaluate.figures.bootstrap import interval, mean, spread
from gsw_graph.evaluate.figures.metrics import AT
from gsw_graph.evaluate.figures.scores import METRICS, ScoredOutcome


def summary(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """The figures of all questions, and under `by_hops` of those with so many hops (`?` where that is not
    known)."""
    by_hops = {
        hops: [one for one in scored if one.question.hops == hops]
        for hops in {one.question.hops for one in scored}
    }
    ordered = sorted(by_hops.items(), key=lambda item: (item[0] is None, item[0]))
    return {
        **_figures(scored),
        "by_hops": {"?" if hops is None else str(hops): _figures(group) for hops, group in ordered},
    }


def _figures(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """n, with_gold (questions that recall is of); recall and all_gold by k; em and f1 (None where the
    strategy does not answer); lr1 and lr2 (None where nothing was judged); abstention; ms; tokens and
    dollars; economy; plans; intervals by metric (95 %, bootstrap over questions); failed (could not be
    asked); silent (the model gave no plan or no answer); cached (a reply came from the cache)."""
    values = {
        metric: [value for one in scored if (value := one.get(metric)) is not None] for metric in METRICS
    }
    return {
        "n": len(scored),
        "with_gold": len(values["recall@1"]),
        "recall": {str(k): mean(values[f"recall@{k}"]) for k in AT if values[f"recall@{k}"]},
        "all_gold": {str(k): mean(values[f"all_gold@{k}"]) for k in AT if values[f"all_gold@{k}"]},
        "em": mean(values["em"]),
        "f1": mean(values["f1"]),
        "lr1": mean(values["lr1"]),
        "lr2": mean(values["lr2"]),
        "abstention": _abstention(scored),
        "ms": {**(spread(values["ms"]) or {}), "stages": _stages(scored)},
        "tokens": _tokens(scored),
        "dollars": sum(known)
        if (known := [one.row.dollars for one in scored if one.row.dollars is not None])
        else None,
        "economy": economy(scored),
        "plans": dict(
            sorted(Counter(one.row.plan_source or "none" for one in scored if not one.row.error).items())
        ),
        "intervals": {metric: list(found) for metric in METRICS if (found := interval(values[metric]))},
        "failed": sum(one.row.error is not None for one in scored),
        "silent": sum(one.row.note is not None for one in scored),
        "cached": sum(one.row.cached for one in scored),
    }


def _abstention(scored: Sequence[ScoredOutcome]) -> dict[str, float | int | None] | None:
    """How many can be answered and cannot, and the shares of them that were answered, and that were
    abstained from. None where nothing is answered."""
    if not any(one.answers for one in scored):
        return None
    can = [one for one in scored if one.question.answerable]
    cannot = [one for one in scored if not one.question.answerable]
    return {
        "answerable": len(can),
        "answered": mean([one.row.answer is not None for one in can]),
        "unanswerable": len(cannot),
        "abstained": mean([one.row.abstained for one in cannot]),
    }


def _stages(scored: Sequence[ScoredOutcome]) -> dict[str, dict[str, float]]:
    """Milliseconds by stage; those in which nothing passed are left out."""
    rows = [one.row.seconds for one in scored if not one.row.error]
    names = dict.fromkeys(name for seconds in rows for name in seconds if name != "total")
    found = {name: spread([1000 * seconds.get(name, 0.0) for seconds in rows]) for name in names}
    return {
        name: figures for name, figures in found.items() if figures and any(row.get(name) for row in rows)
    }


def _tokens(scored: Sequence[ScoredOutcome]) -> dict[str, Any]:
    """Means a question by kind (`in` and `out` as the server counted them, `evidence` and `prompt` of the
    answer as estimated), and `total`, in and out."""
    names = dict.fromkeys(name for one in scored for name in one.row.tokens)
    return {
        **{name: mean([one.row.tokens.get(name, 0) for one in scored]) for name in names},
        "total": sum(one.tokens for one in scored),
    }


def economy(scored: Sequence[ScoredOutcome]) -> dict[str, Any] | None:
    """GRASP's success economy, tokens for a right answer weighted by hops: sum of d tokens_d over sum of d
    right_d, d the hops (1 where not known).

    `value`, and `by_hops` tokens_d over right_d. A value is None where nothing is right; all is None where
    nothing is answered. Less is better.
    """
    if not any(one.answers for one in scored):
        return None
    tokens: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for one in scored:
        hops = one.question.hops or 1
        tokens[hops] += one.tokens
        right[hops] += one.right
    weighted = sum(hops * number for hops, number in right.items())
    value = sum(hops * number for hops, number in tokens.items()) / weighted if weighted else None
    return {
        "value": value,
        "by_hops": {
            str(hops): tokens[hops] / right[hops] if right[hops] else None for hops in sorted(tokens)
        },
    }
