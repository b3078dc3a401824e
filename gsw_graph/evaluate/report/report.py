"""The report as one HTML file: its values and plots; `report.html.j2` lays them out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gsw_graph.evaluate.evaluation import FILE, Evaluation
from gsw_graph.evaluate.figures.metrics import AT
from gsw_graph.evaluate.report import svg
from gsw_graph.evaluate.report.scatter import Spot, amounts, scatter
from gsw_graph.evaluate.report.tables import figures, main_k, notes, plans_said, points

PAGE = "report.html"


def write(evaluation: Evaluation, folder: str | Path) -> list[Path]:
    """Write `results.json` and `report.html` into a folder; what they hold depends on the evaluation
    alone. The paths of both."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {FILE: json.dumps(evaluation.to_dict(), indent=1) + "\n", PAGE: page(evaluation)}
    for name, text in texts.items():
        part = folder / f"{name}.part"
        part.write_bytes(text.encode("utf-8", "backslashreplace"))
        part.replace(folder / name)
    return [folder / name for name in texts]


def page(evaluation: Evaluation) -> str:
    """The report of an evaluation as an HTML document."""
    loader = PackageLoader("gsw_graph.evaluate.report", "")
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
        plots=[(title, Markup(drawn)) for title, drawn in _plots(evaluation)],  # noqa: S704 - svg.py escapes
        at=main_k(evaluation),
        strategies=list(evaluation.strategies),
        questions=evaluation.questions,
        settings=json.dumps(evaluation.settings, indent=2, ensure_ascii=False),
    )


def _facts(evaluation: Evaluation) -> dict[str, str]:
    settings = evaluation.settings
    asked, memory = settings["questions"], settings["memory"]
    nodes = memory["nodes"]
    return {
        "Questions": f"{asked['n']:,} ({', '.join(asked['shapes'])})",
        "Plans": plans_said(evaluation),
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
    """Titles and what is drawn under them."""
    strategies = evaluation.strategies
    names = list(strategies)
    key = svg.legend(names)
    yield from _economy(evaluation)
    ks = [k for k in AT if any(str(k) in one["recall"] for one in strategies.values())]
    at = main_k(evaluation)
    hops = list(dict.fromkeys(hop for one in strategies.values() for hop in one["by_hops"]))
    if ks:
        for metric, title in (
            ("recall", "Gold passages found among the first k, %"),
            ("all_gold", "Questions with all gold passages among the first k, %"),
        ):
            series = [points(one, [f"{metric}@{k}" for k in ks], name) for name, one in strategies.items()]
            yield title, svg.lines(title, [f"{k}" for k in ks], series) + key
    for metric, title in (
        (f"recall@{at}", f"Recall@{at} by hops, %"),
        ("em", "Exact match by hops, %"),
        ("f1", "F1 by hops, %"),
    ):
        series = [
            [points(one["by_hops"].get(hop), [metric], f"{name}, {hop} hops")[0] for hop in hops]
            for name, one in strategies.items()
        ]
        if hops != ["?"] and any(point for points_ in series for point in points_):
            counts = {
                hop: next(one["by_hops"][hop]["n"] for one in strategies.values() if hop in one["by_hops"])
                for hop in hops
            }
            yield title, svg.bars(title, [f"{hop} (n={counts[hop]})" for hop in hops], series) + key
    for metric in (f"recall@{at}", "f1"):
        differences = [one for one in evaluation.differences if one["metric"] == metric]
        if differences:
            shown = "F1" if metric == "f1" else metric
            title = f"Differences in {shown}, points, with their 95 % intervals (won/equal/lost)"
            yield title, svg.forest(title, [_difference(one) for one in differences])
    times = [
        (name, [(stage, figures["mean"]) for stage, figures in one["ms"]["stages"].items()])
        for name, one in strategies.items()
    ]
    if any(parts for _, parts in times):
        title = "Mean time a question by stage"
        yield title, svg.stacks(title, times)


def _economy(evaluation: Evaluation) -> Iterator[tuple[str, str]]:
    """Quality against tokens and seconds, and what a right answer costs. Quality is F1 or, where nothing is
    answered, recall; tokens only where a model was asked."""
    strategies = evaluation.strategies
    answered = any(one["f1"] is not None for one in strategies.values())
    metric = "f1" if answered else f"recall@{main_k(evaluation)}"
    good = [
        (name, one, place, point)
        for place, (name, one) in enumerate(strategies.items())
        if (point := points(one, [metric], name)[0]) is not None
    ]
    asked = any(one["tokens"]["total"] for one in strategies.values())
    label = "F1" if answered else metric
    key = svg.legend(list(strategies))
    if good and asked:
        title = f"{label}, %, against tokens a question (in + out)"
        spots = [
            Spot(
                name,
                tokens := one["tokens"]["total"] / one["n"],
                replace(point, said=f"{point.said}; {tokens:,.0f} tokens"),
                place,
            )
            for name, one, place, point in good
        ]
        yield title, scatter(title, "tokens a question", spots) + key
    timed = [part for part in good if "mean" in part[1]["ms"]]
    if timed:
        title = f"{label}, %, against seconds a question"
        spots = [
            Spot(
                name,
                seconds := one["ms"]["mean"] / 1000,
                replace(point, said=f"{point.said}; {seconds:.3g} s"),
                place,
            )
            for name, one, place, point in timed
        ]
        yield title, scatter(title, "seconds a question", spots) + key
    cost = [(name, one, place) for place, (name, one) in enumerate(strategies.items()) if one["economy"]]
    if asked and any(one["economy"]["value"] is not None for _, one, _ in cost):
        title = "Tokens for a right answer, weighted by hops (- : none was right)"
        yield title, amounts(title, [(name, one["economy"]["value"], place) for name, one, place in cost])
        hops = list(dict.fromkeys(hop for _, one, _ in cost for hop in one["by_hops"]))
        if len(hops) > 1:
            title = "Tokens for a right answer by hops"
            rows = [
                (f"{hop} hops: {name}", one["by_hops"][hop]["economy"]["value"], place)
                for hop in hops
                for name, one, place in cost
                if hop in one["by_hops"] and one["by_hops"][hop]["economy"]
            ]
            yield title, amounts(title, rows)


def _difference(one: dict[str, Any]) -> tuple[str, svg.Point]:
    mean, low, high = (100 * value for value in (one["mean"], *one["interval"]))
    won, equal, lost = one["above"], one["equal"], one["below"]
    said = f"{mean:+.1f} points [{low:+.1f}, {high:+.1f}], {won} won, {equal} equal, {lost} lost"
    return f"{one['second']} - {one['first']} ({won}/{equal}/{lost})", svg.Point(mean, low, high, said)
