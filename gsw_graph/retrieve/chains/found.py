"""What chains come to: their passages, and in the trace what was asked hop by hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.results import QA, Candidate, HopTrace
from gsw_graph.retrieve.chains.grow import grow_chains
from gsw_graph.retrieve.chains.passages import rank
from gsw_graph.retrieve.chains.unplanned import plan_from
from gsw_graph.retrieve.strategy import Retrieved

if TYPE_CHECKING:
    from gsw_graph.retrieve.chains.candidates import CandidateSearch
    from gsw_graph.retrieve.chains.grow import Considered, Expansion
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.recipes import ChainRecipe
    from gsw_graph.retrieve.strategy import Query


def follow(context: Context, query: Query, find: CandidateSearch, recipe: ChainRecipe) -> Retrieved:
    """Grow chains along the plan, or from the question alone; passages by the chains, and by a walk from
    what they asked."""
    plan = query.plan or plan_from(query.question)
    beams = grow_chains(plan, query.question, find, recipe, planned=query.plan is not None)
    if context.trace is not None:
        context.trace.asked = [_hop_trace(expansion) for expansion in beams.expansions]
    chains = beams.ends()
    walk = beams.round_trips <= len(plan.levels())
    if not chains and not walk:  # nothing to rank by, and one round trip left
        embedding = context.vector(query.question).tolist()
        with context.clock("database"):
            return Retrieved(context.reader.dense(embedding, max(query.k, 10), once=True)[: query.k], beams)
    ranked = dict(rank(context, query.question, beams, query.k, recipe, walk=walk))
    wanted = list(dict.fromkeys([*ranked, *(hop.pair.passage for chain in chains for hop in chain.hops)]))
    with context.clock("database"):
        found = context.reader.passages(wanted, [ranked.get(id_, 0.0) for id_ in wanted])
    passages = {passage.id: passage for passage in found}
    return Retrieved([passages[id_] for id_ in ranked if id_ in passages], beams, passages)


def _hop_trace(expansion: Expansion) -> HopTrace:
    candidates = [_candidate(one) for one in expansion.considered]
    return HopTrace(expansion.step.id, expansion.concrete.text, expansion.instead is not None, candidates)


def _candidate(one: Considered) -> Candidate:
    pair = one.scored.pair
    qa = QA(pair.id, pair.question, list(pair.answers))
    return Candidate(qa, list(one.scored.ways), one.scored.score, one.fate)
