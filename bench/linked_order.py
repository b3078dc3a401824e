"""The weights by which `linked` puts passages in order (`RerankRecipe`), fitted on several sets of questions,
and what they are worth on questions they were not fitted on: no database, the same code.

    python bench/linked_order.py ../shared/data/musique ../shared/data/hotpotqa ../shared/data/2wiki \
        bench/data/conversations --lower ../shared/data/musique

Each folder: corpus.json [{title, text}] and questions.json in the shape of MuSiQue. Corpora are shuffled, as
neighbours in a file must not help. Each set is asked twice: over its own passages, and over the passages of
all sets together, a larger memory of which most is beside the question. A softmax regression, in which each
set has the same weight; held out: five folds of questions, twice, a question in the same fold for both
corpora. "One walk" is `linked[bridges.names=0,rerank.passages=0]`. Given --without, features are left out, and
the last column alone says what they are worth. Given --lower, the sets of these folders are used in small letters
too, where rules find no names but titles.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from gsw_graph.ask.retrieve.names.graph import NameGraph, build
from gsw_graph.ask.retrieve.names.linking import Mention
from gsw_graph.ask.retrieve.names.rerank import (
    WALK_FEATURES,
    WORD_FEATURES,
    QueryTerms,
    bridge_entities,
    features,
    text_of,
)
from gsw_graph.ask.retrieve.names.walk import WalkResult, rank_passages
from gsw_graph.ask.retrieve.recipes import LinkedRecipe
from gsw_graph.config import Settings
from gsw_graph.extract import rules
from gsw_graph.model.documents import Document, Passage
from gsw_graph.model.results import RankedPassage
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store.rows import TITLE_WEIGHT
from gsw_graph.text.words import FUNCTION_WORDS, stem

RECIPE = LinkedRecipe()
FEATURES = WALK_FEATURES + WORD_FEATURES
RIDGE = 1e-3  # of the weights in units of each feature's spread
FOLDS, ROUNDS = 5, 2


@dataclass
class Asked:
    """A set of questions over a corpus: for each question the features of its candidates, which of them are
    gold, how many are; and recall@5 of dense and of the two walks."""

    candidates: list[np.ndarray]
    gold: list[np.ndarray]
    wanted: list[int]
    dense: np.ndarray
    bm25: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def recall(self, weights: np.ndarray) -> np.ndarray:
        ranks = [np.argsort(-(x @ weights), kind="stable")[:5] for x in self.candidates]
        return np.array([g[f].sum() / n for f, g, n in zip(ranks, self.gold, self.wanted, strict=True)])


class Corpus:
    """Passages as a memory holds them."""

    def __init__(self, passages: Sequence[Passage], vectors: np.ndarray) -> None:
        documents = [Document(str(n), p.title, (p,), "corpus") for n, p in enumerate(passages)]
        self.passages, self.vectors = documents, vectors
        self.place = {p.full_text: n for n, p in enumerate(passages)}
        workspaces = [rules.extract(document) for document in documents]
        self.graph: NameGraph = build(
            (w.document.source, [e.key for e in names], [TITLE_WEIGHT if e.titles else 1.0 for e in names])
            for w in workspaces
            for names in [[entity for entity in w.entities if not entity.from_]]
        )

    def ranked(self, ids: Sequence[str], scores: Sequence[float]) -> list[RankedPassage]:
        sentences = [(self.passages[int(i)].passages[0], i) for i in ids]
        return [
            RankedPassage(i, p.title, p.text, i, i, score)
            for (p, i), score in zip(sentences, scores, strict=True)
        ]

    def bm25(self, questions: Sequence[str]) -> list[list[int]]:
        """The first five passages for each question by Okapi BM25 over stems, k1 1.2 and b 0.75."""
        texts = [Counter(_stems(d.passages[0].full_text)) for d in self.passages]
        lengths = np.array([sum(words.values()) for words in texts])
        length = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
        places: dict[str, list[tuple[int, int]]] = {}
        for n, words in enumerate(texts):
            for word, count in words.items():
                places.setdefault(word, []).append((n, count))
        rankings = []
        for question in questions:
            scores = np.zeros(len(texts))
            for word in set(_stems(question)) & places.keys():
                where, counts = np.array(places[word]).T
                rarity = np.log(1 + (len(texts) - len(where) + 0.5) / (len(where) + 0.5))
                scores[where] += rarity * 2.2 * counts / (counts + length[where])
            rankings.append(np.argsort(-scores, kind="stable")[:5].tolist())
        return rankings

    def walks(
        self, texts: Sequence[str], embedder: Embedder
    ) -> tuple[list[list[tuple[str, float]]], list[WalkResult], list[WalkResult]]:
        """Return for each question the passages near it, what the first walk found, and what both did."""
        near = nearest(embedder.encode_query(texts), self.vectors, RECIPE.walk.nearest)
        most = RECIPE.rerank.passages
        firsts = [
            rank_passages(self.graph, [(text, some)], most, RECIPE.walk)
            for text, some in zip(texts, near, strict=True)
        ]
        further = []
        for text, walked in zip(texts, firsts, strict=True):
            passages = self.ranked(walked.passages, walked.scores)[: RECIPE.bridges.passages]
            names = bridge_entities(self.graph, text, passages, RECIPE.bridges)
            further.append(" ".join([text, *names]))
        others = nearest(embedder.encode_query(further), self.vectors, RECIPE.bridges.nearest)
        seconds = [
            rank_passages(self.graph, [(text, some), (more, more_near)], most, RECIPE.walk)
            if more != text
            else walked
            for text, some, more, more_near, walked in zip(texts, near, further, others, firsts, strict=True)
        ]
        return near, firsts, seconds

    def candidates(
        self, texts: Sequence[str], embedder: Embedder
    ) -> Iterator[tuple[str, list[tuple[str, float]], list[RankedPassage], list[Mention]]]:
        """Yield each question with the passages near it, those that are put in order, and its names."""
        for text, near, first, second in zip(texts, *self.walks(texts, embedder), strict=True):
            best = [i for i, _ in near[: RECIPE.rerank.passages] if i not in second.passages]
            least = min(second.scores, default=0.0)
            passages = self.ranked([*second.passages, *best], [*second.scores, *[least] * len(best)])
            yield text, near, passages, first.mentions

    def ask(self, questions: Sequence[dict[str, Any]], embedder: Embedder) -> Asked:
        texts = [q["question"] for q in questions]
        near, firsts, seconds = self.walks(texts, embedder)
        gold = [
            {
                self.place[text]
                for p in q["paragraphs"]
                if p["is_supporting"]
                and (text := Passage(p["paragraph_text"], p["title"], 0).full_text) in self.place
            }
            for q in questions
        ]
        candidates, numbers = [], []
        for text, some, passages, mentions in self.candidates(texts, embedder):
            terms = QueryTerms(text, list(map(text_of, passages)))
            specificity = self.graph.specificity([m.key for m in mentions], RECIPE.rerank.unnamed)
            share = [specificity] * len(WALK_FEATURES) + [1 - specificity] * len(WORD_FEATURES)
            candidates.append(features(self.graph, passages, some, terms, RECIPE.rerank) * share)
            numbers.append([int(passage.id) for passage in passages])
        ids = [[int(i) for i in walked.passages] for walked in seconds]
        return Asked(
            candidates,
            [np.array([i in g for i in some], dtype=float) for some, g in zip(numbers, gold, strict=True)],
            [len(g) for g in gold],
            share_found([[int(i) for i, _ in some] for some in near], gold),
            share_found(self.bm25(texts), gold),
            share_found([[int(i) for i in walked.passages] for walked in firsts], gold),
            share_found(ids, gold),
        )


def nearest(questions: np.ndarray, passages: np.ndarray, k: int) -> list[list[tuple[str, float]]]:
    """Return for each question its nearest passages, best first, with their cosine."""
    return [
        [(str(i), float(row[i])) for i in np.argsort(-row, kind="stable")[:k]]
        for row in questions @ passages.T
    ]


def _stems(text: str) -> list[str]:
    return [stem(word) for word in re.findall(r"\w+", text.casefold()) if word not in FUNCTION_WORDS]


def share_found(ranked: Sequence[Sequence[int]], gold: Sequence[set[int]]) -> np.ndarray:
    """Recall@5 of each question."""
    return np.array([len(set(r[:5]) & g) / len(g) for r, g in zip(ranked, gold, strict=True)])


def fit(sets: Sequence[Asked], kept: Sequence[np.ndarray]) -> np.ndarray:
    """Weights that make gold passages likely in the softmax over the candidates of their question; of each
    set the questions `kept`."""
    rows = [
        (x, g / g.sum(), 1 / len(some))
        for part, some in zip(sets, kept, strict=True)
        for n in some
        for x, g in [(part.candidates[n], part.gold[n])]
        if g.any()
    ]
    spread = np.concatenate([x for x, _, _ in rows]).std(axis=0)
    spread[spread == 0] = 1
    ends = np.cumsum([0, *(len(x) for x, _, _ in rows)])[:-1]
    x = np.concatenate([x for x, _, _ in rows]) / spread
    gold = np.concatenate([g for _, g, _ in rows])
    lengths = np.diff([*ends, len(x)])
    share = np.repeat([s for _, _, s in rows], lengths)
    share /= share[ends].sum()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = x @ weights
        logits -= np.repeat(np.maximum.reduceat(logits, ends), lengths)
        logs = logits - np.repeat(np.log(np.add.reduceat(np.exp(logits), ends)), lengths)
        value = -(share * gold * logs).sum() + RIDGE * (weights @ weights)
        return value, (share * (np.exp(logs) - gold)) @ x + 2 * RIDGE * weights

    minimum = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B")
    return np.asarray(minimum.x / spread)


def held_out(own: Sequence[Asked], together: Sequence[Asked]) -> list[np.ndarray]:
    """Recall@5 of each set over its own passages, then over all, by weights fitted on other questions."""
    both = [*own, *together]
    recalls = [np.zeros(len(part.gold)) for part in both]
    rng = np.random.default_rng(0)
    for _ in range(ROUNDS):
        folds = [rng.permutation(len(part.gold)) % FOLDS for part in own] * 2
        for fold in range(FOLDS):
            weights = fit(both, [np.flatnonzero(f != fold) for f in folds])
            for recall, part, f in zip(recalls, both, folds, strict=True):
                recall[f == fold] += part.recall(weights)[f == fold] / ROUNDS
    return recalls


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--lower", type=Path, nargs="*", default=[])
    parser.add_argument("--without", nargs="*", default=[], choices=FEATURES)
    arguments = parser.parse_args()
    embedder = Embedder.load(Settings.from_env())
    passages, questions = [], []
    folders = [(f, False) for f in arguments.folders] + [(f, True) for f in arguments.lower]
    for folder, lower in folders:
        records = read(folder / "corpus.json", lower)
        random.Random(0).shuffle(records)
        passages.append([Passage(r["text"], r["title"], 0) for r in records])
        questions.append(read(folder / "questions.json", lower))
    vectors = [embedder.encode([p.full_text for p in some]) for some in passages]
    own = [
        Corpus(some, passage_vectors).ask(part, embedder)
        for some, passage_vectors, part in zip(passages, vectors, questions, strict=True)
    ]
    all_of_them = [p for some in passages for p in some]
    once = sorted({p.full_text: n for n, p in enumerate(all_of_them)}.values())
    everything = Corpus([all_of_them[n] for n in once], np.concatenate(vectors)[once])
    together = [everything.ask(part, embedder) for part in questions]
    kept = [n for n, name in enumerate(FEATURES) if name not in arguments.without]
    for part in (*own, *together):
        part.candidates = [x[:, kept] for x in part.candidates]
    weights = fit([*own, *together], [np.arange(len(part.gold)) for part in (*own, *together)])
    current = np.array([getattr(RECIPE.rerank, FEATURES[n]) for n in kept])
    fitted = ", ".join(f"{FEATURES[n]} {w:.2f}" for n, w in zip(kept, weights, strict=True))
    print(f"Fitted on all questions: {fitted}\n")
    print("| questions, passages | dense | BM25 | one walk | two walks | `linked` | held out |")
    print("|---|---|---|---|---|---|---|")
    sizes = [f"{len(some):,}" for some in passages] + [f"{len(once):,}"] * len(own)
    names = [f.name + lower * " in small letters" for f, lower in folders] * 2
    rows = []
    for name, size, part, out in zip(names, sizes, [*own, *together], held_out(own, together), strict=True):
        columns = (part.dense, part.bm25, part.first, part.second, part.recall(current), out)
        rows.append([float(column.mean()) for column in columns])
        print(line(f"{len(out)} of {name}, {size}", rows[-1]))
    print(line("mean, own passages", np.mean(rows[: len(own)], axis=0)))
    print(line("mean, all passages", np.mean(rows[len(own) :], axis=0)))


def read(file: Path, lower: bool) -> Any:
    """Return what a file of JSON holds, in small letters where that is wanted."""
    text = file.read_text("utf-8")
    return json.loads(text.lower() if lower else text)


def line(name: str, values: Sequence[float] | np.ndarray) -> str:
    return f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |"


if __name__ == "__main__":
    main()
