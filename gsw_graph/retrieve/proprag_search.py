"""The strategies `proprag` and `proprag-linked`: one question asked of the memory, then PropRAG on the matrices that the client holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.errors import InputError
from gsw_graph.retrieve.linked import NEAREST
from gsw_graph.retrieve.proprag import Propositional, retrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.retrieve.proprag_recipe import Recipe
    from gsw_graph.retrieve.strategies import Search


def ask(search: Search, question: str, k: int, recipe: Recipe) -> Propositional:
    """The `k` best passages by a recipe. Raises InputError where the memory is larger than the client may hold."""
    encode_texts = search.encode_texts
    if search.names.size > search.client_passages or search.propositions is None or encode_texts is None:
        raise InputError(
            f"the memory has {search.names.size:,} passages, and PropRAG holds the graph of all in the client",
            hint="Raise GSWGRAPH_LINKED_CLIENT_PASSAGES, or ask with --strategy linked",
        )
    embedding = search.embed(question)
    with search.clock("database"):
        version, near, facts = _nearest(search, embedding, NEAREST, max(recipe.propositions, 1))
        ground = search.propositions.ground(version, recipe, search.names.of)
        passages, propositions = ground.graph.passage_numbers, ground.graph.proposition_numbers
        if not (all(one in passages for one, _ in near) and all(one in propositions for one, _ in facts)):  # documents that are not ready took places
            if any(hidden := search.reader.hidden()):
                _, near, facts = _nearest(search, embedding, NEAREST + hidden[0], max(recipe.propositions, 1) + hidden[1])
            near = [(one, cosine) for one, cosine in near if one in passages][:NEAREST]

    def encode(paths: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        with search.clock("database"):
            wanted = list(dict.fromkeys(fact for path in paths for fact in path))
            texts = {found["id"]: found["text"] for found in search.reader.run("read/proposition_texts", ids=wanted)}
        with search.clock("embed"):
            return encode_texts([" ".join(texts.get(fact, "") for fact in path) for path in paths])

    vector = search.vectors([question])[question]
    with search.clock("rank"):
        return retrieve(ground, question, vector, near, facts, k, recipe, encode=encode if recipe.exact else None)


def _nearest(search: Search, embedding: Sequence[float], passages: int, propositions: int) -> tuple[int, list[tuple[str, float]], list[tuple[str, float]]]:
    """The memory's version stamp, and so many passages and propositions nearest to a vector, with their cosine."""
    row = search.reader.run("read/nearest_propositions", embedding=embedding, passages=passages, propositions=propositions)[0]
    near, facts = (list(zip(row[ids], (2 * score - 1 for score in row[scores]), strict=True)) for ids, scores in _COLUMNS)
    return row["version"], near, facts


_COLUMNS = (("near", "near_scores"), ("facts", "fact_scores"))
