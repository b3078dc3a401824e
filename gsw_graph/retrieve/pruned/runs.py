"""The runs of a question, channel by channel: found by symbols, ranked by what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.pruned import fine
from gsw_graph.retrieve.pruned.coarse import shortlist
from gsw_graph.retrieve.pruned.codebook import means

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

    def taken(self, places: NDArray[np.intp]) -> Scored:
        """Those at some places."""
        return Scored(self.runs[places], self.scores[places], self.lines[places], self.cosines[places])


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
    similar = np.zeros((*there.shape, asked.lines.shape[0]), np.float32)
    similar[there] = cosines
    similar = similar.transpose(0, 2, 1)
    question = asked.lines.mean(axis=0)
    whole = means(vectors, lengths) @ (question / max(float(np.linalg.norm(question)), 1e-12))
    scores = fine.scores(similar, there, whole, recipe.fine)
    nearest = np.where(there, similar.max(axis=1), -np.inf).argmax(axis=1)
    order = np.lexsort((runs, -scores))[: recipe.runs]
    best = (np.cumsum(lengths) - lengths + nearest)[order]
    return Scored(runs[order], scores[order], lines[best], cosines[best].max(axis=1))
