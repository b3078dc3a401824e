"""An answer from chains alone, with no language model: what the best chain ends in, or that the memory
does not hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.answer.confidence import REFUSED_BELOW, confidence
from gsw_graph.answer.sentences import quote
from gsw_graph.results import QA, Chain, Citation, Hop
from gsw_graph.retrieve.chains.pair_score import told, words_of
from gsw_graph.retrieve.strategy import AnswerDraft

if TYPE_CHECKING:
    from gsw_graph.retrieve.chains.grow import BeamChain, Link
    from gsw_graph.retrieve.strategy import ChainConfidence, Retrieved


def from_chains(
    question: str, found: Retrieved, scale: ChainConfidence | None, *, answer: bool
) -> AnswerDraft:
    """The answer of the best chain that reaches the last step of the plan. Where that step only compares, the
    chains are evidence and nothing is answered. scale: how sure the chains of the strategy are; without
    one, or without chains, abstained says whether anything was found at all.
    """
    if found.beams is None or scale is None:
        return AnswerDraft(abstained=not found.passages)
    beams = found.beams
    ends = beams.ends()
    sure = confidence(
        [[hop.score for hop in chain.hops] for chain in ends], [chain.score for chain in ends], scale
    )
    if ends and not beams.planned:
        sure *= coverage(question, ends[0]) ** 2
    lost = beams.planned and not beams.chains.get(beams.plan.sinks[-1].id)
    abstained = not ends or lost or sure < REFUSED_BELOW
    compares = not beams.plan.steps[-1].retrieve
    best = (
        [chains[0] for sink in beams.plan.sinks if (chains := beams.chains.get(sink.id))]
        if beams.planned
        else ends[:1]
    )
    hops = [hop for chain in best for hop in chain.hops if hop.pair.passage in found.cited]
    citations = [] if abstained else list(dict.fromkeys(_cited(hop, found) for hop in hops))
    if not answer or compares or abstained:
        return AnswerDraft(None, "none", abstained, sure, citations)
    return AnswerDraft(ends[0].hops[-1].answer, "chain", False, sure, citations)


def shown(found: Retrieved) -> list[Chain]:
    """The chains that reach an end of the plan, as results have them."""
    return [_shown(chain) for chain in found.beams.ends()] if found.beams is not None else []


def coverage(question: str, chain: BeamChain) -> float:
    """The share of a question's words that a chain speaks of, in [0, 1], in whatever form: without a plan one
    pair may answer a part of the question alone."""
    spoken = {
        word
        for hop in chain.hops
        for text in (hop.pair.question, hop.pair.title, *hop.pair.answers)
        for word in words_of(text)
    }
    return told(words_of(question), spoken)


def _shown(chain: BeamChain) -> Chain:
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


def _cited(hop: Link, found: Retrieved) -> Citation:
    passage = found.cited[hop.pair.passage]
    return Citation(
        passage.id,
        passage.document,
        passage.title,
        passage.source,
        quote(passage.text, hop.pair.question, hop.answer),
    )
