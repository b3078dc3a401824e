"""What PropRAG is worth on a question set, constant by constant, and what tuning would honestly give: no
database, the same code.

    python bench/proprag.py WORKSPACES.jsonl QUESTIONS.json [--memory URL] [--exact]

WORKSPACES: ready workspaces, one passage each; QUESTIONS in the shape of MuSiQue. Recall@k: share of a
question's gold passages in the first k.
--memory, which holds the workspaces: the strategies as they are asked, with gold plans where they follow one,
and their time as a ratio to that of `dense`.
--exact: also the recipes that embed paths, which takes minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np

from gsw_graph import Memory, loaders
from gsw_graph.config import Settings
from gsw_graph.extract import rules
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.model import Workspace
from gsw_graph.names import normalise
from gsw_graph.retrieve.names import graph as name_graph
from gsw_graph.retrieve.propositions import graph as proposition_graph
from gsw_graph.retrieve.propositions.cache import compared
from gsw_graph.retrieve.propositions.passages import best_passages
from gsw_graph.retrieve.propositions.walk_graph import alone, with_names
from gsw_graph.retrieve.recipes import (
    LINKED,
    PAPER,
    PROPOSITION_RECIPES,
    QUICK,
    EdgeWeights,
    PropositionRecipe,
)

CONSTANTS: dict[str, tuple[Any, ...]] = {  # fields of a recipe
    "width": (2, 4, 8), "length": (1, 2, 3, 4), "jumps": (0, 3, 10), "coherence": (-1.0, 0.075, 0.2), "focus": (25, 50, 100), "propositions": (5, 10, 20),
    "passage_weight": (0.0, 0.05, 0.2), "focus_passage_weight": (0.0, 0.05, 0.2), "damping": (0.5, 0.75, 0.9), "focus_damping": (0.3, 0.45, 0.75, 0.9),
    "path_entities": (3, 5, 10), "first_entities": (0, 5, 10), "linked_mass": (0.0, 1.0, 4.0, 8.0), "preference": (0.0, 3.0, 5.0),
    "weights": (EdgeWeights(2, 1, 2), EdgeWeights(1, 1, 1), EdgeWeights(0.5, 0.5, 0.5), EdgeWeights(0, 0.5, 0.5), EdgeWeights(0.5, 0.5, 0)),
}  # fmt: skip


class Bench:
    def __init__(self, workspaces: Path, questions: Path) -> None:
        self.asked = json.loads(questions.read_text("utf-8"))
        made = [item for item in loaders.read([str(workspaces)]) if isinstance(item, Workspace)]
        random.Random(0).shuffle(made)  # what stands side by side in a file is often of one question
        texts = [w.document.passages[0].full_text for w in made]
        self.ids = {w.document.passage_id(0): n for n, w in enumerate(made)}
        place = {text: n for n, text in enumerate(texts)}
        wanted = (
            (f"{p['title']}\n{p['paragraph_text']}" for p in q["paragraphs"] if p["is_supporting"])
            for q in self.asked
        )
        self.gold = [{place[text] for text in some if text in place} for some in wanted]
        self.embedder = Embedder.load(Settings.from_env())
        self.facts = [
            (n, f.text, list(dict.fromkeys(normalise(name) for name, _ in f.mentions)))
            for n, w in enumerate(made)
            for f in w.propositions
        ]
        self.of_passages, self.of_facts = (
            self.embedder.encode(texts),
            self.embedder.encode([text for _, text, _ in self.facts]),
        )
        self.questions = self.embedder.encode_query([q["question"] for q in self.asked])
        inside: list[list[int]] = [[] for _ in made]
        for n, (passage, _, _) in enumerate(self.facts):
            inside[passage].append(n)
        rows = (  # `build` takes an array as well
            (
                str(p),
                [str(n) for n in some],
                cast("Sequence[Sequence[float]]", self.of_facts[some]),
                [self.facts[n][2] for n in some],
            )
            for p, some in enumerate(inside)
        )
        self.graph = compared(proposition_graph.build(rows), self.embedder.encode).graph
        found = [rules.extract(w.document) for w in made]
        plain = [[e for e in w.entities if not e.from_] for w in found]
        self.named = name_graph.build(
            (str(n), [e.key for e in names], [bool(e.titles) for e in names]) for n, names in enumerate(plain)
        )
        self.again: dict[str, np.ndarray] = {}

    def near(self, vector: np.ndarray, vectors: np.ndarray, k: int) -> list[tuple[str, float]]:
        cosines = vectors @ vector
        return [(str(n), float(cosines[n])) for n in np.argsort(-cosines, kind="stable")[:k]]

    def embed(self, texts: list[str]) -> np.ndarray:
        if new := [text for text in dict.fromkeys(texts) if text not in self.again]:
            self.again.update(zip(new, self.embedder.encode(new), strict=True))
        return np.array([self.again[text] for text in texts])

    def proprag(self, recipe: PropositionRecipe) -> np.ndarray:
        walk_graph = (
            with_names(self.graph, self.named, recipe.weights)
            if recipe.names
            else alone(self.graph, recipe.weights)
        )

        def encode(paths: Sequence[Sequence[str]]) -> np.ndarray:
            return self.embed([" ".join(self.facts[int(n)][1] for n in path) for path in paths])

        ranked = []
        for question, vector in zip(self.asked, self.questions, strict=True):
            near, facts = (
                self.near(vector, self.of_passages, recipe.nearest),
                self.near(vector, self.of_facts, recipe.propositions),
            )
            ranked.append(
                best_passages(
                    walk_graph,
                    question["question"],
                    vector,
                    near,
                    facts,
                    10,
                    recipe,
                    encode=encode if recipe.exact else None,
                ).passages
            )
        return self.recall(ranked)

    def recall(self, ranked: list[list[str]]) -> np.ndarray:
        """(questions, 3): recall@2, @5, @10."""
        return np.array(
            [
                [len({int(p) for p in r[:k]} & g) / len(g) for k in (2, 5, 10)]
                for r, g in zip(ranked, self.gold, strict=True)
                if g
            ]
        )


def line(name: str, recall: np.ndarray) -> None:
    two, five, ten = recall.mean(axis=0)
    draws = np.random.default_rng(0).integers(0, len(recall), (2000, len(recall)))
    low, high = np.quantile(recall[draws, 1].mean(axis=1), (0.025, 0.975))
    print(f"{name:50s} recall@2 {two:.3f}  @5 {five:.3f} [{low:.3f}, {high:.3f}]  @10 {ten:.3f}", flush=True)


def held_out(name: str, scores: np.ndarray) -> None:
    """scores: (settings, questions), recall@5. What the best setting of a random half gives on the other
    half."""
    found = []
    for draw in range(1000):
        train, test = np.array_split(np.random.default_rng(draw).permutation(scores.shape[1]), 2)
        found.append(scores[scores[:, train].mean(axis=1).argmax(), test].mean())
    means = scores.mean(axis=1)
    spread = f"recall@5 mean {means.mean():.3f}, least {means.min():.3f}, most {means.max():.3f}"
    print(
        f"{name}: {len(scores)} settings: {spread}; held out {statistics.fmean(found):.3f} +- "
        f"{statistics.stdev(found):.3f}",
        flush=True,
    )


def strategies(bench: Bench, url: str) -> None:
    with Memory.open(url) as memory:
        names = [
            "dense",
            "linked",
            "proprag",
            "proprag-linked",
            "fusion",
            "ricr, gold plan",
            "fusion, gold plan",
        ]
        seconds: dict[str, list[float]] = {name: [] for name in names}
        ranked: dict[str, list[list[str]]] = {name: [] for name in names}
        for turn, question in enumerate(
            [bench.asked[0], *bench.asked]
        ):  # the first ask makes what is made once
            for name in names:
                plan = question["question_decomposition"] if "plan" in name else None
                start = perf_counter()
                found = memory.ask(
                    question["question"],
                    strategy=name.partition(",")[0],
                    plan=plan,
                    k=10,
                    answer=False,
                    llm=False,
                    keep=False,
                )
                if turn:
                    seconds[name].append(perf_counter() - start)
                    ranked[name].append([str(bench.ids[p.id]) for p in found.passages])
        for name in names:
            line(
                f"{name}: {statistics.fmean(seconds[name]) / statistics.fmean(seconds['dense']):.2f} x the "
                "time of dense",
                bench.recall(ranked[name]),
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspaces", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--memory")
    parser.add_argument("--exact", action="store_true")
    arguments = parser.parse_args()
    bench = Bench(arguments.workspaces, arguments.questions)
    for name, recipe in {**PROPOSITION_RECIPES, "paper, no path embedded": replace(PAPER, exact=0)}.items():
        if arguments.exact or not recipe.exact:
            line(name, bench.proprag(recipe))
    for title, base in (("quick", QUICK), ("linked", LINKED)):
        for name, values in CONSTANTS.items():
            for value in values:
                if title == "linked" or name not in ("linked_mass", "preference"):
                    mark = " (in use)" if value == getattr(base, name) else ""
                    line(f"{title}: {name} {value}{mark}", bench.proprag(replace(base, **{name: value})))
    grid = itertools.product((0.75, 0.9), (0.45, 0.9), (0.0, 3.0), (50, 100), CONSTANTS["weights"][:4])
    some = [
        replace(LINKED, damping=a, focus_damping=b, preference=c, focus=d, weights=w, steps=100)
        for a, b, c, d, w in grid
    ]
    held_out("linked", np.array([bench.proprag(recipe)[:, 1] for recipe in some]))
    if arguments.memory:
        strategies(bench, arguments.memory)


if __name__ == "__main__":
    main()
