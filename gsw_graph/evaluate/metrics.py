"""Score answers and passages, and sum the scores up.

EM and F1 are MRQA's, as HippoRAG 2, PropRAG and Panini compute them. Means come with bootstrap intervals over
the questions; the same values always give the same figures."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gsw_graph.evaluate.data import Gold, Question
from gsw_graph.evaluate.journal import Judgement, Outcome
from gsw_graph.loaders.split import SENTENCE_LIMIT, words
from gsw_graph.model.results import RankedPassage
from gsw_graph.values import Fields, single_spaced

Ranks: TypeAlias = Sequence[int | None]
"""Of each gold passage its first rank from 1, or None."""
Numbers: TypeAlias = "Sequence[float] | NDArray[np.float64]"
AT = (1, 2, 5, 10, 20)  # k of recall and all-gold
JUDGED = ("lr1", "lr2", "coverage")  # by a language model
RESAMPLES, SEED = 2000, 0  # of the bootstrap

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WORD = re.compile(r"[a-z0-9]+")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(answer: str) -> str:
    """Return an answer in lower case, without ASCII punctuation, then without articles, one space between
    words. Accents stay: "São" is not "Sao", "well-known" is "wellknown"."""
    letters = answer.lower().translate(_PUNCTUATION)
    return single_spaced(_ARTICLES.sub(" ", letters))


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """Return 1 if the answer equals one of the gold answers in their normal form."""
    return float(normalised(answer) in map(normalised, gold))


def f1(answer: str, gold: Sequence[str], weight: float = 0.5) -> float:
    """Return F1 of the words that the answer shares with a gold answer, with repeated words; the best over
    all gold answers, 0 without words.

    Args:
        answer: The text to score.
        gold: The right answers. Raises ValueError if there are none.
        weight: Share of the answer's words in the denominator: 1 for precision, 0 for recall.
    """
    words = normalised(answer).split()
    best = []
    for each in gold:
        gold_words = normalised(each).split()
        common = (Counter(words) & Counter(gold_words)).total()
        mixed = weight * len(words) + (1 - weight) * len(gold_words)
        best.append(common / mixed if common else 0.0)
    return max(best)


def rouge_l(answer: str, gold: Sequence[str]) -> float:
    """Return ROUGE-L (Lin 2004): F1 of the longest common subsequence of words, the best over all gold
    answers. Words are those of rouge-score without stems. Raises ValueError without gold answers."""
    words = _WORD.findall(answer.lower())
    return max(_rouge_l(words, _WORD.findall(each.lower())) for each in gold)


def _rouge_l(first: list[str], second: list[str]) -> float:
    lengths = [0] * (len(second) + 1)  # of the longest common subsequence with the first words of `second`
    for word in first:
        diagonal = 0
        for place, other in enumerate(second, 1):
            above = lengths[place]
            if word == other:
                lengths[place] = diagonal + 1
            else:
                lengths[place] = max(above, lengths[place - 1])
            diagonal = above
    return 2 * lengths[-1] / max(1, len(first) + len(second))


def recall(ranks: Ranks, k: int) -> float:
    """Return the share of the gold passages among the first `k`; 0 if there are none."""
    return len(_within(ranks, k)) / len(ranks) if ranks else 0.0


def all_gold(ranks: Ranks, k: int) -> float:
    """Return 1 if all gold passages are among the first `k`."""
    return float(recall(ranks, k) == 1)


def precision(ranks: Ranks, k: int) -> float:
    """Return the share of the first `k` passages that are gold."""
    return len(_within(ranks, k)) / k


def ndcg(ranks: Ranks, k: int) -> float:
    """Return NDCG@k (Järvelin and Kekäläinen 2002) with a gain of 1 for each gold passage."""
    if not ranks:
        return 0.0
    ideal = range(1, min(k, len(ranks)) + 1)
    return _gain(_within(ranks, k)) / _gain(ideal)


_OF_RANKS = {"recall": recall, "all_gold": all_gold, "precision": precision, "ndcg": ndcg}
_OF_ANSWERS: dict[str, Callable[[str, Sequence[str]], float]] = {
    "em": exact_match,
    "f1": f1,
    "answer_precision": partial(f1, weight=1.0),
    "answer_recall": partial(f1, weight=0.0),
    "rouge_l": rouge_l,
}
_RANKED = (
    *(f"{name}@{k}" for name in ("recall", "all_gold") for k in AT),
    *("precision@5", "ndcg@5", "ndcg@10"),
)
METRICS = (*_RANKED, *_OF_ANSWERS, *JUDGED, "ms")


def ranked_values(ranks: Ranks, k: int) -> dict[str, float]:
    """Return the metrics of passages from the ranks of the gold passages. A gold passage beyond rank `k` does
    not count."""
    values = {}
    for metric in _RANKED:
        name, _, at = metric.partition("@")
        if int(at) <= k:
            values[metric] = _OF_RANKS[name](ranks, int(at))
    return values


def gold_ranks(gold: Sequence[Gold], passages: Sequence[RankedPassage]) -> list[int | None]:
    """Return for each gold passage its first rank, from 1, or None.

    Passages are compared by their exact text (`title\ntext`, HippoRAG's rule), without white space. If
    loading cuts a long passage, any piece counts.
    """
    ranks: list[int | None] = []
    for wanted in gold:
        found = (rank for rank, passage in enumerate(passages, 1) if is_gold(wanted, passage))
        ranks.append(next(found, None))
    return ranks


def is_gold(gold: Gold, passage: RankedPassage) -> bool:
    """Return whether a passage is the gold passage, or a piece of it."""
    if gold.source:
        return passage.source == gold.source or passage.source.endswith(f"/{gold.source}")
    wanted = _bare(gold.title, gold.text)
    whole = _bare(passage.title, passage.text)
    text = _bare("", passage.text)
    if wanted == whole or (not gold.title and wanted == text):
        return True
    is_cut = bool(text) and words(gold.text) > SENTENCE_LIMIT
    return is_cut and whole.startswith(_bare(gold.title, "")) and text in wanted


def answer_scores(
    question: Question, row: Outcome, verdict: Judgement | None, *, answers: bool, judged: bool
) -> dict[str, float | None]:
    """Return the metrics of an answer, and ms. Metrics are None without gold answers, for a question that the
    corpus does not answer, and for a strategy that does not answer. Metrics of a judge are None without a
    verdict, and ms if nothing was timed.

    Args:
        question: The question.
        row: Result of a strategy for the question.
        verdict: The verdict of a judge.
        answers: Whether the strategy answers at all.
        judged: Whether answers were judged.
    """
    metrics = (*_OF_ANSWERS, *(JUDGED if judged else ()), "ms")
    scores: dict[str, float | None] = dict.fromkeys(metrics)
    if not row.error and "total" in row.seconds:
        scores["ms"] = 1000 * row.seconds["total"]
    if not answers or not question.answerable or not question.answers:
        return scores
    for metric, score in _OF_ANSWERS.items():
        scores[metric] = 0.0 if row.answer is None else score(row.answer, question.answers)
    for metric in JUDGED if judged else ():
        if metric != "coverage" or question.has_long_answer:
            scores[metric] = 0.0 if row.answer is None else getattr(verdict, metric, None)
    return scores


def mean(values: Numbers) -> float | None:
    """Return the mean; None without values."""
    return float(np.mean(values)) if len(values) else None


def interval(values: Numbers) -> list[float] | None:
    """Return the 95 % bootstrap percentile interval of the mean; None without values, the value itself for
    one."""
    from scipy.stats import bootstrap

    if not len(values):
        return None
    if len(values) == 1:
        return [float(values[0])] * 2
    limits = bootstrap(
        (np.asarray(values, dtype=np.float64),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, 4_000_000 // len(values)),
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return [float(limits.low), float(limits.high)]


def paired(first: Numbers, second: Numbers) -> Fields:
    """Return how much more the second has than the first, question by question: n, mean with its interval,
    and on how many it is above, below or equal."""
    differences = np.subtract(second, first)
    above = int((differences > 0).sum())
    below = int((differences < 0).sum())
    number = len(differences)
    return {
        "n": number,
        "mean": mean(differences),
        "interval": interval(differences),
        "above": above,
        "below": below,
        "equal": number - above - below,
    }


def spread(values: Numbers) -> dict[str, float]:
    """Return `mean`, `p50` and `p95` (between two values in proportion); empty of nothing."""
    if not len(values):
        return {}
    p50, p95 = np.percentile(values, (50, 95)).tolist()
    return {"mean": float(np.mean(values)), "p50": p50, "p95": p95}


def _within(ranks: Ranks, k: int) -> list[int]:
    return [rank for rank in ranks if rank is not None and rank <= k]


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(1 + rank) for rank in ranks)


def _bare(title: str, text: str) -> str:
    """Return title and text without white space, the title once."""
    if not title or not text.startswith(f"{title}\n"):
        text = f"{title}\n{text}"
    return "".join(text.split())
