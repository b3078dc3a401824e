"""The first passages of a walk in a better order: a softmax over a few features, which see what a walk does
not: the question's words, and whether two passages together speak of all that is asked.

docs/linked.md has what each feature is worth, and bench/linked_order.py fits their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.names import normalise
from gsw_graph.naming.finding import title_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.names.wording import Wording
    from gsw_graph.retrieve.recipes import OrderRecipe

FEATURES = ("weight", "place", "left", "named", "together")


def ordered(
    memory: NameGraph, passages: Sequence[RankedPassage], wording: Wording, recipe: OrderRecipe
) -> tuple[list[int], list[float]]:
    """The numbers of some passages, best first, and the share of each in the softmax.

    passages: in the order of a walk, its weights as their scores. wording: of the question in their texts,
    in the same order.
    """
    weights = np.array([getattr(recipe, name) for name in FEATURES])
    logits = features(memory, passages, wording, recipe) @ weights
    shares = np.exp(logits - logits.max(initial=0.0))
    shares /= shares.sum() or 1
    order = np.argsort(-shares, kind="stable")
    return order.tolist(), shares[order].tolist()


def features(
    memory: NameGraph, passages: Sequence[RankedPassage], wording: Wording, recipe: OrderRecipe
) -> NDArray[np.float64]:
    """(passages, FEATURES):

    weight, place: logarithms of the walk's weight, 0 for the best, and of the place in its order, from 1.
    left: the share of the question's words that the passage has and the first `recipe.read` passages lack.
    named: whether one of the first `recipe.first` passages has its title among its names.
    together: the share of the question's words that it has together with one of the first whose title it
    names, or that names its title; 0 without such a one.
    """
    scores = np.maximum([passage.score for passage in passages], np.finfo(np.float32).tiny)
    linked = _names_title_of(memory, passages)
    has, first = wording.has, recipe.first
    unread = 1 - has[: recipe.read].max(axis=0, initial=0)
    either = (linked | linked.T)[:, :first]
    both = np.maximum(has[:, None], has[None, :first]) @ wording.shares
    return np.stack(
        [
            np.log(scores / scores.max(initial=np.finfo(np.float32).tiny)),
            np.log1p(np.arange(len(passages))),
            has @ (wording.shares * unread),
            linked.T[:, :first].any(axis=1).astype(float),
            np.where(either, both, 0.0).max(axis=1, initial=0.0),
        ],
        axis=1,
    )


def _names_title_of(memory: NameGraph, passages: Sequence[RankedPassage]) -> NDArray[np.bool_]:
    """(passages, passages): whether the first has the title of the second among its names; of itself no
    passage has."""
    matrix = memory.matrices.incidence
    names, titles = [], []
    for passage in passages:
        number = memory.passage_numbers[passage.id]
        names.append(set(matrix.indices[matrix.indptr[number] : matrix.indptr[number + 1]].tolist()))
        keys = map(normalise, title_names(passage.title))
        titles.append({memory.name_numbers[key] for key in keys if key in memory.name_numbers})
    found = [[bool(own & others) for others in titles] for own in names]
    linked = np.array(found, dtype=bool).reshape(len(passages), len(passages))
    np.fill_diagonal(linked, False)
    return linked
