"""What the report and the command line both show of an evaluation: the table of figures, and what a reader
must know beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gsw_graph.evaluate.evaluation import Evaluation
from gsw_graph.evaluate.figures.metrics import AT
from gsw_graph.evaluate.report.svg import Point

Cell = tuple[str, str]  # what is said, and its interval or another small print


def main_k(evaluation: Evaluation) -> int:
    """The k of the figure that is looked at first: 5, or less where less was asked for."""
    return max(k for k in AT if k <= min(5, evaluation.settings["k"]))


def figures(evaluation: Evaluation) -> tuple[list[str], list[list[Cell]]]:
    """Columns and a row for each strategy. Columns for which no strategy has a figure are left out."""
    at = main_k(evaluation)
    columns: dict[str, list[Cell]] = {"strategy": [], "n": []}
    rows = evaluation.strategies.items()
    for name, one in rows:
        columns["strategy"].append((name, ""))
        columns["n"].append(
            (
                f"{one['n']:,}",
                f"{one['with_gold']:,} with gold" if one["with_gold"] not in (0, one["n"]) else "",
            )
        )
    for label, metric in (
        *((f"recall@{k}", f"recall@{k}") for k in AT if k <= evaluation.settings["k"]),
        (f"all gold@{at}", f"all_gold@{at}"),
        ("EM", "em"),
        ("F1", "f1"),
        ("LR-1", "lr1"),
        ("LR-2", "lr2"),
    ):
        columns[label] = [_share(value(one, metric), one["intervals"].get(metric)) for _, one in rows]
    columns["answered"] = [_part(one, "answered", "answerable") for _, one in rows]
    columns["abstained"] = [_part(one, "abstained", "unanswerable") for _, one in rows]
    columns["tokens"] = [_tokens(one) for _, one in rows]
    columns["tokens/right"] = [_economy(one) for _, one in rows]
    for label in ("mean", "p50", "p95"):
        columns[f"{label} ms"] = [
            (f"{one['ms'][label]:.1f}" if label in one["ms"] else "-", "") for _, one in rows
        ]
    kept = {label: cells for label, cells in columns.items() if any(text != "-" for text, _ in cells)}
    return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]


def value(one: dict[str, Any], metric: str) -> float | None:
    """A figure of a summary by the name of its metric."""
    name, _, at = metric.partition("@")
    found: float | None = one[name].get(at) if at else one.get(name)  # results of before have no lr1
    return found


def points(one: dict[str, Any] | None, metrics: Sequence[str], name: str) -> list[Point | None]:
    """Figures of a summary with their intervals, as a plot shows them."""
    found: list[Point | None] = []
    for metric in metrics:
        mean = None if one is None else value(one, metric)
        if one is None or mean is None:
            found.append(None)
            continue
        low, high = one["intervals"][metric]
        found.append(
            Point(
                mean,
                low,
                high,
                f"{name}: {metric} {100 * mean:.1f} [{100 * low:.1f}, {100 * high:.1f}], n={one['n']}",
            )
        )
    return found


def plans_said(evaluation: Evaluation) -> str:
    """Where plans came from, and for how many questions strategies had one."""
    source = {
        "gold": "gold decomposition",
        "file": "from a file",
        "model": "by the language model",
        "none": "none",
    }[evaluation.settings["plans"]]
    used = {
        name: sum(n for kind, n in one["plans"].items() if kind != "none")
        for name, one in evaluation.strategies.items()
    }
    if evaluation.settings["plans"] == "none" and not any(used.values()):
        return source
    parts = [f"{name} {n:,} of {evaluation.strategies[name]['n']:,}" for name, n in used.items() if n]
    return f"{source} ({', '.join(parts) or 'no strategy followed one'})"


def notes(evaluation: Evaluation) -> list[str]:
    """What a reader must know to read the figures."""
    said = []
    unread = sum(not one["strategy"] for one in evaluation.failures)
    if unread:
        what = (
            "1 record could not be read as a question and counts"
            if unread == 1
            else f"{unread:,} records could not be read as questions and count"
        )
        said.append(
            f"{what} nowhere{'' if unread == 1 else '; the first'}: {evaluation.failures[0]['reason']}"
        )
    for name, one in evaluation.strategies.items():
        ran = Counter(
            row["ran"]
            for question in evaluation.questions
            if (row := question["strategies"][name]).get("ran") not in (None, name.partition(" ")[0])
        )
        said += (
            f"{name} ran as {other} for {'1 question' if number == 1 else f'{number:,} questions'}"
            for other, number in sorted(ran.items())
        )
        if one["failed"]:
            what = (
                "1 question could not be asked and counts"
                if one["failed"] == 1
                else f"{one['failed']:,} questions could not be asked and count"
            )
            said.append(f"{name}: {what} as not found")
        if one["silent"]:
            what = "1 question" if one["silent"] == 1 else f"{one['silent']:,} questions"
            said.append(
                f"{name}: the language model gave no plan or no answer for {what}; what was found without "
                "it counts"
            )
        if one["cached"]:
            what = "1 question" if one["cached"] == 1 else f"{one['cached']:,} questions"
            said.append(
                f"{name}: for {what} replies of the language model came from the cache; their tokens and "
                "times are those of when they were asked for"
            )
    if not any(one["with_gold"] for one in evaluation.strategies.values()):
        said.append("The questions name no gold passages: there is no recall")
    elif (
        asked := [
            row["ranks"]
            for one in evaluation.questions
            for row in one["strategies"].values()
            if not row["error"]
        ]
    ) and not any(map(any, asked)):
        said.append("Not one gold passage was found: does the memory hold the corpus of these questions?")
    if judge := evaluation.settings.get("judge"):
        tokens = judge["tokens"]
        took = f"{tokens.get('in', 0):,} + {tokens.get('out', 0):,} tokens (in + out)"
        said.append(
            f"LR-1 (strict) and LR-2 (partial credit) are judged by {judge['model']}, which took {took}, in "
            "no other figure"
        )
        if judge["model"] == evaluation.settings["llm"]:
            said.append(f"{judge['model']} judges answers of its own")
        if judge["unjudged"]:
            what = "1 answer" if judge["unjudged"] == 1 else f"{judge['unjudged']:,} answers"
            said.append(f"{judge['model']} gave no verdict on {what}: in LR-1 and LR-2 they count nowhere")
    if not evaluation.settings["answer"]:
        said.append("Passages only: nothing was answered")
    return said


def _share(mean: float | None, limits: Sequence[float] | None) -> Cell:
    if mean is None:
        return "-", ""
    return f"{100 * mean:.1f}", f"{100 * limits[0]:.1f}-{100 * limits[1]:.1f}" if limits else ""


def _part(one: dict[str, Any], name: str, of: str) -> Cell:
    found = one["abstention"]
    if not found or not found[of]:
        return "-", ""
    return f"{100 * found[name]:.1f}", f"of {found[of]:,}"


def _tokens(one: dict[str, Any]) -> Cell:
    tokens = one["tokens"]
    return (
        (f"{tokens.get('in', 0):,.0f} + {tokens.get('out', 0):,.0f}", "in + out")
        if tokens["total"]
        else ("-", "")
    )


def _economy(one: dict[str, Any]) -> Cell:
    if not one["tokens"]["total"] or one["economy"] is None or one["economy"]["value"] is None:
        return "-", ""
    return f"{one['economy']['value']:,.0f}", ""
