"""`docs/results.md` from finished runs of `gswgraph eval`: the table that says which strategy `auto` takes.

gswgraph eval QUESTIONS --strategy linked,fusion --plans none --out build/results/none
gswgraph eval QUESTIONS --strategy ricr,fusion --plans gold --out build/results/gold
python bench/linked_order.py ../shared/data/musique ../shared/data/hotpotqa ../shared/data/2wiki > build/linked.md
gswgraph eval QUESTIONS --memory MEMORY --strategy linked,auto --plans none --out build/results/auto/NAME
    (of workspaces linked,fusion,auto; a memory for each corpus)
python bench/results.py build/results/none build/results/gold --linked build/linked.md --auto build/results/auto/* > docs/results.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HEAD = """# Results

Strategies side by side, by `gswgraph eval`; this page is written by `bench/results.py` from its results. `auto` takes what is best here for what
a memory holds: `fusion` where there are question-answer pairs, or a plan, else `linked`, and the paths of `pathwise` for comparisons of names. How the figures are counted:
[evaluation.md](evaluation.md). They are of one set of questions, on which the constants of `linked`, of a pair's score and of `fusion` were chosen;
held-out estimates: below for `linked`, and [linked.md](linked.md), [ricr.md](ricr.md), [proprag.md](proprag.md).
"""
LINKED = """## `linked` on three sets
Recall@5 over plain passages, without plans, pairs or a language model. Each set over its own passages and over those of all three together; the
corpora are shuffled. "One walk" is what `linked` was before November 2026; held out: five folds of questions, twice. BM25 is Okapi's over stems.
`python bench/linked_order.py ../shared/data/musique ../shared/data/hotpotqa ../shared/data/2wiki`

"""
AUTO = """## What `auto` takes without a plan
Recall@5 by what it took, of the same questions. A memory of plain documents for each set, and one of workspaces; `gswgraph eval QUESTIONS --memory MEMORY --strategy linked,auto --plans none --no-answer` (workspaces: `fusion,auto`).

| memory | `auto` took | questions | `linked` | `fusion` | `auto` |
|---|---|---|---|---|---|"""
RECORDED = (
    "drawn at random by number of hops, of the 76; memory as above. The replies were written by strong readers, "
    "each for its request, and recorded (`python bench/recorder.py --record`); tokens are counted as that server "
    "does, and seconds say nothing. What the readers said of their replies: one reader saw several requests of a "
    "question, so that these are not independent of each other; they declined where the lines do not state an "
    "answer in so many words; and three or four search sentences, of `ircot` and one of `grasp`, had a word from elsewhere. `tokens for a "
    "right answer` is weighted by hops. The chains of `ricr` and `fusion` had the score of a pair of then "
    "(before `sort`: ricr.md).\n\n"
    "`grasp` takes 0.66 of the tokens of `ircot` and its F1 is 5.8 points lower, of a paired interval from 20.8 lower "
    "to 10 higher; no two strategies differ by more than chance."
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--linked", type=Path, help="what bench/linked_order.py printed")
    parser.add_argument("--auto", type=Path, nargs="*", help="runs of eval that have `auto` beside others")
    arguments = parser.parse_args()
    print(HEAD)
    if arguments.linked:
        print(LINKED + arguments.linked.read_text(encoding="utf-8"))
    if arguments.auto:
        print(AUTO)
        for folder in arguments.auto:
            print(taken(folder.name, json.loads((folder / "results.json").read_text(encoding="utf-8"))))
        print()
    for folder in arguments.folders:
        print(section(json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))))
    print((Path(__file__).parent / "data" / "reader.md").read_text(encoding="utf-8"), end="")


def recall(ranks: list[int | None]) -> float:
    """The share of what must be found that stands among the first five."""
    return sum(rank is not None and rank <= 5 for rank in ranks) / len(ranks)


def taken(name: str, results: dict[str, Any]) -> str:
    """The rows of one memory: recall@5 of the questions for which `auto` took a strategy, and of all."""
    rows = [one["strategies"] for one in results["questions"]]
    lines = []
    for ran in (*sorted({row["auto"]["ran"] for row in rows}), None):
        some = [row for row in rows if ran in (None, row["auto"]["ran"])]
        cells = [
            f"{sum(recall(row[strategy]['ranks']) for row in some) / len(some):.3f}"
            if strategy in some[0]
            else ""
            for strategy in ("linked", "fusion", "auto")
        ]
        took = f"`{ran}`" if ran else "all"
        lines.append(f"| {name} | {took} | {len(some)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def section(results: dict[str, Any]) -> str:
    """The table of one run."""
    settings, strategies = results["settings"], results["strategies"]
    if settings["llm"]:
        return by_model(results)
    held = ", ".join(
        f"{count:,} {label}"
        for label, count in settings["memory"]["nodes"].items()
        if count and label in ("Passage", "QAPair", "Proposition")
    )
    lines = [
        f"## Plans: {settings['plans']}",
        f"{settings['questions']['n']} questions, {held}, {settings['memory']['engine']}, embedder "
        f"{settings['memory']['embedder']}.",
        "",
        "| strategy | recall@2 | @5 [95 %] | @10 | all of them @5 | F1 | ms, mean | times `dense` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    dense = strategies.get("dense", {}).get("ms", {}).get("mean")
    for name, found in strategies.items():
        recall, (low, high) = found["recall"], found["intervals"]["recall@5"]
        f1 = f"{found['f1']:.2f}" if found["f1"] is not None else ""
        times = f"{found['ms']['mean'] / dense:.1f}" if dense else ""
        lines.append(
            f"| `{name}` | {recall['2']:.3f} | {recall['5']:.3f} [{low:.3f}, {high:.3f}] | "
            f"{recall['10']:.3f} | {found['all_gold']['5']:.3f} | {f1} "
            f"| {found['ms']['mean']:.0f} | {times} |"
        )
    return "\n".join([*lines, ""])


def by_model(results: dict[str, Any]) -> str:
    """The table of a run in which a language model answered; its seconds would be those of who wrote the
    replies."""
    settings = results["settings"]
    lines = [
        f"## With a language model, plans: {settings['plans']}",
        f"{settings['questions']['n']} questions, {RECORDED}",
        "",
        "| strategy | recall@5 [95 %] | EM [95 %] | F1 [95 %] | no answer | tokens a question | tokens for a right "
        "answer |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, found in results["strategies"].items():
        cells = [
            _with_interval(found["recall"]["5"], found["intervals"]["recall@5"]),
            _with_interval(found["em"], found["intervals"]["em"]),
            _with_interval(found["f1"], found["intervals"]["f1"]),
            f"{1 - found['abstention']['answered']:.2f}",
            f"{found['tokens']['in'] + found['tokens']['out']:,.0f}",
            f"{found['economy']['value']:,.0f}" if found["economy"]["value"] is not None else "-",
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _with_interval(value: float, interval: list[float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"


if __name__ == "__main__":
    main()
