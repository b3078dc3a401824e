"""Show an evaluation: the table of figures and the notes beside it, and one HTML file with plots."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.evaluate.evaluation import FILE, Evaluation
from gsw_graph.evaluate.metrics import AT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE = "report.html"
Cell = tuple[str, str]  # a figure, and its interval or another small print
_SOURCES = {
    "gold": "gold decomposition",
    "file": "from a file",
    "model": "by the language model",
    "none": "none",
}
# Okabe and Ito's colours, which colour-blind people tell apart
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f")


def write(evaluation: Evaluation, folder: str | Path) -> list[Path]:
    """Write `results.json` and `report.html` into a folder and return their paths; what they hold depends
    on the evaluation alone."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {FILE: json.dumps(evaluation.to_dict(), indent=1) + "\n", PAGE: page(evaluation)}
    for name, text in texts.items():
        part = folder / f"{name}.part"
        part.write_bytes(text.encode("utf-8", "backslashreplace"))
        part.replace(folder / name)
    return [folder / name for name in texts]


def page(evaluation: Evaluation) -> str:
    """Return the report as an HTML document. It has plots where matplotlib (the extra `plots`) is
    installed."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("gsw_graph.evaluate", "")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    columns, rows = figures(evaluation)
    return environment.get_template("report.html.j2").render(
        name=evaluation.settings["questions"]["name"],
        facts=_facts(evaluation),
        notes=notes(evaluation),
        columns=columns,
        rows=rows,
        plots=[(title, Markup(drawn)) for title, drawn in _plots(evaluation)],  # noqa: S704 - matplotlib escapes
        at=main_k(evaluation),
        strategies=list(evaluation.strategies),
        questions=evaluation.questions,
        settings=json.dumps(evaluation.settings, indent=2, ensure_ascii=False),
    )


def main_k(evaluation: Evaluation) -> int:
    """Return the k of the recall that is read first: 5, or less where less was asked for."""
    return max(k for k in AT if k <= min(5, evaluation.settings["k"]))


def figures(evaluation: Evaluation) -> tuple[list[str], list[list[Cell]]]:
    """Return columns and a row for each strategy; columns for which no strategy has a figure are left out."""
    at, summaries = main_k(evaluation), evaluation.strategies.values()
    columns: dict[str, list[Cell]] = {
        "strategy": [(name, "") for name in evaluation.strategies],
        "n": [
            (
                f"{row['n']:,}",
                f"{gold:,} with gold" if (gold := row["with_gold"]) not in (0, row["n"]) else "",
            )
            for row in summaries
        ],
    }
    metrics = [f"recall@{k}" for k in AT if k <= evaluation.settings["k"]]
    metrics += [f"all_gold@{at}", "em", "f1", "lr1", "lr2"]
    labels = {f"all_gold@{at}": f"all gold@{at}", "em": "EM", "f1": "F1", "lr1": "LR-1", "lr2": "LR-2"}
    for metric in metrics:
        columns[labels.get(metric, metric)] = [_share(row, metric) for row in summaries]
    columns["answered"] = [_part(row, "answered", "answerable") for row in summaries]
    columns["abstained"] = [_part(row, "abstained", "unanswerable") for row in summaries]
    columns["tokens"] = [
        (f"{row['tokens'].get('in', 0):,.0f} + {row['tokens'].get('out', 0):,.0f}", "in + out")
        if row["tokens"]["total"]
        else ("-", "")
        for row in summaries
    ]
    columns["tokens/right"] = [
        (f"{row['economy']['value']:,.0f}", "")
        if row["tokens"]["total"] and row["economy"] and row["economy"]["value"] is not None
        else ("-", "")
        for row in summaries
    ]
    for label in ("mean", "p50", "p95"):
        columns[f"{label} ms"] = [
            (f"{row['ms'][label]:.1f}" if label in row["ms"] else "-", "") for row in summaries
        ]
    kept = {label: cells for label, cells in columns.items() if any(text != "-" for text, _ in cells)}
    return list(kept), [list(row) for row in zip(*kept.values(), strict=True)]


def metric_mean(summary: dict[str, Any], metric: str) -> float | None:
    """Return a figure of a summary by the name of its metric."""
    name, _, at = metric.partition("@")
    found: float | None = summary[name].get(at) if at else summary.get(name)  # old results have no lr1
    return found


def describe_plans(evaluation: Evaluation) -> str:
    """Say where plans came from, and for how many questions strategies had one."""
    source = _SOURCES[evaluation.settings["plans"]]
    used = {
        name: sum(number for kind, number in row["plans"].items() if kind != "none")
        for name, row in evaluation.strategies.items()
    }
    if evaluation.settings["plans"] == "none" and not any(used.values()):
        return source
    parts = [f"{name} {n:,} of {evaluation.strategies[name]['n']:,}" for name, n in used.items() if n]
    return f"{source} ({', '.join(parts) or 'no strategy followed one'})"


def notes(evaluation: Evaluation) -> list[str]:
    """Return what a reader must know to read the figures."""
    lines = []
    unread = [failure["reason"] for failure in evaluation.failures if not failure["strategy"]]
    if unread:
        lines.append(
            f"{_count(len(unread), 'record')} could not be read as questions; the first: {unread[0]}"
        )
    for name, summary in evaluation.strategies.items():
        rows = [question["strategies"][name] for question in evaluation.questions]
        ran = Counter(row["ran"] for row in rows if row.get("ran") not in (None, name.partition(" ")[0]))
        lines += [f"{name} ran as {other} for {_count(number)}" for other, number in sorted(ran.items())]
        for key, text in (
            ("failed", "{} could not be asked and counts as not found"),
            (
                "silent",
                "the language model gave no plan or no answer for {}; what was found without it counts",
            ),
            (
                "cached",
                "for {} replies of the language model came from the cache; their tokens and times are those "
                "of when they were asked for",
            ),
        ):
            if summary[key]:
                lines.append(f"{name}: {text.format(_count(summary[key]))}")
    rows = [row for question in evaluation.questions for row in question["strategies"].values()]
    asked = [row["ranks"] for row in rows if not row["error"]]
    if not any(summary["with_gold"] for summary in evaluation.strategies.values()):
        lines.append("The questions name no gold passages: there is no recall")
    elif asked and not any(map(any, asked)):
        lines.append("Not one gold passage was found: does the memory hold the corpus of these questions?")
    if judge := evaluation.settings.get("judge"):
        model, tokens = judge["model"], judge["tokens"]
        lines.append(
            f"LR-1 (strict) and LR-2 (partial credit) are judged by {model}, which took "
            f"{tokens.get('in', 0):,} + {tokens.get('out', 0):,} tokens (in + out), in no other figure"
        )
        if model == evaluation.settings["llm"]:
            lines.append(f"{model} judges answers of its own")
        if judge["unjudged"]:
            answers = _count(judge["unjudged"], "answer")
            lines.append(f"{model} gave no verdict on {answers}: in LR-1 and LR-2 they count nowhere")
    if not evaluation.settings["answer"]:
        lines.append("Passages only: nothing was answered")
    return lines


def _count(number: int, noun: str = "question") -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _share(summary: dict[str, Any], metric: str) -> Cell:
    value, limits = metric_mean(summary, metric), summary["intervals"].get(metric)
    if value is None:
        return "-", ""
    return f"{100 * value:.1f}", f"{100 * limits[0]:.1f}-{100 * limits[1]:.1f}" if limits else ""


def _part(summary: dict[str, Any], name: str, of: str) -> Cell:
    abstention = summary["abstention"]
    if not abstention or not abstention[of]:
        return "-", ""
    return f"{100 * abstention[name]:.1f}", f"of {abstention[of]:,}"


def _facts(evaluation: Evaluation) -> dict[str, str]:
    settings = evaluation.settings
    questions, memory = settings["questions"], settings["memory"]
    nodes = memory["nodes"]
    return {
        "Questions": f"{questions['n']:,} ({', '.join(questions['shapes'])})",
        "Plans": describe_plans(evaluation),
        "Passages asked for": str(settings["k"]),
        "Language model": settings["llm"] or "none",
        **({"Judge of LR-1 and LR-2": settings["judge"]["model"]} if settings.get("judge") else {}),
        "Embedder": memory["embedder"] or "none",
        "Reranker": settings["reranker"],
        "Memory": f"{nodes.get('Passage', 0):,} passages, {nodes.get('QAPair', 0):,} pairs",
        "Engine": f"{memory['engine']} {memory['engine_version']}",
        "gswgraph": settings["versions"]["gswgraph"],
    }


def _plots(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    """Yield titles and plots as inline SVG; nothing where matplotlib is not installed."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        return
    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "gswgraph",
        "text.parse_math": False,
        "font.size": 9,
    }
    for title, draw, height in _drawings(evaluation):
        with mpl.rc_context(style):
            figure = Figure((6.4, height), layout="constrained")
            axes = figure.subplots()
            axes.set_prop_cycle(color=_COLOURS)
            draw(axes)
            if len(handles := axes.get_legend_handles_labels()[0]) > 1:
                axes.legend(fontsize=8, ncols=min(3, len(handles)), loc="best")
            svg = io.StringIO()
            figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None})
        yield title, "<svg" + svg.getvalue().partition("<svg")[2]


def _drawings(evaluation: Evaluation) -> Iterator[tuple[str, Any, float]]:
    """Yield for each plot its title, what draws it on axes, and its height in inches."""
    strategies, at = evaluation.strategies, main_k(evaluation)
    answered = any(row["f1"] is not None for row in strategies.values())
    metric, label = ("f1", "F1") if answered else (f"recall@{at}", f"recall@{at}")
    costs = {
        "tokens a question": [
            row["tokens"]["total"] / row["n"] if row["tokens"]["total"] else None
            for row in strategies.values()
        ],
        "seconds a question": [
            row["ms"]["mean"] / 1000 if "mean" in row["ms"] else None for row in strategies.values()
        ],
    }
    for unit, values in costs.items():
        if any(value is not None for value in values):
            title = f"{label}, %, against {unit}"
            yield (
                title,
                lambda axes, unit=unit, values=values: _scatter(axes, strategies, metric, unit, values),
                3.2,
            )
    ks = [k for k in AT if any(str(k) in row["recall"] for row in strategies.values())]
    for name, title in (
        ("recall", "gold passages found"),
        ("all_gold", "questions with all gold passages found"),
    ):
        if ks:
            groups = {str(k): [(row, f"{name}@{k}") for row in strategies.values()] for k in ks}
            yield f"{title} among the first k, %".capitalize(), _grouped(strategies, groups), 3.0
    counts = {hop: part["n"] for row in strategies.values() for hop, part in row["by_hops"].items()}
    hops = list(counts)
    for name, shown in ((f"recall@{at}", f"Recall@{at}"), ("em", "Exact match"), ("f1", "F1")):
        groups = {
            f"{hop} (n={counts[hop]})": [(row["by_hops"].get(hop), name) for row in strategies.values()]
            for hop in hops
        }
        if hops != ["?"] and any(
            row and metric_mean(row, name) is not None for cells in groups.values() for row, _ in cells
        ):
            yield f"{shown} by hops, %", _grouped(strategies, groups), 3.0
    for name in (f"recall@{at}", "f1"):
        rows = [row for row in evaluation.differences if row["metric"] == name]
        if rows:
            title = f"Differences in {name}, points, with their 95 % intervals (won/equal/lost)"
            yield title, lambda axes, rows=rows: _forest(axes, rows), 0.7 + 0.3 * len(rows)
    if any(row["ms"]["stages"] for row in strategies.values()):
        yield (
            "Mean time a question by stage, ms",
            lambda axes: _stages(axes, strategies),
            0.9 + 0.3 * len(strategies),
        )


def _scatter(
    axes: Axes, strategies: dict[str, Any], metric: str, unit: str, costs: Sequence[float | None]
) -> None:
    for (name, summary), cost in zip(strategies.items(), costs, strict=True):
        value = metric_mean(summary, metric)
        if value is not None and cost is not None:
            low, high = summary["intervals"][metric]
            error = [[100 * (value - low)], [100 * (high - value)]]
            axes.errorbar([cost], [100 * value], yerr=error, fmt="o", label=name)
    axes.set_xlabel(unit)
    known = [cost for cost in costs if cost]
    if known and max(known) > 20 * min(known):
        axes.set_xscale("log")


def _grouped(strategies: dict[str, Any], groups: dict[str, list[tuple[Any, str]]]) -> Any:
    """Return what draws bars in groups, one for each strategy, with their intervals."""

    def draw(axes: Axes) -> None:
        width = 0.8 / len(strategies)
        for place, name in enumerate(strategies):
            bars = []
            for number, cells in enumerate(groups.values()):
                summary, metric = cells[place]
                if summary and (value := metric_mean(summary, metric)) is not None:
                    low, high = summary["intervals"][metric]
                    x = number + (place - (len(strategies) - 1) / 2) * width
                    bars.append((x, 100 * value, 100 * (value - low), 100 * (high - value)))
            if bars:
                x_, heights, below, above = zip(*bars, strict=True)
                colour = _COLOURS[place % len(_COLOURS)]
                axes.bar(x_, heights, width, yerr=[below, above], label=name, color=colour, ecolor="#888")
        axes.set_xticks(range(len(groups)), list(groups))
        axes.set_ylim(0, 100)

    return draw


def _forest(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    for number, row in enumerate(rows):
        mean, (low, high) = 100 * row["mean"], (100 * limit for limit in row["interval"])
        axes.errorbar([mean], [number], xerr=[[mean - low], [high - mean]], fmt="o", color=_COLOURS[0])
    axes.axvline(0, color="#888", linewidth=1)
    labels = [
        f"{row['second']} - {row['first']} ({row['above']}/{row['equal']}/{row['below']})" for row in rows
    ]
    axes.set_yticks(range(len(rows)), labels)
    axes.invert_yaxis()


def _stages(axes: Axes, strategies: dict[str, Any]) -> None:
    stages = dict.fromkeys(stage for row in strategies.values() for stage in row["ms"]["stages"])
    left = [0.0] * len(strategies)
    for stage in stages:
        values = [row["ms"]["stages"].get(stage, {"mean": 0.0})["mean"] for row in strategies.values()]
        axes.barh(list(strategies), values, left=left, label=stage)
        left = [before + value for before, value in zip(left, values, strict=True)]
    axes.invert_yaxis()
