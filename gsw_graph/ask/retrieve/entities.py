"""The entity index of Panini (section 2.1, appendix C): entities of single documents by the words of a
question, and by the vectors of their names with roles and states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.names.linking import lucene_words
from gsw_graph.ask.strategy import RANK_CONSTANT
from gsw_graph.store.facts import entities_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.pair_score import Floats

_EMBEDDED = 2  # entities by their words for each that is wanted


def best_entities(
    context: RetrievalContext, questions: Mapping[str, Floats], most: int
) -> dict[str, list[str]]:
    """Return ids of the best entities of some questions, in one round trip.

    The order by words and the order by cosine are fused by reciprocal ranks. A memory has no vectors of
    entities, so the entities found by words are embedded here (decision 9).

    Args:
        context: Context of the question.
        questions: Vectors, of length 1, by the texts of the questions.
        most: Number of entities for each question.
    """
    words = {text: lucene_words(text) for text in questions}
    with context.clock("database"):
        worded = entities_of(context.reader, words.values(), most=_EMBEDDED * most)
    texts: set[str] = set()
    for entities in worded.values():
        texts.update(entity.text for entity in entities)
    ordered = sorted(texts)
    vectors = dict(zip(ordered, context.text_vectors(ordered), strict=True)) if ordered else {}
    best = {}
    for question, vector in questions.items():
        entities = worded.get(words[question], [])
        by_cosine = sorted(entities, key=lambda entity: -float(vectors[entity.text] @ vector))
        scores = dict.fromkeys((entity.id for entity in entities), 0.0)
        for order in (entities, by_cosine):
            for rank, entity in enumerate(order, 1):
                scores[entity.id] += 1 / (RANK_CONSTANT + rank)
        best[question] = sorted(scores, key=lambda id_: -scores[id_])[:most]
    return best
