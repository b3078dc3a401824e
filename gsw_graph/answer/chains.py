"""An answer from chains alone, with no language model: what the best chain ends in, or that the memory does not hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.answer.confidence import REFUSED_BELOW, confidence
from gsw_graph.answer.quote import quote
from gsw_graph.results import QA, Chain, Citation, Hop

if TYPE_CHECKING:
    from gsw_graph.plan import Plan
    from gsw_graph.retrieve import ricr
    from gsw_graph.retrieve.strategies import Found


@dataclass(frozen=True)
class Said:
    """What is answered, how sure that is, and what it stands on."""

    answer: str | None = None
    source: str = "none"  # "chain" or "none"
    abstained: bool = False
    confidence: float | None = None
    citations: list[Citation] = field(default_factory=list)
    chains: list[Chain] = field(default_factory=list)


def from_chains(found: Found, plan: Plan | None, *, answer: bool) -> Said:
    """The answer of the best chain that reaches the last step of the plan. Where that step only compares, the chains are evidence and nothing is answered.

    Without chains, abstained says whether anything was found at all.
    """
    if found.beams is None:
        return Said(abstained=not found.passages)
    sinks = plan.sinks if plan else ()
    ends = found.beams.ends(plan) if plan else found.beams.chains.get(1, [])
    chains = [_shown(chain) for chain in ends]
    sure = confidence(ends, found.beams)
    compares = plan is not None and not plan.steps[-1].retrieve
    lost = bool(sinks) and not found.beams.chains.get(sinks[-1].id)
    abstained = not ends or lost or sure < REFUSED_BELOW
    citations = [] if not ends else [_cited(hop, found) for hop in ends[0].hops if hop.pair.passage in found.cited]
    if not answer or compares or abstained:
        return Said(None, "none", abstained, sure, [] if abstained else citations, chains)
    return Said(ends[0].hops[-1].answer, "chain", False, sure, citations, chains)


def _shown(chain: ricr.Chain) -> Chain:
    return Chain(
        chain.score,
        [
            Hop(
                hop.step,
                hop.question,
                hop.concrete,
                hop.answer,
                QA(hop.pair.id, hop.pair.question, list(hop.pair.answers)),
                hop.pair.passage,
                hop.score,
                list(hop.ways),
            )
            for hop in chain.hops
        ],
    )


def _cited(hop: ricr.Link, found: Found) -> Citation:
    passage = found.cited[hop.pair.passage]
    return Citation(passage.id, passage.document, passage.title, passage.source, quote(passage.text, hop.pair.question, hop.answer))
