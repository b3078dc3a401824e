"""Answer from chains alone, without a language model: the end of the best chain, or that the memory does not
contain the answer; with a confidence, fitted on questions asked with and without their passages.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, log10
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.quotes import cite, related_coverage
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.text.words import content_words
from gsw_graph.values import unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.chains.records import BeamChain
    from gsw_graph.ask.strategy import ChainScale, RetrievalResult
    from gsw_graph.model.results import Chain


# held out: refuses 9 % (fusion: 11) of questions whose answer occurs in the evidence, 82 % (83) of those
# without their passages
REFUSED_BELOW = 0.25
DOUBTED_BELOW = 0.2  # of a search without chains: 5 % of the questions whose passages are there, or fewer
_LEAST = 1e-3


def confidence(hops: Sequence[float], chain: float, scale: ChainScale) -> float:
    """Return the confidence of a chain in [0, 1], from the scores of its hops and its own; without weights,
    the geometric mean of its hops."""
    if not scale:
        logs = [log(max(hop, _LEAST)) for hop in hops]
        return exp(sum(logs) / len(logs))
    *weights, bias = scale
    values = features(hops, chain)
    logit = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return 1 / (1 + exp(bias - logit))


def features(hops: Sequence[float], chain: float) -> list[float]:
    """Return the score of a chain, of its last and first hop, and of its weakest hop on a logarithmic scale
    from 0 (0.001 and less) to 1."""
    weakest = max(min(hops), _LEAST)
    return [chain, hops[-1], hops[0], 1 + log10(weakest) / 3]


def from_chains(
    question: str, retrieved: RetrievalResult, scale: ChainScale | None, *, answer: bool
) -> AnswerDraft:
    """Return the answer of the best chain that reaches the last step of the plan, with the least confidence
    of its ends. If the last step only compares, the chains are evidence and there is no answer.

    Args:
        question: The question.
        retrieved: Chains and their passages.
        scale: The confidence of the strategy's chains; without it, or without chains, `abstained` tells
            whether there are no passages.
        answer: Whether to answer, or only to return the confidence.
    """
    chain_search = retrieved.chain_search
    if chain_search is None or scale is None:
        return AnswerDraft(abstained=not retrieved.passages, confidence=retrieved.confidence)
    best = chain_search.best()
    least = 0.0
    if len(best) == (len(chain_search.plan.sinks) if chain_search.planned else 1):
        sure = []
        for chain in best:
            scores = [hop.score for hop in chain.hops]
            sure.append(confidence(scores, chain.score, scale))
        least = min(sure)
        if not chain_search.planned:
            least *= coverage(question, best[0]) ** 2
    if least < REFUSED_BELOW:
        return AnswerDraft(None, "none", True, least)
    citations = []
    for chain in best:
        for hop in chain.hops:
            passage = retrieved.chain_passages.get(hop.pair.passage)
            if passage is not None:
                citations.append(cite(passage, hop.pair.question, hop.answer))
    draft = AnswerDraft(None, "none", False, least, unique(citations))
    if answer and chain_search.plan.steps[-1].retrieve:
        draft = replace(draft, answer=best[0].hops[-1].answer, source="chain")
    return draft


def shown(retrieved: RetrievalResult) -> list[Chain]:
    """Return the chains that reach an end of the plan, as part of a result."""
    return [chain.to_chain() for chain in retrieved.chains]


def coverage(question: str, chain: BeamChain) -> float:
    """Return the share of a question's words that a chain mentions in any form, in [0, 1]: without a plan,
    one pair may answer only a part of the question."""
    words: set[str] = set()
    for hop in chain.hops:
        pair = hop.pair
        words.update(*map(content_words, (pair.question, pair.title, *pair.answers)))
    return related_coverage(content_words(question), words)
