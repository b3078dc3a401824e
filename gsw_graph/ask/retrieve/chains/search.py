"""Retrieve along chains: grow them along a plan, or from the question alone, and rank the passages."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.ask.plan import Plan, SubQuestion
from gsw_graph.ask.retrieve.chains.beam import grow_chains
from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.ask.retrieve.names.walk import rank_passages
from gsw_graph.ask.strategy import RetrievalResult
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.chains.candidates import CandidateSearch
    from gsw_graph.ask.retrieve.chains.records import ChainSearch
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.recipes import ChainRecipe
    from gsw_graph.ask.strategy import Query

_ASKS = re.compile(
    r"\b(?:who(?:m|se)?|when|where|why|which|what|how (?:many|much|long|old|far|large|big))\b", re.IGNORECASE
)
_REFERENCE = re.compile(r"(?<![^\W_])#(?=[0-9])")


def one_hop(question: str) -> Plan:
    """Return the question as the only step of a plan."""
    return Plan((SubQuestion(1, _REFERENCE.sub(" ", question)),))


def plan_from(question: str) -> Plan:
    """Return a plan of two branches: the question in one hop; and a hop to the thing that the question names,
    then the question with that answer."""
    text = _REFERENCE.sub(" ", question)  # "#1" is text here
    rest = _REFERENCE.sub(" ", _ASKS.sub(" ", text))  # again: "#what#1" has become "# #1"
    bridge = single_spaced(rest.replace("?", " ")) or text
    return Plan((SubQuestion(1, text), SubQuestion(2, bridge), SubQuestion(3, f"{text} #2")))


def retrieve_by_chains(
    context: RetrievalContext, query: Query, find: CandidateSearch, recipe: ChainRecipe
) -> RetrievalResult:
    """Grow chains along the plan, or from the question if there is no plan. Rank passages by the chains and
    by a walk from the concrete questions of the chains."""
    question, plan = query.question, query.plan
    planned = plan is not None
    if plan is None:
        plan = one_hop(question) if recipe.unplanned == "one" else plan_from(question)
    chain_search = grow_chains(plan, question, find, recipe, planned=planned, similarity=find.similarity)
    if context.trace is not None:
        context.trace.hops = [expansion.to_trace() for expansion in chain_search.expansions]
    chains = chain_search.ends()
    walk = find.round_trips <= len(plan.levels())
    cited = {}
    if chains or walk:
        ranked = dict(rank(context, question, chain_search, query.k, recipe, walk=walk))
        score_of = dict(ranked)
        for chain in chains:
            for hop in chain.hops:
                score_of.setdefault(hop.pair.passage, 0.0)
        with context.clock("database"):
            fetched = context.reader.passages(list(score_of), list(score_of.values()))
        cited = {passage.id: passage for passage in fetched}
        passages = [cited[id_] for id_ in ranked if id_ in cited]
    else:  # no chain to rank by, and one round trip left
        embedding = context.vector(question).tolist()
        with context.clock("database"):
            nearest = context.reader.dense(embedding, max(query.k, 10), once=True)
        passages = nearest[: query.k]
    return RetrievalResult(
        passages,
        chain_search,
        cited,
        why=context.calibration_warning,
        evidence=recipe.evidence,
        prompt_name=recipe.reader,
    )


def rank(
    context: RetrievalContext,
    question: str,
    chain_search: ChainSearch,
    k: int,
    recipe: ChainRecipe,
    *,
    walk: bool,
) -> list[tuple[str, float]]:
    """Return ids and scores of the `k` best passages. Without a walk, make no round trip."""
    mass: dict[str, float] = defaultdict(float)
    chains = chain_search.ends()
    if chains:
        chain_scores = np.array([chain.score for chain in chains])
        weights = np.exp(recipe.sharpness * (chain_scores - chain_scores.max()))
        weights /= weights.sum()
        for chain, weight in zip(chains, weights.tolist(), strict=True):
            for passage in {hop.pair.passage for hop in chain.hops}:
                mass[passage] += weight
    if walk:
        questions = _walked_from(chain_search, recipe.walked_from) or [question]
        graph, near = fetch_neighbourhood(context, questions, recipe.walk)
        with context.clock("rank"):
            queries = list(zip(questions, near, strict=True))
            walked = rank_passages(graph, queries, max(k, recipe.walked), recipe.walk)
            for passage, share in walked.shares().items():
                mass[passage] += recipe.walk_weight * share**0.5
    ranked = sorted(mass.items(), key=lambda item: (-item[1], item[0]))
    return ranked[:k]


def _walked_from(chain_search: ChainSearch, most: int) -> list[str]:
    """Return the concrete questions of the `most` best chains of each last step; none without a plan."""
    questions: dict[str, None] = {}
    for sink in chain_search.plan.sinks if chain_search.planned else ():
        for chain in chain_search.chains.get(sink.id, [])[:most]:
            questions.update(dict.fromkeys(hop.concrete for hop in chain.hops))
    return list(questions)
