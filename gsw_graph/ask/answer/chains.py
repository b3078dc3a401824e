"""An answer from chains alone, with no language model: what the best chain ends in, or that the memory does
not hold it; and how sure that is, fitted on questions asked with and without their passages.
"""

from __future__ import annotations

from math import exp, log, log10
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
DOUBTED_BELOW = 0.2  # of a search without chains: 5 % of the questions whose passages are there, or fewer
_LEAST = 1e-3


def confidence(hops: Sequence[float], chain: float, scale: ChainConfidence) -> float:
    """Return in [0, 1] how sure a chain is, from the scores of its hops and its own; plain, without weights,
    the geometric mean of its hops."""
    if not scale.weights:
        return exp(sum(log(max(hop, _LEAST)) for hop in hops) / len(hops))
    logit = sum(weight * value for weight, value in zip(scale.weights, features(hops, chain), strict=True))
    return 1 / (1 + exp(scale.bias - logit))


def features(hops: Sequence[float], chain: float) -> list[float]:
    """Return the score of a chain, its last and first hop, and its weakest on a logarithmic scale from 0
    (0.001 and less) to 1: a chain is as good as that."""
    return [chain, hops[-1], hops[0], 1 + log10(max(min(hops), _LEAST)) / 3]


def from_chains(
    question: str, found: Retrieved, scale: ChainConfidence | None, *, answer: bool
) -> AnswerDraft:
    """Return the answer of the best chain that reaches the last step of the plan, as sure as the least sure
    of its ends. Where the last step only compares, the chains are evidence and nothing is answered.

    Args:
        question: As it was asked.
        found: Chains and their passages.
        scale: How sure the chains of the strategy are; without one, or without chains, `abstained` says
            whether anything was found at all.
        answer: Whether an answer is wanted.
    """
    if found.beams is None or scale is None:
        return AnswerDraft(abstained=not found.passages, confidence=found.confidence)
    beams, best = found.beams, found.beams.best()
    complete = len(best) == (len(beams.plan.sinks) if beams.planned else 1)
    sures = [confidence([hop.score for hop in chain.hops], chain.score, scale) for chain in best]
    sure = min(sures) if complete else 0.0
    if complete and not beams.planned:
        sure *= coverage(question, best[0]) ** 2
    abstained = sure < REFUSED_BELOW
    hops = [hop for chain in best for hop in chain.hops if hop.pair.passage in found.cited]
    citations = [] if abstained else list(dict.fromkeys(_cited(hop, found) for hop in hops))
    if not answer or abstained or not beams.plan.steps[-1].retrieve:
        return AnswerDraft(None, "none", abstained, sure, citations)
    return AnswerDraft(best[0].hops[-1].answer, "chain", False, sure, citations)


def shown(found: Retrieved) -> list[Chain]:
    """Return the chains that reach an end of the plan, as results have them."""
    return [
        Chain(
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
        for chain in (found.beams.ends() if found.beams is not None else ())
    ]


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


def _cited(hop: Link, found: Retrieved) -> Citation:
    passage = found.cited[hop.pair.passage]
    return Citation(
        passage.id,
        passage.document,
        passage.title,
        passage.source,
        quote(passage.text, hop.pair.question, hop.answer),
        passage.section,
    )
