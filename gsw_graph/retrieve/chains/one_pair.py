"""The answer of one question-answer pair to a whole question, where that is sure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.strategy import Query, Retrieved


def with_one_pair(context: Context, query: Query, found: Retrieved, sure: float) -> Retrieved:
    """What was found, with the answer of one hop, where its confidence is `sure` at least. A question of
    several hops has words that no one pair speaks of."""
    from gsw_graph.answer.chains import from_chains
    from gsw_graph.retrieve.chains.candidates import CandidateSearch
    from gsw_graph.retrieve.chains.grow import grow_chains
    from gsw_graph.retrieve.chains.unplanned import one_hop
    from gsw_graph.retrieve.strategies.ricr import RICR

    plan, chains = one_hop(query.question), RICR.recipe
    beams = grow_chains(plan, query.question, CandidateSearch(context, chains), chains, planned=False)
    ends = beams.ends()
    if not ends:
        return found
    with context.clock("database"):
        cited = context.reader.passages([ends[0].hops[-1].pair.passage], [ends[0].score])
    hop = replace(found, beams=beams, cited={passage.id: passage for passage in cited})
    draft = from_chains(query.question, hop, RICR.confidence, answer=True)
    is_sure = (draft.confidence or 0.0) >= sure and draft.answer is not None
    return replace(hop, draft=draft) if is_sure else found
