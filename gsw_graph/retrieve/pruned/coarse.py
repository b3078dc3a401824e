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
    concept of the question and one of the run + w_rel * the same of relations. What the question has none of,
    and what is below 0, counts 0.

    concepts, relations: (n, dimension), vectors of length 1 of the question's symbols.
    """
    if not len(book.runs):
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    of_concepts = book.runs_by_concept.best(book.concepts.best(concepts), len(book.runs))
    of_relations = book.runs_by_relation.best(book.relations.best(relations), len(book.runs))
    scores = np.float32(recipe.concept_weight) * of_concepts
    scores += np.float32(recipe.relation_weight) * of_relations
    k = min(recipe.shortlist, len(scores))
    some = np.argpartition(-scores, k - 1)[:k]
    order = some[np.lexsort((some, -scores[some]))]
    return order, scores[order]
