"""Answer from chains alone, without a language model: the end of the best chain, or that the memory does not
contain the answer; with a confidence, fitted on questions asked with and without their passages.
"""

from __future__ import annotations

from math import exp, log, log10
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.quotes import quote
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.model.results import QA, Chain, Citation, Hop
from gsw_graph.text.words import content_words, family, stem, term_coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.qa_chains import BeamChain, Link
    from gsw_graph.ask.strategy import ChainConfidence, Retrieved


FEATURES = ("chain", "last", "first", "weakest")
# held out: refuses 9 % (fusion: 11) of questions whose answer occurs in the evidence, 82 % (83) of those
# without their passages
REFUSED_BELOW = 0.25
DOUBTED_BELOW = 0.2  # of a search without chains: 5 % of the questions whose passages are there, or fewer
_LEAST = 1e-3


def confidence(hops: Sequence[float], chain: float, scale: ChainConfidence) -> float:
    """Return the confidence of a chain in [0, 1], from the scores of its hops and its own; without weights,
    the geometric mean of its hops."""
    if not scale.weights:
        return exp(sum(log(max(hop, _LEAST)) for hop in hops) / len(hops))
    logit = sum(weight * value for weight, value in zip(scale.weights, features(hops, chain), strict=True))
    return 1 / (1 + exp(scale.bias - logit))


def features(hops: Sequence[float], chain: float) -> list[float]:
    """Return the score of a chain, of its last and first hop, and of its weakest hop on a logarithmic scale
    from 0 (0.001 and less) to 1."""
    return [chain, hops[-1], hops[0], 1 + log10(max(min(hops), _LEAST)) / 3]


def from_chains(
    question: str, retrieved: Retrieved, scale: ChainConfidence | None, *, answer: bool
) -> AnswerDraft:
    """Return the answer of the best chain that reaches the last step of the plan, with the least confidence
    of its ends. Where the last step only compares, the chains are evidence and there is no answer.

    Args:
        question: The question.
        retrieved: Chains and their passages.
        scale: The confidence of the strategy's chains; without it, or without chains, `abstained` tells
            whether there are no passages.
        answer: Whether to answer, or only to return the confidence.
    """
    if retrieved.beams is None or scale is None:
        return AnswerDraft(abstained=not retrieved.passages, confidence=retrieved.confidence)
    beams, best = retrieved.beams, retrieved.beams.best()
    complete = len(best) == (len(beams.plan.sinks) if beams.planned else 1)
    confidences = [confidence([hop.score for hop in chain.hops], chain.score, scale) for chain in best]
    least = min(confidences) if complete else 0.0
    if complete and not beams.planned:
        least *= coverage(question, best[0]) ** 2
    abstained = least < REFUSED_BELOW
    hops = [hop for chain in best for hop in chain.hops if hop.pair.passage in retrieved.cited]
    citations = [] if abstained else list(dict.fromkeys(_cited(hop, retrieved) for hop in hops))
    if not answer or abstained or not beams.plan.steps[-1].retrieve:
        return AnswerDraft(None, "none", abstained, least, citations)
    return AnswerDraft(best[0].hops[-1].answer, "chain", False, least, citations)


def shown(retrieved: Retrieved) -> list[Chain]:
    """Return the chains that reach an end of the plan, as part of a result."""
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
        for chain in (retrieved.beams.ends() if retrieved.beams is not None else ())
    ]


def coverage(question: str, chain: BeamChain) -> float:
    """Return the share of a question's words that a chain mentions in any form, in [0, 1]: without a plan,
    one pair may answer only a part of the question."""
    chain_words = {
        word
        for hop in chain.hops
        for text in (hop.pair.question, hop.pair.title, *hop.pair.answers)
        for word in content_words(text)
    }
    question_words = content_words(question)
    return term_coverage(
        question_words,
        set(map(stem, chain_words)),
        alternatives={word: family(word) for word in question_words},
    )


def _cited(hop: Link, retrieved: Retrieved) -> Citation:
    passage = retrieved.cited[hop.pair.passage]
    return Citation(
        passage.id,
        passage.document,
        passage.title,
        passage.source,
        quote(passage.text, hop.pair.question, hop.answer, passage.title),
        passage.section,
    )
