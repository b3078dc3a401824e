"""An answer from chains alone, with no language model: what the best chain ends in, or that the memory does
not hold it; and how sure that is, fitted on questions asked with and without their passages.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import quote
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.model.results import QA, Chain, Citation, Hop
from gsw_graph.text.words import content_words, family, stem, term_coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.qa_chains import BeamChain, Link
    from gsw_graph.ask.strategy import ChainConfidence, Retrieved


FEATURES = ("chain", "last", "first", "weakest")
# held out: refuses 9 % (fusion: 11) of questions whose answer stands in the evidence, 82 % (83) of those
# without their passages
REFUSED_BELOW = 0.25
_LEAST = 1e-3


def confidence(hops: Sequence[Sequence[float]], chains: Sequence[float], scale: ChainConfidence) -> float:
    """In [0, 1], from the hop scores of the chains and the scores of the chains, best first; 0 without a
    chain."""
    if not chains:
        return 0.0
    import numpy as np

    return float(1 / (1 + np.exp(scale.bias - np.array(features(hops, chains)) @ np.array(scale.weights))))


def features(hops: Sequence[Sequence[float]], chains: Sequence[float]) -> list[float]:
    """Of the best chain: its score, its last and first hop, and its weakest on a logarithmic scale from 0
    (0.001 and less) to 1: a chain is as good as that."""
    if not chains:
        return [0.0] * len(FEATURES)
    best = hops[0]
    return [chains[0], best[-1], best[0], 1 + log10(max(min(best), _LEAST)) / 3]


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
        for word in content_words(text)
    }
    asked = content_words(question)
    return term_coverage(asked, set(map(stem, spoken)), alternatives={word: family(word) for word in asked})


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
