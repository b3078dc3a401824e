"""The strategies `ricr` and `fusion`: chains of question-answer pairs along a plan (Panini, section 2.3),
with `fusion` weighed by walks; and `fusion` without a plan: a walk, then another over the answers it met.
docs/ricr.md, docs/proprag.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import PANINI, ChainRecipe, FusionRecipe, LinkedRecipe
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.strategy import Query, RetrievalResult, Strategy

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import RetrievalContext


def retrieve_ricr(context: RetrievalContext, query: Query, recipe: ChainRecipe) -> RetrievalResult:
    """Follow chains whose candidates come from the graph and are scored by vectors and words, or by a
    reranker."""
    from gsw_graph.ask.retrieve.chains.candidates import CandidateSearch
    from gsw_graph.ask.retrieve.chains.search import retrieve_by_chains

    return retrieve_by_chains(context, query, CandidateSearch(context, recipe), recipe)


RICR = Strategy(
    "ricr",
    "chains of question-answer pairs along a plan; needs workspaces",
    retrieve_ricr,
    ChainRecipe(),
    recipes={"default": ChainRecipe(), "paper": PANINI},
    follows_plan=True,
    needs=frozenset({"pairs"}),
    gives=frozenset({"passages", "chains", "answer"}),
    confidence=(1.093, 1.413, 1.105, 4.974, 4.12),
    prefix_stable=True,
)


def retrieve(context: RetrievalContext, query: Query, recipe: FusionRecipe) -> RetrievalResult:
    """Find by chains whose every hop walks, without one two walks."""
    from gsw_graph.ask.retrieve.chains.bridges import walk_twice
    from gsw_graph.ask.retrieve.chains.candidates import WalkingCandidateSearch
    from gsw_graph.ask.retrieve.chains.search import retrieve_by_chains
    from gsw_graph.ask.retrieve.names.trace import write_walk

    if query.plan:
        return retrieve_by_chains(context, query, WalkingCandidateSearch(context, recipe), recipe.chains)
    k = query.k
    walked, bridges = walk_twice(context, query.question, k, recipe)
    if bridges is None:
        retrieved = LINKED.run(context, query, LinkedRecipe(recipe.walk))
        if context.has_pairs:
            return retrieved
        return replace(retrieved, ran=LINKED.name, why="the memory holds no question-answer pairs")
    best = walked.first(k)
    with context.clock("database"):
        passages = context.reader.passages(best.passages, best.scores)
    if context.trace is not None:
        write_walk(context, context.trace, best, passages, twice=bool(bridges))
        context.trace.bridges = bridges
    return RetrievalResult(passages)


FUSION = Strategy(
    "fusion",
    "with a plan, chains whose pairs are weighed by walks too; without one, a walk, then another over the "
    "answers it met; needs workspaces, and"
    " without both is `linked`",
    retrieve,
    FusionRecipe(),
    follows_plan=True,
    gives=frozenset({"passages", "chains", "answer"}),
    confidence=(1.214, 1.736, 1.452, 3.583, 4.166),
    prefix_stable=True,
)


def with_one_pair(
    context: RetrievalContext, query: Query, retrieved: RetrievalResult, sure: float
) -> RetrievalResult:
    """Add the answer of one hop to a result, if its confidence is `sure` at least. A question of several hops
    has words that no one pair speaks of."""
    from gsw_graph.ask.answer.chains import from_chains
    from gsw_graph.ask.retrieve.chains.beam import grow_chains
    from gsw_graph.ask.retrieve.chains.candidates import CandidateSearch
    from gsw_graph.ask.retrieve.chains.search import one_hop

    question, recipe = query.question, RICR.recipe
    find = CandidateSearch(context, recipe)
    chain_search = grow_chains(one_hop(question), question, find, recipe, planned=False)
    ends = chain_search.ends()
    if not ends:
        return retrieved
    best = ends[0]
    with context.clock("database"):
        cited = context.reader.passages([best.hops[-1].pair.passage], [best.score])
    if not cited:  # its document was replaced meanwhile
        return retrieved
    hop = replace(
        retrieved, chain_search=chain_search, chain_passages={passage.id: passage for passage in cited}
    )
    draft = from_chains(question, hop, context.confidence(RICR), answer=True)
    if draft.answer is None or (draft.confidence or 0.0) < sure:
        return retrieved
    return replace(hop, draft=draft)
