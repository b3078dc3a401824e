"""The strategy `proprag`: beam search over paths of propositions between two walks (Wang 2025).
docs/proprag.md."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import PROPOSITION_RECIPES, PropositionRecipe
from gsw_graph.ask.strategy import Query, RetrievalResult, Strategy
from gsw_graph.concurrency import Once
from gsw_graph.model.results import FactPath

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.propositions import PropositionGraph, PropositionResult

    Vectors: TypeAlias = NDArray[np.float32]


_KEPT = 4  # graphs of whole memories, or of scopes
_GRAPHS: Once[tuple[object, ...], PropositionGraph] = Once(_KEPT)


def retrieve(context: RetrievalContext, query: Query, recipe: PropositionRecipe) -> RetrievalResult:
    """Search the part of the graph around the question or, if the recipe says so, the whole, which is read
    once for each version of the memory."""
    from gsw_graph.ask.retrieve.propositions import build, rank_passages

    reader = context.reader
    vector = context.vector(f"{recipe.instruction}{query.question}")
    cap, limit = (0, 0) if recipe.whole else (recipe.cap, recipe.limit)
    with context.clock("database"):
        part = reader.propositions_around(
            vector.tolist(), recipe.nearest, recipe.propositions, cap=cap, limit=limit
        )
    graph = _whole(context, recipe) if recipe.whole else build(part.passages, recipe.weights)

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
    return RetrievalResult(passages)


def _whole(context: RetrievalContext, recipe: PropositionRecipe) -> PropositionGraph:
    """Return the graph of what the question may see. It is read and built once for a version of the memory
    and its settings, whoever asks; a scope is cut from it, once too."""
    from gsw_graph.ask.retrieve.propositions import build, similar_names

    reader = context.reader

    def similar_to(names: list[str]) -> sparse.csr_array:
        return similar_names(names, context.text_vectors, recipe.synonyms)

    def read() -> PropositionGraph:
        with context.clock("database"):
            rows = list(reader.proposition_graph())
        return build(rows, recipe.weights, similar_to if recipe.weights.synonymy else None)

    def cut() -> PropositionGraph:
        return graph.within(reader.sees)

    with context.clock("database"):
        version = reader.stamp()
    key = (*version, context.models_used.get("embedder"), recipe.synonyms, recipe.weights)
    check = partial(context.note, None)
    with context.clock("rank"):
        graph = _GRAPHS.get(key, read, check)
        if reader.scope is None:
            return graph
        return _GRAPHS.get((*key, frozenset(reader.scope.items())), cut, check)


def _write(context: RetrievalContext, result: PropositionResult) -> None:
    from gsw_graph.ask.retrieve.names.trace import seed_weights

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
    retrieve,
    PROPOSITION_RECIPES["default"],
    PROPOSITION_RECIPES,
    needs=frozenset({"propositions"}),
)
