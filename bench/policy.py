"""Trains the policy of selections on runs of `gswgraph eval`, and says by held-out folds what it is worth.

    gswgraph eval QUESTIONS --out FOLDER --strategy "pruned, pruned[facts=unique], pruned[facts=drop], ..."
    python bench/policy.py FOLDER... --memory URL [--quality recall@5] [--save policy.json]

Each variant of `pruned` in the folders is a selection that was tried. The memory is the one that was asked; it is
asked once more for the runs of each question, which the features are made of. Utility: --quality (a metric of
the evaluation in [0, 1]) minus --tokens a thousand tokens and --seconds a second. `fixed`: the one selection
that was best for the other folds; `best`: for each question the best that was tried, which no policy can know.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from gsw_graph.ask.policy import CHANNELS, Case, Selection, features, train
from gsw_graph.evaluate import Variant
from gsw_graph.evaluate.evaluation import load
from gsw_graph.evaluate.evaluation import rescored as scored
from gsw_graph.evaluate.metrics import ScoredOutcome, interval, paired
from gsw_graph.memory import Memory


@dataclass(frozen=True, slots=True)
class Utility:
    """U = quality - tokens * thousand tokens - seconds * seconds: of the paper lambda and mu, which it does not
    publish. With these a thousand tokens must be worth a twentieth of a right answer."""

    tokens: float = 0.05
    seconds: float = 0.01

    def of(self, quality: float, tokens: float, seconds: float) -> float:
        """Return the utility; quality in [0, 1]."""
        return quality - self.tokens * tokens / 1000 - self.seconds * seconds


@dataclass(frozen=True)
class HeldOut:
    """Of each case what was worth of it: of the choice of a policy trained without it, of the default, of the one
    selection that was best for the others, and of the best; and the choices."""

    policy: list[float]
    default: list[float]
    fixed: list[float]
    best: list[float]
    choices: list[Selection]


Tried = dict[str, dict[Selection, ScoredOutcome]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--memory", required=True)
    parser.add_argument("--quality", default="recall@5")
    parser.add_argument("--tokens", type=float, default=Utility().tokens, help="lambda, of a thousand")
    parser.add_argument("--seconds", type=float, default=Utility().seconds, help="mu")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--save", type=Path, help="write the policy of all questions to this file")
    options = parser.parse_args()
    utility = Utility(options.tokens, options.seconds)
    tried = of_folders(options.folders)
    with Memory.open(options.memory) as memory:
        cases = [
            Case(
                seen(memory, question),
                {one: worth(row, utility, options.quality) for one, row in rows.items()},
            )
            for question, rows in tried.items()
        ]
    start = perf_counter()
    held = held_out(cases, options.folds)
    took = perf_counter() - start
    print(report(cases, held, utility, options.quality))
    print(f"\n{options.folds} policies trained in {took:.1f} s.")
    if options.save:
        train(cases).save(options.save)


def of_folders(folders: list[Path]) -> Tried:
    """What each selection found for each question."""
    tried: Tried = defaultdict(dict)
    for folder in folders:
        evaluation = load(folder)
        for variant in evaluation.settings["strategies"]:
            if variant["strategy"] == "pruned" and set(variant["settings"]) <= set(CHANNELS):
                for question in evaluation.questions:
                    found = scored(question, variant["name"], evaluation)
                    selection = Selection(**{name: str(variant["settings"][name]) for name in variant["settings"]})
                    tried[question["question"]][selection] = found
    return tried


def seen(memory: Memory, question: str) -> list[float]:
    """The features of a question, all of its runs shown."""
    every = Variant("pruned", dict.fromkeys(CHANNELS, "all")).build()
    found = memory.ask(question, strategy=every, answer=False, llm=False, keep=False, trace=True).to_dict()
    scores: dict[str, list[float]] = defaultdict(list)
    for run in found["trace"]["runs"]:
        scores[run["channel"]].append(run["score"])
    return features(question, scores)


def worth(found: ScoredOutcome, utility: Utility, quality: str) -> float:
    """The utility of what was found; tokens are those of a language model, where one answered."""
    return utility.of(found.get(quality) or 0.0, found.tokens, found.row.seconds.get("total", 0.0))


def held_out(cases: list[Case], folds: int = 5) -> HeldOut:
    """Train on all folds but one and choose for that, fold by fold."""
    if len(cases) < folds or folds < 2:
        raise ValueError(f"{len(cases)} cases do not make {folds} folds")
    order = np.random.default_rng(0).permutation(len(cases))
    chosen: dict[int, tuple[Selection, Selection]] = {}
    for fold in range(folds):
        out = set(order[fold::folds].tolist())
        others = [case for number, case in enumerate(cases) if number not in out]
        tried = {selection: None for case in others for selection in case.utilities}
        fixed = max(tried, key=lambda one: sum(of(case, one) for case in others))
        policy = train(others)
        chosen |= {number: (policy.choose(cases[number].values), fixed) for number in out}
    rows = [(case, *chosen[number]) for number, case in enumerate(cases)]
    return HeldOut(
        [of(case, choice) for case, choice, _ in rows],
        [of(case, Selection()) for case, _, _ in rows],
        [of(case, fixed) for case, _, fixed in rows],
        [max(case.utilities.values()) for case, _, _ in rows],
        [choice for _, choice, _ in rows],
    )


def of(case: Case, selection: Selection) -> float:
    """What a selection was worth; one that was not tried is worth what the default is."""
    return case.utilities.get(selection, case.utilities.get(Selection(), 0.0))


def report(cases: list[Case], held: HeldOut, utility: Utility, quality: str) -> str:
    """Utility held out, in Markdown, and whether the policy is worth having."""
    lines = [
        f"{len(cases)} questions, {len({one for case in cases for one in case.utilities})} selections; "
        f"U = {quality} - {utility.tokens:g} a thousand tokens - {utility.seconds:g} a second.",
        "",
        "| chosen by | U, held out [95 %] |",
        "|---|---|",
    ]
    names = {
        "the policy": held.policy,
        "the default": held.default,
        "one fixed": held.fixed,
        "the best": held.best,
    }
    for name, values in names.items():
        low, high = interval(values) or (0.0, 0.0)
        lines.append(f"| {name} | {sum(values) / len(values):.3f} [{low:.3f}, {high:.3f}] |")
    chosen = Counter("/".join((one.facts, one.answers)) for one in held.choices)
    lines += ["", "Chosen: " + ", ".join(f"{name} {count}" for name, count in chosen.most_common()) + "."]
    found = paired(held.default, held.policy)
    if found is not None:
        low, high = found["interval"]
        verdict = "beats" if low > 0 else "is below" if high < 0 else "does not beat"
        lines.append(f"The policy {verdict} the default: {found['mean']:+.3f} [{low:+.3f}, {high:+.3f}].")
    if len(chosen) == 1:
        lines.append("It is constant.")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
