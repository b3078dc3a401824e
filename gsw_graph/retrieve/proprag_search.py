"""The strategies `proprag` and `proprag-linked`: one question asked of the memory, then PropRAG on the matrices that the client holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.retrieve.linked import NEAREST
from gsw_graph.retrieve.proprag import Propositional, retrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gsw_graph.retrieve.proprag_recipe import Recipe
    from gsw_graph.retrieve.strategies import Search


def ask(search: Search, question: str, k: int, recipe: Recipe) -> Propositional:
    """The `k` best passages by a recipe. Raises InputError where the memory is larger than the client may hold."""
    if search.names.size > search.client_passages or search.propositions is None:
        raise InputError(
            f"the memory has {search.names.size:,} passages, and PropRAG holds the graph of all in the client",
            hint="Raise GSWGRAPH_LINKED_CLIENT_PASSAGES, or ask with --strategy linked",
        )
    embedding = search.embed(question)
    with search.clock("database"):
        row = search.reader.run("read/nearest_propositions", embedding=embedding, passages=NEAREST, propositions=max(recipe.propositions, 1))[0]
        near, facts = (list(zip(row[ids], (2 * score - 1 for score in row[scores]), strict=True)) for ids, scores in _COLUMNS)
        ground = search.propositions.ground(row["version"], recipe, search.names.of)

    def encode(paths: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        with search.clock("database"):
            wanted = list(dict.fromkeys(fact for path in paths for fact in path))
            texts = {found["id"]: found["text"] for found in search.reader.run("read/proposition_texts", ids=wanted)}
        together = [" ".join(texts.get(fact, "") for fact in path) for path in paths]
        vectors = search.vectors(together)
        return np.array([vectors[text] for text in together])

    vector = search.vectors([question])[question]
    with search.clock("rank"):
        return retrieve(ground, question, vector, near, facts, k, recipe, encode=encode if recipe.exact else None)


_COLUMNS = (("near", "near_scores"), ("facts", "fact_scores"))
