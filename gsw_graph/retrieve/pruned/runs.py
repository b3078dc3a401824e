"""The runs of a question: found by symbols, ranked by what they say, chosen by channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.pruned import fine
from gsw_graph.retrieve.pruned.coarse import shortlist

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.pruned.codebook import Codebook
    from gsw_graph.retrieve.pruned.question import Asked
    from gsw_graph.retrieve.recipes import PrunedRecipe


@dataclass(frozen=True, slots=True)
class Scored:
    """Runs by number, best first, with their fine scores. lines: of each the line that is nearest to the
    question, with its cosine."""

    runs: NDArray[np.intp]
    scores: NDArray[np.float64]
    lines: NDArray[np.intp]
    cosines: NDArray[np.float32]


def facts(book: Codebook, asked: Asked, recipe: PrunedRecipe) -> Scored:
    """The best runs of what documents say: `recipe.runs` of them."""
    found, _ = shortlist(book, asked.concepts, asked.relations, recipe)
    return ranked(book, found, asked, recipe)


def ranked(book: Codebook, runs: NDArray[np.intp], asked: Asked, recipe: PrunedRecipe) -> Scored:
    """The `recipe.runs` best of some runs by their fine score."""
    if not len(runs):
        nothing = np.zeros(0, np.intp)
        return Scored(nothing, np.zeros(0), nothing, np.zeros(0, np.float32))
    lines = book.lines(runs)
    lengths = np.diff(book.begins)[runs].astype(np.intp)
    vectors = book.unit(lines)
    cosines = vectors @ asked.lines.T
    there = np.arange(lengths.max()) < lengths[:, None]
    similar = np.zeros((len(runs), asked.lines.shape[0], lengths.max()), np.float32)
    similar.transpose(0, 2, 1)[there] = cosines
    whole = _means(vectors, lengths) @ _unit(asked.lines.mean(axis=0))
    scores = fine.scores(similar, there, whole, recipe.fine)
    nearest = np.where(there, similar.max(axis=1), -np.inf).argmax(axis=1)
    firsts = np.cumsum(lengths) - lengths
    order = np.lexsort((runs, -scores))[: recipe.runs]
    best = firsts[order] + nearest[order]
    return Scored(runs[order], scores[order], lines[best], cosines[best].max(axis=1))


def _means(vectors: NDArray[np.float32], lengths: NDArray[np.intp]) -> NDArray[np.float32]:
    """The vector of each run, of length 1: the mean of its lines."""
    sums = np.add.reduceat(vectors, np.cumsum(lengths) - lengths, axis=0)
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)
