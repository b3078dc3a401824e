"""How sure `linked` is that the memory holds what a question needs (`names.rerank.CONFIDENCE`), fitted on sets of
questions that are each asked twice: with all passages, and without those that answer it.

    python bench/linked_confidence.py ../shared/data/musique ../shared/data/hotpotqa ../shared/data/2wiki \
        bench/data/conversations

Folders as of bench/linked_order.py; at most --most questions of each, each set with the same weight. AUROC is
measured on each set by weights that were fitted on the others. Refused: the shares below the threshold of
--strict, of questions with their passages and without them, by the weights of all sets.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from linked_order import RECIPE, Corpus
from scipy.optimize import minimize

from gsw_graph.ask.answer.chains import DOUBTED_BELOW
from gsw_graph.ask.retrieve.names import rerank
from gsw_graph.ask.retrieve.strategies.linked import SURE_PASSAGES
from gsw_graph.config import Settings
from gsw_graph.model.documents import Passage
from gsw_graph.models.embed.embedder import Embedder

FOLDS = 10
RIDGE = 1e-3
Encode = Callable[[list[str]], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=100)
    arguments = parser.parse_args()
    embedder = Embedder.load(Settings.from_env())
    sets = {folder.name: rows(folder, arguments.most, embedder) for folder in arguments.folders}
    print("| questions | AUROC held out | refused, with their passages | refused, without |")
    print("|---|---|---|---|")
    everywhere = fit(list(sets.values()))
    for name, (there, gone) in sets.items():
        others = fit([some for other, some in sets.items() if other != name])
        a, b = sure(there, others), sure(gone, others)
        auroc = np.mean(a[:, None] > b) + np.mean(a[:, None] == b) / 2
        refused = [np.mean(sure(some, everywhere) < DOUBTED_BELOW) for some in (there, gone)]
        print(f"| {name} | {auroc:.3f} | {refused[0]:.2f} | {refused[1]:.2f} |", flush=True)
    print("titled, coverage, sentence, bias:", np.round(everywhere, 2).tolist())


def rows(folder: Path, most: int, embedder: Embedder) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of each question with its passages, and without them."""
    records = json.loads((folder / "corpus.json").read_text("utf-8"))
    random.Random(0).shuffle(records)
    questions = json.loads((folder / "questions.json").read_text("utf-8"))
    questions = random.Random(1).sample(questions, min(most, len(questions)))
    passages = [Passage(record["text"], record["title"], 0) for record in records]
    vectors = embedder.encode([passage.full_text for passage in passages])
    whole = Corpus(passages, vectors)
    there = ask(whole, questions, embedder)
    gone = np.zeros_like(there)
    gold = [
        {
            whole.place[f"{p['title']}\n{p['paragraph_text']}"]
            for p in question["paragraphs"]
            if p["is_supporting"]
        }
        for question in questions
    ]
    for fold in range(FOLDS):  # those of a tenth of the questions at once: a graph for each would take hours
        own = list(range(fold, len(questions), FOLDS))
        without = set().union(*(gold[n] for n in own))
        kept = [n for n in range(len(passages)) if n not in without]
        part = Corpus([passages[n] for n in kept], vectors[kept])
        gone[own] = ask(part, [questions[n] for n in own], embedder)
    return there, gone


def ask(corpus: Corpus, questions: Sequence[dict[str, Any]], embedder: Embedder) -> np.ndarray:
    """Return (questions, 3), the features of `rerank.confidence`."""
    texts = [question["question"] for question in questions]
    rows = []
    for text, near, passages, mentions in corpus.candidates(texts, embedder):
        terms = rerank.QueryTerms(text, list(map(rerank.text_of, passages)))
        names = [mention.key for mention in mentions]
        specificity = corpus.graph.specificity(names, RECIPE.rerank.unnamed)
        order, _ = rerank.rerank(corpus.graph, terms, passages, near, specificity, RECIPE.rerank)
        rows.append(
            rerank.confidence_features(
                corpus.graph, names, terms, [passages[n] for n in order[:SURE_PASSAGES]]
            )
        )
    return np.array(rows)


def fit(sets: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the weights of the features, and the bias."""
    x = np.concatenate([some for both in sets for some in both])
    answerable = np.concatenate([np.full(len(some), n == 0) for both in sets for n, some in enumerate(both)])
    share = np.concatenate([np.full(len(some), 1 / len(some)) for both in sets for some in both])
    share /= share.sum()
    spread = x.std(axis=0)
    columns = np.column_stack([x / spread, np.ones(len(x))])

    def loss(weights: np.ndarray) -> float:
        logits = (columns @ weights) * np.where(answerable, 1, -1)
        return float(share @ np.log1p(np.exp(-logits)) + RIDGE * (weights[:-1] @ weights[:-1]))

    weights = minimize(loss, np.zeros(columns.shape[1]), method="L-BFGS-B").x
    return np.append(weights[:-1] / spread, weights[-1])


def sure(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-(x @ weights[:-1] + weights[-1]))))


if __name__ == "__main__":
    main()
