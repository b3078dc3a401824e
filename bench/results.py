"""`docs/results.md` from finished runs of `gswgraph eval`: the table that says which strategy `auto` takes.

    gswgraph eval QUESTIONS --strategy linked,fusion --plans none --out build/results/none
    gswgraph eval QUESTIONS --strategy ricr,fusion --plans gold --out build/results/gold
    python bench/results.py build/results/none build/results/gold > docs/results.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HEAD = """# Results

Strategies side by side, by `gswgraph eval`; this page is written by `bench/results.py` from its results. `auto` takes what is best here for what
a memory holds: `fusion` where there are question-answer pairs, or a plan, else `linked`. How the figures are counted:
[evaluation.md](evaluation.md). They are of one set of questions, on which the constants of `linked`, of a pair's score and of `fusion` were chosen;
held-out estimates: [linked.md](linked.md), [ricr.md](ricr.md), [proprag.md](proprag.md).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    folders = parser.parse_args().folders
    print(HEAD)
    for folder in folders:
        print(section(json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))))


def section(results: dict[str, Any]) -> str:
    """The table of one run."""
    settings, strategies = results["settings"], results["strategies"]
    held = ", ".join(f"{count:,} {label}" for label, count in settings["memory"]["nodes"].items() if count and label in ("Passage", "QAPair", "Proposition"))
    lines = [
        f"## Plans: {settings['plans']}",
        f"{settings['questions']['n']} questions, {held}, {settings['memory']['engine']}, embedder {settings['memory']['embedder']}.",
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
            f"| `{name}` | {recall['2']:.3f} | {recall['5']:.3f} [{low:.3f}, {high:.3f}] | {recall['10']:.3f} | {found['all_gold']['5']:.3f} | {f1} "
            f"| {found['ms']['mean']:.0f} | {times} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
