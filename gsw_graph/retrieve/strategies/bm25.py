"""The strategy `bm25`: rare words in common, the other baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.retrieve.strategy import NoRecipe, Query, Retrieved, Strategy

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context


def run(context: Context, query: Query, _: NoRecipe) -> Retrieved:
    """Passages that share rare words with the question, by the engine's full-text index."""
    from gsw_graph.retrieve.names.linking import lucene_words

    words = lucene_words(query.question)
    with context.clock("database"):
        return Retrieved(context.reader.bm25(words, query.k) if words else [])


BM25 = Strategy("bm25", "the engine's full-text index", run, NoRecipe(), steady=True)
