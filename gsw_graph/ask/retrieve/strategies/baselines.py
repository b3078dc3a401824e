"""The baselines: `dense`, nearest vectors, and `bm25`, rare words in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.names.linking import lucene_words
from gsw_graph.ask.strategy import NoRecipe, Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context


def dense(context: Context, query: Query, _: NoRecipe) -> Retrieved:
    """Find the passages whose vectors are nearest to the question's."""
    embedding = context.vector(query.question).tolist()
    with context.clock("database"):
        return Retrieved(context.reader.dense(embedding, max(query.k, 10))[: query.k])


def bm25(context: Context, query: Query, _: NoRecipe) -> Retrieved:
    """Find passages that share rare words with the question, by the engine's full-text index."""
    words = lucene_words(query.question)
    with context.clock("database"):
        return Retrieved(context.reader.bm25(words, query.k) if words else [])


DENSE = Strategy("dense", "nearest vectors", dense, NoRecipe(), steady=True)
BM25 = Strategy("bm25", "the engine's full-text index", bm25, NoRecipe(), steady=True)
