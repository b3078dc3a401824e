"""What a policy sees of a question and of what was found for it, before anything is chosen.

The paper names query length, ambiguity scores, model and token budget; its public code has the question's
embedding instead. Ours are numbers that mean the same in every memory: no name, and so no model's, is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, log1p

from gsw_graph.naming.finding import names
from gsw_graph.policy.selection import CHANNELS
from gsw_graph.retrieve.chains.pair_score import words_of

OF_QUESTION = ("words", "names", "steps", "model", "budget")
OF_CHANNEL = ("runs", "best", "margin", "ambiguity")
FEATURES = (*OF_QUESTION, *(f"{channel}.{name}" for channel in CHANNELS for name in OF_CHANNEL))


def features(
    question: str,
    scores: Mapping[str, Sequence[float]],
    *,
    steps: int = 0,
    model: bool = False,
    budget: int | None = None,
) -> list[float]:
    """The values of FEATURES. scores: of the runs of each channel, best first; a channel that is not there
    has none. steps: of its plan, 0 without one. model: whether a language model answers. budget: tokens that
    the question may take, None for any number.

    words, runs: their logarithm; names: of the question; budget: the logarithm of a thousand tokens, 0
    without one; best: the best run's score; margin: what it is ahead of the next; ambiguity: the entropy of
    the softmax of the scores, as a share of what it can be at the most.
    """
    found = [
        log1p(len(words_of(question))),
        float(len(set(names(question)))),
        float(steps),
        float(model),
        log1p(budget / 1000) if budget else 0.0,
    ]
    for channel in CHANNELS:
        found += _of_channel(scores.get(channel, ()))
    return found


def _of_channel(scores: Sequence[float]) -> list[float]:
    if not scores:
        return [0.0] * len(OF_CHANNEL)
    margin = scores[0] - scores[1] if len(scores) > 1 else scores[0]
    return [log1p(len(scores)), scores[0], margin, _ambiguity(scores)]


def _ambiguity(scores: Sequence[float]) -> float:
    """0 for one score, 1 for equal ones."""
    if len(scores) < 2:
        return 0.0
    weights = [exp(score - max(scores)) for score in scores]
    shares = [weight / sum(weights) for weight in weights]
    return -sum(share * log(share) for share in shares if share) / log(len(scores))
