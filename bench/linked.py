"""What `linked` is worth on a question set, what each constant gives, and what tuning would honestly give: no
database, the same code.

    python bench/linked.py CORPUS.json QUESTIONS.json [--settings 60]

CORPUS: [{title, text}]; QUESTIONS in the shape of MuSiQue. Recall@k is the share of a question's gold
passages among the first k, averaged over questions.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from gsw_graph.config import Settings
from gsw_graph.extract import rules
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.model import Document, Entity, Passage, Workspace
from gsw_graph.retrieve.names import graph as name_graph
from gsw_graph.retrieve.names.passages import best_passages
from gsw_graph.retrieve.recipes import WalkRecipe

# Values around the one in use. In capitals what is part of the graph itself, which is kept on disk: no recipe
# has it.
CONSTANTS: dict[str, tuple[float, ...]] = {
    "preference": (0.0, 2.0, 3.0, 4.0, 6.0),
    "passage_mass": (0.0, 0.1, 0.2, 0.3, 0.5),
    "linked_mass": (0.0, 2.0, 4.0, 8.0),
    "title_bonus": (1.0, 2.0, 3.0, 4.0),
    "nearest": (50, 100, 200),
    "best": (1, 3, 5),
    "sharpness": (10.0, 20.0, 30.0),
    "TITLE_WEIGHT": (1.0, 4.0, 8.0, 12.0),
    "CONTAINMENT_WEIGHT": (0.0, 0.1, 0.3, 1.0),
    "restart": (0.05, 0.1, 0.15, 0.3),
    "steps": (8, 15, 30),
}


class Bench:
    def __init__(self, corpus: Path, questions: Path) -> None:
        records, self.asked = json.loads(corpus.read_text("utf-8")), json.loads(questions.read_text("utf-8"))
        random.Random(0).shuffle(records)  # what stands side by side in a file is often of one question
        documents = [
            Document(str(i), r["title"], (Passage(r["text"], r["title"], 0),), "corpus")
            for i, r in enumerate(records)
        ]
        place = {d.passages[0].full_text: i for i, d in enumerate(documents)}
        gold = (
            (
                f"{p['title']}\n{p['paragraph_text']}" if p["title"] else p["paragraph_text"]
                for p in q["paragraphs"]
                if p["is_supporting"]
            )
            for q in self.asked
        )
        self.gold = [{place[text] for text in texts if text in place} for texts in gold]
        workspaces = [rules.extract(document) for document in documents]
        self.rows = [
            (w.document.source, [e.key for e in names], [bool(e.titles) for e in names])
            for w in workspaces
            for names in [plain(w)]
        ]
        self.embedder = Embedder.load(Settings.from_env())
        self.vectors = self.embedder.encode([d.passages[0].full_text for d in documents])
        self.near = nearest(
            self.embedder.encode_query([q["question"] for q in self.asked]), self.vectors, 200
        )

    def dense(self) -> np.ndarray:
        return self.recall([[int(i) for i, _ in near] for near in self.near])

    def linked(self, values: dict[str, float] | None = None, *, whole: bool = True) -> np.ndarray:
        """values: of some of the constants above, by name."""
        of_graph: dict[str, Any] = {name: value for name, value in (values or {}).items() if name.isupper()}
        of_walk: dict[str, Any] = {
            name: value for name, value in (values or {}).items() if not name.isupper()
        }
        recipe = WalkRecipe(**of_walk, whole=10**9 if whole else 0)
        with patch.multiple(name_graph, **of_graph) if of_graph else nullcontext():
            graph = name_graph.build(self.rows)
        found = [
            best_passages(graph, q["question"], near[: recipe.nearest], 10, recipe)
            for q, near in zip(self.asked, self.near, strict=True)
        ]
        return self.recall([[int(i) for i in f.passages] for f in found])

    def recall(self, ranked: list[list[int]]) -> np.ndarray:
        """(questions, 3): recall@2, @5, @10."""
        return np.array(
            [
                [len(set(r[:k]) & g) / len(g) for k in (2, 5, 10)]
                for r, g in zip(ranked, self.gold, strict=True)
                if g
            ]
        )


def nearest(questions: np.ndarray, passages: np.ndarray, k: int) -> list[list[tuple[str, float]]]:
    """For each question its nearest passages, best first, with their cosine."""
    return [
        [(str(i), float(row[i])) for i in np.argsort(-row, kind="stable")[:k]]
        for row in questions @ passages.T
    ]


def plain(workspace: Workspace) -> list[Entity]:
    return [entity for entity in workspace.entities if not entity.from_]


def line(name: str, recall: np.ndarray) -> None:
    two, five, ten = recall.mean(axis=0)
    rng = random.Random(0)
    means = sorted(statistics.fmean(rng.choices(recall[:, 1].tolist(), k=len(recall))) for _ in range(1000))
    print(
        f"{name:34s} recall@2 {two:.3f}  @5 {five:.3f} [{means[25]:.3f}, {means[974]:.3f}]  @10 {ten:.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--settings", type=int, default=60)
    arguments = parser.parse_args()
    bench = Bench(arguments.corpus, arguments.questions)
    line("dense", bench.dense())
    line("linked, whole graph", bench.linked())
    line("linked, neighbourhood", bench.linked(whole=False))
    for name, values in CONSTANTS.items():
        used = getattr(name_graph if name.isupper() else WalkRecipe(), name)
        for value in values:
            line(f"{name} {value}{' (in use)' if value == used else ''}", bench.linked({name: value}))
    rng = random.Random(1)
    grid = []
    for _ in range(arguments.settings):
        some = {
            name: rng.choice(values[1:] if len(values) > 3 else values) for name, values in CONSTANTS.items()
        }
        grid.append(bench.linked(some)[:, 1])
    scores = np.array(grid)
    held = []
    for _ in range(1000):
        order = np.random.default_rng(rng.randrange(2**32)).permutation(scores.shape[1])
        train, test = np.array_split(order, 2)
        held.append(scores[scores[:, train].mean(axis=1).argmax(), test].mean())
    mean = scores.mean(axis=1)
    print(
        f"{len(grid)} random settings: recall@5 mean {mean.mean():.3f}, least {mean.min():.3f}, most "
        f"{mean.max():.3f}"
    )
    print(
        f"tuned on a random half, tested on the other, 1,000 times: {statistics.fmean(held):.3f} +- "
        f"{statistics.stdev(held):.3f}"
    )


if __name__ == "__main__":
    main()
