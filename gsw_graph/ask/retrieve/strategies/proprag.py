"""The strategy `proprag`: beam search over paths of propositions between two walks (Wang 2025).
docs/proprag.md."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import PROPOSITION_RECIPES, PropositionRecipe
from gsw_graph.ask.strategy import Query, Retrieved, Strategy
from gsw_graph.concurrency import Once

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.propositions import PropositionResult
    from gsw_graph.model.results import Trace


_KEPT = 4  # matrices of similar names: of a memory, of a scope, of another threshold
_SIMILAR: Once[tuple[str | None, float, tuple[str, ...]], sparse.csr_array] = Once(_KEPT)


def run(context: Context, query: Query, recipe: PropositionRecipe) -> Retrieved:
    """Search the part of the graph around the question or, where the recipe says so, the whole, which is read
    for this question alone."""
    from gsw_graph.ask.retrieve.propositions import build, rank_passages

    vector = context.vector(f"{recipe.instruction}{query.question}")
    with context.clock("database"):
        part = context.reader.propositions_around(
            vector.tolist(), recipe.nearest, recipe.propositions, cap=recipe.cap, limit=recipe.limit
        )
        rows = list(context.reader.proposition_graph()) if recipe.whole else part.passages
    with_facts = {passage for passage, *_ in rows}
    rows += [(passage, [], []) for passage, _ in part.near if passage not in with_facts]
    with_similar = recipe.whole and recipe.weights.synonymy
    graph = build(rows, partial(_similar, context, recipe.synonyms) if with_similar else None)

    def vectors_of(ids: list[str]) -> dict[str, NDArray[np.float32]]:
        with context.clock("database"):
            return context.reader.proposition_vectors(ids)

    def encode(paths: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        with context.clock("database"):
            texts = context.reader.propositions([fact for path in paths for fact in path])
        joined = [" ".join(texts[fact].text if fact in texts else "" for fact in path) for path in paths]
        return context.text_vectors(joined)

    with context.clock("rank"):
        of_paths = encode if recipe.exact else None
        result = rank_passages(
            graph, vector, part.near, part.facts, query.k, recipe, vectors_of=vectors_of, encode=of_paths
        )
    with context.clock("database"):
        passages = context.reader.passages(result.passages, result.scores)
    if context.trace is not None:
        _write(context, context.trace, result)
    return Retrieved(passages)


def _similar(context: Context, threshold: float, names: list[str]) -> sparse.csr_array:
    """Return the cosines of similar names. They are computed once for the same names, whoever asks, and every
    version of a memory with other names has its own."""
    from gsw_graph.ask.retrieve.propositions import similar_names

    key = (context.used.get("embedder"), threshold, tuple(names))
    compute = partial(similar_names, names, context.text_vectors, threshold)
    return _SIMILAR.get(key, compute, partial(context.note, None))


def _write(context: Context, trace: Trace, result: PropositionResult) -> None:
    from gsw_graph.ask.retrieve.names.trace import seed_weights
    from gsw_graph.model.results import FactPath

    with context.clock("database"):
        facts = context.reader.propositions([fact for path, _ in result.paths for fact in path])
    trace.seeds = seed_weights(result.seeds)
    trace.walked, trace.passages_walked = "propositions", result.walked
    trace.fact_paths = [
        FactPath(cosine, [facts[fact] for fact in path])
        for path, cosine in result.paths
        if all(fact in facts for fact in path)
    ]


PROPRAG = Strategy(
    "proprag",
    "PropRAG: paths of propositions between two walks",
    run,
    PROPOSITION_RECIPES["default"],
    PROPOSITION_RECIPES,
    needs=frozenset({"propositions"}),
)
