"""The strategy `proprag`: beam search over paths of propositions between two walks (Wang 2025).
docs/proprag.md."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import PROPOSITION_RECIPES, PropositionRecipe
from gsw_graph.ask.strategy import Query, Retrieved, Strategy
from gsw_graph.concurrency import Once

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.propositions import PropositionResult

    Vectors: TypeAlias = NDArray[np.float32]


_KEPT = 4  # matrices of similar names: of a memory, of a scope, of another threshold
_SIMILAR: Once[tuple[str | None, float, tuple[str, ...]], sparse.csr_array] = Once(_KEPT)


def run(context: Context, query: Query, recipe: PropositionRecipe) -> Retrieved:
    """Search the part of the graph around the question or, where the recipe says so, the whole, which is read
    for this question alone."""
    from gsw_graph.ask.retrieve.propositions import build, rank_passages

    reader = context.reader
    vector = context.vector(f"{recipe.instruction}{query.question}")
    with context.clock("database"):
        part = reader.propositions_around(
            vector.tolist(), recipe.nearest, recipe.propositions, cap=recipe.cap, limit=recipe.limit
        )
        rows = list(reader.proposition_graph()) if recipe.whole else part.passages
    with_facts = {passage for passage, *_ in rows}
    for passage, _ in part.near:
        if passage not in with_facts:
            rows.append((passage, [], []))
    with_similar = recipe.whole and recipe.weights.synonymy
    graph = build(rows, partial(_similar, context, recipe.synonyms) if with_similar else None)

    def vectors_of(ids: list[str]) -> dict[str, Vectors]:
        with context.clock("database"):
            return reader.proposition_vectors(ids)

    def encode(paths: list[list[str]]) -> Vectors:
        with context.clock("database"):
            facts = reader.propositions([fact for path in paths for fact in path])
        texts = {fact.id: fact.text for fact in facts.values()}
        return context.text_vectors([" ".join(texts.get(fact, "") for fact in path) for path in paths])

    with context.clock("rank"):
        result = rank_passages(
            graph, vector, part.near, part.facts, query.k, recipe, vectors_of=vectors_of, encode=encode
        )
    with context.clock("database"):
        passages = reader.passages(result.passages, result.scores)
    _write(context, result)
    return Retrieved(passages)


def _similar(context: Context, threshold: float, names: list[str]) -> sparse.csr_array:
    """Return the cosines of similar names. They are computed once for the same names, whoever asks, and every
    version of a memory with other names has its own."""
    from gsw_graph.ask.retrieve.propositions import similar_names

    key = (context.used.get("embedder"), threshold, tuple(names))
    compute = partial(similar_names, names, context.text_vectors, threshold)
    return _SIMILAR.get(key, compute, partial(context.note, None))


def _write(context: Context, result: PropositionResult) -> None:
    from gsw_graph.ask.retrieve.names.trace import seed_weights
    from gsw_graph.model.results import FactPath

    trace = context.trace
    if trace is None:
        return
    with context.clock("database"):
        facts = context.reader.propositions([fact for path, _ in result.paths for fact in path])
    trace.seeds = seed_weights(result.seeds)
    trace.walked, trace.passages_walked = "propositions", result.walked
    for path, cosine in result.paths:
        if facts.keys() >= set(path):
            trace.fact_paths.append(FactPath(cosine, [facts[fact] for fact in path]))


PROPRAG = Strategy(
    "proprag",
    "PropRAG: paths of propositions between two walks",
    run,
    PROPOSITION_RECIPES["default"],
    PROPOSITION_RECIPES,
    needs=frozenset({"propositions"}),
)
