"""The coarse stage: runs whose symbols are near those of a question (AutoPrunedRetriever, A.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.pruned.codebook import Codebook
    from gsw_graph.retrieve.recipes import PrunedRecipe


def shortlist(
    book: Codebook, concepts: NDArray[np.float32], relations: NDArray[np.float32], recipe: PrunedRecipe
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The `recipe.shortlist` best runs, best first, with their scores: w_ent * the largest cosine between a
    concept of the question and one of the run + w_rel * the same of relations. What the question has none of
    counts 0.

    concepts, relations: (n, dimension), vectors of length 1 of the question's symbols.
    """
    if not len(book.runs):
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    of_concepts = book.concepts.best(concepts)
    of_relations = book.relations.best(relations)
    begins = book.begins[:-1]
    ends = np.maximum(of_concepts[book.subject], of_concepts[book.object])
    scores = np.float32(recipe.concept_weight) * np.maximum.reduceat(ends, begins)
    scores += np.float32(recipe.relation_weight) * np.maximum.reduceat(of_relations[book.relation], begins)
    k = min(recipe.shortlist, len(scores))
    some = np.argpartition(-scores, k - 1)[:k]
    order = some[np.lexsort((some, -scores[some]))]
    return order, scores[order]
