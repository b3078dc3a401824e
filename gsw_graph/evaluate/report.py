"""Show an evaluation: the table of figures, and the notes beside it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from gsw_graph.evaluate.evaluation import FILE, Evaluation
from gsw_graph.evaluate.metrics import AT, METRICS

Summary = dict[str, Any]
Cell = tuple[str, str]  # a figure, and its interval or another small print
_SOURCES = {
    "gold": "gold decomposition",
    "file": "from a file",
    "model": "by the language model",
    "none": "none",
}
_LABELS = {
    "em": "EM",
    "f1": "F1",
    "answer_precision": "answer precision",
    "answer_recall": "answer recall",
    "rouge_l": "ROUGE-L",
    "lr1": "LR-1",
    "lr2": "LR-2",
}
_TOKENS = {"plan": "to plan", "evidence": "of evidence", "prompt": "of the answer's prompt"}
_NOTES = {
    "failed": "{} could not be asked and counts as not found",
    "silent": "the language model gave no plan or no answer for {}; what was found without it counts",
    "cached": "for {} replies of the language model came from the cache; their tokens and times are those of "
    "when they were asked for",
}


def write(evaluation: Evaluation, folder: str | Path) -> Path:
    """Write `results.json` into a folder, whole or not at all, and return its path. What it holds depends on
    the evaluation alone."""
    path = Path(folder) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{FILE}.part")
    part.write_bytes((json.dumps(evaluation.to_dict(), indent=1) + "\n").encode())
    part.replace(path)
    return path


def main_k(evaluation: Evaluation) -> int:
    """Return the k of the recall that is read first: 5, or less where less was asked for."""
    return max(k for k in AT if k <= min(5, evaluation.settings["k"]))


def protocol(evaluation: Evaluation) -> str:
    """Return in one line how the questions were asked and read: figures of another protocol are others."""
    settings = evaluation.settings
    questions, judge = settings["questions"], settings.get("judge")
    parts = [
        f"{questions['n']:,} question{'' if questions['n'] == 1 else 's'} ({', '.join(questions['shapes'])})",
        f"k={settings['k']}",
        *filter(None, [settings.get("protocol")]),
        f"plans: {describe_plans(evaluation)}",
        f"model: {settings['llm'] or 'none'}",
        *(
            [f"planner: {planner}"]
            if (planner := settings.get("planner")) != settings["llm"] and planner
            else []
        ),
        *([f"judge: {judge['model']}"] if judge else []),
        f"embedder: {settings['memory']['embedder'] or 'none'}",
        f"reranker: {settings.get('reranker_model') or settings['reranker']}",
    ]
    return "; ".join(parts)


def figures(evaluation: Evaluation) -> tuple[list[str], list[list[Cell]]]:
    """Return columns and a row for each strategy; columns for which no strategy has a figure are left out."""
    at, summaries = main_k(evaluation), evaluation.strategies.values()
    columns: dict[str, list[Cell]] = {
        "strategy": [(name, "") for name in evaluation.strategies],
        "n": [
            (f"{row['n']:,}", f"{row['with_gold']:,} with gold" if 0 < row["with_gold"] < row["n"] else "")
            for row in summaries
        ],
    }
    for metric in METRICS[:-1]:
        _, has_k, k = metric.partition("@")
        if not has_k or int(k) == at or metric.startswith("recall@"):
            label = _LABELS.get(metric, metric.replace("_", " "))
            columns[label] = [_share(row, metric) for row in summaries]
    columns["answered"] = [_part(row, "answered", "answerable") for row in summaries]
    columns["abstained"] = [_part(row, "abstained", "unanswerable") for row in summaries]
    columns["tokens"] = [
        (f"{row['tokens'].get('in', 0):,.0f} + {row['tokens'].get('out', 0):,.0f}", "in + out")
        if row["tokens"]["total"]
        else ("-", "")
        for row in summaries
    ]
    for name, label in _TOKENS.items():
        columns[f"tokens {label}"] = [_number(row["tokens"].get(name) or None) for row in summaries]
    columns["tokens/right"] = [
        _number(row["economy"]["value"] if row["tokens"]["total"] and row["economy"] else None)
        for row in summaries
    ]
    columns["dollars"] = [_number(row["dollars"], ",.4f") for row in summaries]
    for label in ("mean", "p50", "p95"):
        columns[f"{label} ms"] = [_number(row["ms"].get(label), ".1f") for row in summaries]
    filled = {label: cells for label, cells in columns.items() if any(text != "-" for text, _ in cells)}
    return list(filled), [list(row) for row in zip(*filled.values(), strict=True)]


def metric_mean(summary: Summary, metric: str) -> float | None:
    """Return a figure of a summary by the name of its metric; None where it has none, as an old one may."""
    name, at, k = metric.partition("@")
    value: float | None = (summary.get(name) or {}).get(k) if at else summary.get(name)
    return value


def describe_plans(evaluation: Evaluation) -> str:
    """Return where plans came from, and for how many questions strategies had one."""
    source = evaluation.settings["plans"]
    parts = [
        f"{name} {number:,} of {row['n']:,}"
        for name, row in evaluation.strategies.items()
        if (number := row["n"] - row["failed"] - row["plans"].get("none", 0))
    ]
    used = ", ".join(parts) or ("" if source == "none" else "no strategy followed one")
    return f"{_SOURCES[source]} ({used})" if used else _SOURCES[source]


def notes(evaluation: Evaluation) -> list[str]:
    """Return what a reader must know to read the figures."""
    unread = [failure["reason"] for failure in evaluation.failures if not failure["strategy"]]
    lines = [
        f"{_count(len(unread), 'record')} could not be read as questions; the first: {reason}"
        for reason in unread[:1]
    ]
    for name, summary in evaluation.strategies.items():
        rows = [question["strategies"][name] for question in evaluation.questions]
        ran = Counter(row["ran"] for row in rows if row.get("ran") not in (None, name.partition(" ")[0]))
        lines += [f"{name} ran as {other} for {_count(number)}" for other, number in sorted(ran.items())]
        lines += [
            f"{name}: {text.format(_count(summary[key]))}" for key, text in _NOTES.items() if summary[key]
        ]
    rows = [row for question in evaluation.questions for row in question["strategies"].values()]
    ranks = [row["ranks"] for row in rows if not row["error"]]
    if not any(summary["with_gold"] for summary in evaluation.strategies.values()):
        lines.append("The questions name no gold passages: there is no recall")
    elif ranks and not any(map(any, ranks)):
        lines.append("Not one gold passage was found: does the memory hold the corpus of these questions?")
    if judge := evaluation.settings.get("judge"):
        model, tokens = judge["model"], judge["tokens"]
        lines.append(
            f"LR-1 (strict), LR-2 (partial credit) and coverage of long answers are judged by {model}, which "
            f"took {tokens.get('in', 0):,} + {tokens.get('out', 0):,} tokens (in + out), in no other figure"
        )
        if judge["unjudged"]:
            answers = _count(judge["unjudged"], "answer")
            lines.append(f"{model} gave no verdict on {answers}: in LR-1 and LR-2 they count nowhere")
    first, last = evaluation.settings["gswgraph"], evaluation.settings["versions"]["gswgraph"]
    if first != last:
        lines.append(f"Begun with gswgraph {first}, and ended with {last}")
    return lines


def _count(number: int, noun: str = "question") -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _share(summary: Summary, metric: str) -> Cell:
    value, limits = metric_mean(summary, metric), summary["intervals"].get(metric)
    if value is None:
        return "-", ""
    return f"{100 * value:.1f}", f"{100 * limits[0]:.1f}-{100 * limits[1]:.1f}" if limits else ""


def _part(summary: Summary, name: str, of: str) -> Cell:
    abstention = summary["abstention"]
    if not abstention or not abstention[of]:
        return "-", ""
    return f"{100 * abstention[name]:.1f}", f"of {abstention[of]:,}"


def _number(value: float | None, form: str = ",.0f") -> Cell:
    return ("-" if value is None else format(value, form)), ""
