"""The strategies `proprag` and `proprag-linked`: beam search over paths of propositions between two walks
(Wang 2025). docs/proprag.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.errors import InputError
from gsw_graph.retrieve.recipes import LINKED, PROPOSITION_RECIPES, QUICK, PropositionRecipe
from gsw_graph.retrieve.strategy import Query, Retrieved, Strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.results import Trace
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.propositions.passages import Propagated


def run(context: Context, query: Query, recipe: PropositionRecipe) -> Retrieved:
    """PropRAG on the matrices that the client holds. Raises InputError where the memory is larger than the
    client may hold."""
    found = best(context, query.question, query.k, recipe)
    with context.clock("database"):
        passages = context.reader.passages(found.passages, found.scores)
    if context.trace is not None:
        _write(context, context.trace, found)
    return Retrieved(passages)


def best(context: Context, question: str, k: int, recipe: PropositionRecipe) -> Propagated:
    """The `k` best passages by a recipe."""
    from gsw_graph.retrieve.propositions.passages import best_passages

    if not context.held_by_client:
        raise InputError(
            f"the memory has {context.names.size:,} passages, and PropRAG holds the graph of all in the "
            "client",
            hint="Raise GSWGRAPH_LINKED_CLIENT_PASSAGES, or ask with --strategy linked",
        )
    vector = context.vector(question)
    wanted = recipe.nearest, recipe.propositions
    with context.clock("database"):
        near = context.reader.nearest_propositions(vector.tolist(), *wanted)
        walk_graph = context.propositions.walk_graph(near.version, recipe, context.names.of)
        passages, propositions = walk_graph.graph.passage_numbers, walk_graph.graph.proposition_numbers
        known = all(one in passages for one, _ in near.passages) and all(
            one in propositions for one, _ in near.propositions
        )
        if not known and any(hidden := context.reader.hidden()):  # documents that are not ready took places
            near = context.reader.nearest_propositions(
                vector.tolist(), wanted[0] + hidden[0], wanted[1] + hidden[1]
            )
        near_passages = [(one, cosine) for one, cosine in near.passages if one in passages][: recipe.nearest]

    def encode(paths: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        with context.clock("database"):
            texts = context.reader.propositions([fact for path in paths for fact in path])
        joined = [" ".join(texts[fact].text if fact in texts else "" for fact in path) for path in paths]
        return context.text_vectors(joined)

    with context.clock("rank"):
        of_paths = encode if recipe.exact else None
        return best_passages(
            walk_graph, question, vector, near_passages, near.propositions, k, recipe, encode=of_paths
        )


def _write(context: Context, trace: Trace, found: Propagated) -> None:
    from gsw_graph.results import FactPath
    from gsw_graph.retrieve.names.trace import linked, seeds

    with context.clock("database"):
        facts = context.reader.propositions([fact for path, _ in found.paths for fact in path])
    trace.linked, trace.seeds = linked(found.mentions), seeds(found.seeds)
    trace.walked, trace.passages_walked = "propositions", found.walked
    trace.fact_paths = [
        FactPath(cosine, [facts[fact] for fact in path])
        for path, cosine in found.paths
        if all(fact in facts for fact in path)
    ]


PROPRAG = Strategy(
    "proprag",
    "PropRAG: paths of propositions between two walks",
    run,
    QUICK,
    PROPOSITION_RECIPES,
    needs=frozenset({"propositions"}),
)
PROPRAG_LINKED = Strategy(
    "proprag-linked",
    "PropRAG that also links the names of the question",
    run,
    LINKED,
    PROPOSITION_RECIPES,
    needs=frozenset({"propositions"}),
)
