"""The report as one HTML file: no script, nothing fetched, light and dark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from gsw_graph.evaluate import svg
from gsw_graph.evaluate.evaluation import FILE, Evaluation
from gsw_graph.evaluate.metrics import AT
from gsw_graph.evaluate.tables import figures, main_k, notes, plans_said, points

PAGE = "report.html"
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5c6670;--line:#dfe3e8;--back:#fff;--card:#f7f8fa;--good:#009e73;--bad:#d55e00}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#9aa5b1;--line:#343b44;--back:#14171b;--card:#1c2127;--good:#3ac79b;--bad:#f08a4b}}
*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1200px;margin:0 auto;padding:32px 24px 64px}h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:40px 0 10px}
p{margin:6px 0}.soft,figcaption{color:var(--soft)}figcaption{font-size:13px;margin-bottom:6px}
.note{border-left:3px solid var(--bad);padding:2px 12px;margin:10px 0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:10px;margin:18px 0}
.facts div{background:var(--card);border-radius:8px;padding:10px 14px}
.facts b{display:block;font-size:12px;font-weight:500;color:var(--soft)}.facts span{overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}
th,td{padding:6px 10px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{color:var(--soft);font-weight:500;vertical-align:bottom}th:first-child,td:first-child{text-align:left}
td small{color:var(--soft);display:block;font-size:11px}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:20px}
figure{margin:0;background:var(--card);border-radius:8px;padding:14px 16px;min-width:0}
svg{width:100%;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:var(--soft);stroke:none}.grid{stroke:var(--line);fill:none}
.ink{stroke:var(--ink);fill:none}
.legend{font-size:13px;margin:8px 0 0}.key{margin-right:16px;white-space:nowrap}
.key i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px}
.asked td{white-space:normal;text-align:left;vertical-align:top;overflow-wrap:anywhere}.asked th{text-align:left}.asked td{min-width:92px}
.asked td:first-child{min-width:280px}.good{color:var(--good)}
.bad{color:var(--bad)}
details{margin-top:10px}summary{cursor:pointer}pre{background:var(--card);border-radius:8px;padding:14px;overflow:auto;font-size:12px}
@media (max-width:520px){.plots{grid-template-columns:1fr}}
"""


def write(evaluation: Evaluation, folder: str | Path) -> list[Path]:
    """Write `results.json` and `report.html` into a folder; what they hold depends on the evaluation alone. The paths of both."""
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
    asked = evaluation.settings["questions"]
    settings = json.dumps(evaluation.settings, indent=2, ensure_ascii=False)
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>{escape(asked['name'] or 'Evaluation')}</title><style>{_STYLE}</style></head><body><main>",
            f'<h1>Evaluation</h1><p class="soft">{escape(asked["name"])}</p>',
            _facts(evaluation),
            *(f'<p class="note">{escape(note)}</p>' for note in notes(evaluation)),
            "<h2>Figures</h2>",
            _figures(evaluation),
            f'<div class="plots">{"".join(_plots(evaluation))}</div>',
            "<h2>Questions</h2>",
            _questions(evaluation),
            "<h2>Settings</h2>",
            f"<details><summary>All settings and versions</summary><pre>{escape(settings)}</pre></details>",
            "</main></body></html>\n",
        ]
    )


def _facts(evaluation: Evaluation) -> str:
    settings = evaluation.settings
    asked, memory = settings["questions"], settings["memory"]
    known = {
        "Questions": f"{asked['n']:,} ({', '.join(asked['shapes'])})",
        "Plans": plans_said(evaluation),
        "Passages asked for": f"{settings['k']}",
        "Language model": settings["llm"] or "none",
        "Embedder": memory["embedder"] or "none",
        "Reranker": settings["reranker"],
        "Memory": f"{memory['nodes'].get('Passage', 0):,} passages, {memory['nodes'].get('QAPair', 0):,} pairs",
        "Engine": f"{memory['engine']} {memory['engine_version']}",
        "gswgraph": settings["versions"]["gswgraph"],
    }
    cards = (f"<div><b>{name}</b><span>{escape(str(value))}</span></div>" for name, value in known.items())
    return f'<div class="facts">{"".join(cards)}</div>'


def _figures(evaluation: Evaluation) -> str:
    columns, rows = figures(evaluation)
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(_cell(*cell) for cell in row) + "</tr>" for row in rows)
    said = "Shares in percent; small: 95 % interval by bootstrap over the questions. Times are milliseconds a question."
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div><p class="soft">{said}</p>'


def _cell(text: str, small: str) -> str:
    return f"<td>{escape(text)}{f'<small>{escape(small)}</small>' if small else ''}</td>"


def _plots(evaluation: Evaluation) -> Iterator[str]:
    strategies = evaluation.strategies
    names = list(strategies)
    key = svg.legend(names)
    ks = [k for k in AT if any(str(k) in one["recall"] for one in strategies.values())]
    at = main_k(evaluation)
    hops = list(dict.fromkeys(hop for one in strategies.values() for hop in one["by_hops"]))
    if ks:
        for metric, title in (("recall", "Gold passages found among the first k, %"), ("all_gold", "Questions with all gold passages among the first k, %")):
            series = [points(one, [f"{metric}@{k}" for k in ks], name) for name, one in strategies.items()]
            yield _figure(title, svg.lines(title, [f"{k}" for k in ks], series) + key)
    for metric, title in ((f"recall@{at}", f"Recall@{at} by hops, %"), ("em", "Exact match by hops, %"), ("f1", "F1 by hops, %")):
        series = [[points(one["by_hops"].get(hop), [metric], f"{name}, {hop} hops")[0] for hop in hops] for name, one in strategies.items()]
        if hops != ["?"] and any(point for points_ in series for point in points_):
            counts = {hop: next(one["by_hops"][hop]["n"] for one in strategies.values() if hop in one["by_hops"]) for hop in hops}
            yield _figure(title, svg.bars(title, [f"{hop} (n={counts[hop]})" for hop in hops], series) + key)
    for metric in (f"recall@{at}", "f1"):
        differences = [one for one in evaluation.differences if one["metric"] == metric]
        if differences:
            title = f"Differences in {'F1' if metric == 'f1' else metric}, points, with their 95 % intervals (won/equal/lost)"
            yield _figure(title, svg.forest(title, [_difference(one) for one in differences]))
    times = [(name, [(stage, figures["mean"]) for stage, figures in one["ms"]["stages"].items()]) for name, one in strategies.items()]
    if any(parts for _, parts in times):
        title = "Mean time a question by stage"
        yield _figure(title, svg.stacks(title, times))


def _difference(one: dict[str, Any]) -> tuple[str, svg.Point]:
    low, high = one["interval"]
    said = f"{100 * one['mean']:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}], {one['above']} won, {one['equal']} equal, {one['below']} lost"
    return f"{one['second']} - {one['first']} ({one['above']}/{one['equal']}/{one['below']})", svg.Point(100 * one["mean"], 100 * low, 100 * high, said)


def _figure(title: str, drawn: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawn}</figure>"


def _questions(evaluation: Evaluation) -> str:
    names = list(evaluation.strategies)
    at = main_k(evaluation)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    for one in evaluation.questions:
        told = " | ".join(one["answers"]) if one["answerable"] else "not in the corpus"
        hops = "" if one["hops"] is None else f", {one['hops']} hops"
        about = f"<small>{escape(one['key'])}{hops}; gold: {escape(told) or '-'}</small>"
        cells = "".join(_found(one, one["strategies"][name], at) for name in names)
        rows.append(f"<tr><td>{escape(one['question'])}{about}</td>{cells}</tr>")
    said = f"For each strategy: gold passages among the first {at}, the ranks of all that were found, and its answer where it gives one."
    table = f'<div class="wide"><table class="asked"><tr><th>question</th>{head}</tr>{"".join(rows)}</table></div>'
    return f'<p class="soft">{said}</p><details><summary>{len(rows):,} questions</summary>{table}</details>'


def _found(question: dict[str, Any], row: dict[str, Any], at: int) -> str:
    if row["error"]:
        return f'<td class="bad">{escape(row["error"])}</td>'
    parts: list[str] = []
    if question["gold"]:
        found = sum(rank is not None and rank <= at for rank in row["ranks"])
        parts.append(f'<span class="{"good" if found == question["gold"] else "bad"}">{found} of {question["gold"]}</span>')
        parts.append(f"<small>ranks {', '.join('-' if rank is None else str(rank) for rank in row['ranks'])}</small>")
    if row["abstained"] or row["answer"] is not None:
        right = row["em"] == 1 if question["answerable"] else row["abstained"]
        parts.append(f'<span class="{"good" if right else "bad"}">{escape("not in memory" if row["answer"] is None else row["answer"])}</span>')
    if row["note"]:
        parts.append(f'<small class="bad">{escape(row["note"])}</small>')
    return f"<td>{''.join(parts)}</td>"
