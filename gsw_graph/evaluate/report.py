"""Show an evaluation: the table of figures, and the notes beside it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from gsw_graph.evaluate.evaluation import FILE, Evaluation
from gsw_graph.evaluate.metrics import AT, METRICS
from gsw_graph.values import Fields

Summary = Fields
Cell = tuple[str, str]  # a figure, and its interval or another small print
_NONE = ("-", "")
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
    """Return the main k of recall: 5, or the largest k below it."""
    asked = min(5, evaluation.settings["k"])
    return max(k for k in AT if k <= asked)


def protocol(evaluation: Evaluation) -> str:
    """Return in one line how the questions were asked and read: figures of another protocol are others."""
    settings = evaluation.settings
    questions = settings["questions"]
    shapes = ", ".join(questions["shapes"])
    parts = [f"{_count(questions['n'])} ({shapes})", f"k={settings['k']}"]
    if asked := settings.get("protocol"):
        parts.append(asked)
    parts.append(f"plans: {describe_plans(evaluation)}")
    parts.append(f"model: {settings['llm'] or 'none'}")
    planner = settings.get("planner")
    if planner and planner != settings["llm"]:
        parts.append(f"planner: {planner}")
    if judge := settings.get("judge"):
        parts.append(f"judge: {judge['model']}")
    parts.append(f"embedder: {settings['memory']['embedder'] or 'none'}")
    parts.append(f"reranker: {settings.get('reranker_model') or settings['reranker']}")
    if settings.get("at_once", 1) > 1:
        parts.append(f"{settings['at_once']} at once, timed side by side")
    return "; ".join(parts)


def figures(evaluation: Evaluation) -> tuple[list[str], list[list[Cell]]]:
    """Return columns and a row for each strategy; columns for which no strategy has a figure are left out."""
    at = main_k(evaluation)
    rows = [_row(name, summary, at) for name, summary in evaluation.strategies.items()]
    index = _index(evaluation.settings.get("index") or {})
    for row in rows:
        row |= index
    columns = [column for column in rows[0] if any(row[column] != _NONE for row in rows)]
    return columns, [[row[column] for column in columns] for row in rows]


def _row(name: str, summary: Summary, at: int) -> dict[str, Cell]:
    """Return the figures of a strategy by column."""
    row: dict[str, Cell] = {"strategy": (name, ""), "n": _number(summary["n"])}
    if 0 < summary["with_gold"] < summary["n"]:
        row["n"] = f"{summary['n']:,}", f"{summary['with_gold']:,} with gold"
    for metric in METRICS[:-1]:
        _, has_k, k = metric.partition("@")
        if not has_k or int(k) == at or metric.startswith("recall@"):
            label = _LABELS.get(metric, metric.replace("_", " "))
            row[label] = _share(summary, metric)
    row["answered"] = _part(summary, "answered", "answerable")
    row["abstained"] = _part(summary, "abstained", "unanswerable")
    tokens = summary["tokens"]
    row["tokens"] = _NONE
    if tokens["total"]:
        row["tokens"] = _in_and_out(tokens), "in + out"
    for kind, label in _TOKENS.items():
        row[f"tokens {label}"] = _number(tokens.get(kind) or None)
    row["tokens/right"] = _number(summary["economy"] if tokens["total"] else None)
    row["dollars"] = _number(summary["dollars"], ",.4f")
    for label in ("mean", "p50", "p95"):
        row[f"{label} ms"] = _number(summary["ms"].get(label), ".1f")
    return row


def _index(costs: Summary) -> dict[str, Cell]:
    """Return what the index took and takes, the same for every strategy; an evaluation of another version may
    not have it."""
    row = dict.fromkeys(("index tokens", "index seconds", "index MB", "index nodes"), _NONE)
    if not costs:
        return row
    if any(costs["tokens"].values()):
        row["index tokens"] = _in_and_out(costs["tokens"]), "in + out"
        row["index seconds"] = _number(costs["seconds"], ",.1f")
    if costs["bytes"] is not None:
        row["index MB"] = _number(costs["bytes"] / 1e6, ",.1f")
    row["index nodes"] = f"{costs['nodes']:,}", f"{costs['relationships']:,} edges"
    return row


def describe_plans(evaluation: Evaluation) -> str:
    """Return the source of plans, and the number of questions with a plan."""
    source = evaluation.settings["plans"]
    parts = []
    for name, summary in evaluation.strategies.items():
        asked = summary["n"]
        number = asked - summary["failed"] - summary["plans"].get("none", 0)
        if number:
            parts.append(f"{name} {number:,} of {asked:,}")
    if not parts and source != "none":
        parts.append("no strategy followed one")
    description = _SOURCES[source]
    if parts:
        description += f" ({', '.join(parts)})"
    return description


def notes(evaluation: Evaluation) -> list[str]:
    """Return the notes that a reader of the figures needs."""
    lines = []
    unread = [failure["reason"] for failure in evaluation.failures if not failure["strategy"]]
    if unread:
        records = _count(len(unread), "record")
        lines.append(f"{records} could not be read as questions; the first: {unread[0]}")
    for name, summary in evaluation.strategies.items():
        ran = Counter(question["strategies"][name].get("ran") for question in evaluation.questions)
        del ran[None], ran[name.partition(" ")[0]]
        lines += [f"{name} ran as {other} for {_count(ran[other])}" for other in sorted(ran)]
        for key, text in _NOTES.items():
            if summary[key]:
                lines.append(f"{name}: {text.format(_count(summary[key]))}")
    ranks: list[int | None] = []
    for question in evaluation.questions:
        for row in question["strategies"].values():
            if not row["error"]:
                ranks += row["ranks"]
    if not any(summary["with_gold"] for summary in evaluation.strategies.values()):
        lines.append("The questions name no gold passages: there is no recall")
    elif ranks and not any(ranks):
        lines.append("Not one gold passage was found: does the memory hold the corpus of these questions?")
    if judge := evaluation.settings.get("judge"):
        model = judge["model"]
        lines.append(
            f"LR-1 (strict), LR-2 (partial credit) and coverage of long answers are judged by {model}, which "
            f"took {_in_and_out(judge['tokens'])} tokens (in + out), in no other figure"
        )
        if judge["unjudged"]:
            answers = _count(judge["unjudged"], "answer")
            lines.append(f"{model} gave no verdict on {answers}: in LR-1 and LR-2 they count nowhere")
    index = evaluation.settings.get("index_tokens")
    if index is not None:
        lines.append(f"tokens/right also counts the {index:,} tokens of the loads, in equal shares")
    first, last = evaluation.settings["gswgraph"], evaluation.settings["versions"]["gswgraph"]
    if first != last:
        lines.append(f"Begun with gswgraph {first}, and ended with {last}")
    return lines


def _in_and_out(tokens: Summary) -> str:
    return f"{tokens.get('in', 0):,.0f} + {tokens.get('out', 0):,.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _count(number: int, noun: str = "question") -> str:
    ending = "" if number == 1 else "s"
    return f"{number:,} {noun}{ending}"


def _share(summary: Summary, metric: str) -> Cell:
    """Return a figure in percent with its interval; an evaluation of another version may not have it."""
    name, has_k, k = metric.partition("@")
    value = summary.get(name)
    if has_k:
        value = (value or {}).get(k)
    if value is None:
        return _NONE
    limits = summary["intervals"].get(metric, ())
    return _percent(value), "-".join(map(_percent, limits))


def _part(summary: Summary, name: str, of: str) -> Cell:
    abstention = summary["abstention"]
    if not abstention or not abstention[of]:
        return _NONE
    return _percent(abstention[name]), f"of {abstention[of]:,}"


def _number(value: float | None, form: str = ",.0f") -> Cell:
    return _NONE if value is None else (format(value, form), "")
