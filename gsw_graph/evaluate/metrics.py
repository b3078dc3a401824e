"""Score answers and passages, and sum the scores up.

EM and F1 are MRQA's, as HippoRAG 2, PropRAG and Panini compute them. Means come with bootstrap intervals over
the questions; the same values always give the same figures."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gsw_graph.evaluate.data import Gold, Question
from gsw_graph.evaluate.journal import Judgement, Outcome
from gsw_graph.loaders.split import SENTENCE_LIMIT, words
from gsw_graph.model.results import RankedPassage

AT = (1, 2, 5, 10, 20)  # k of recall and all-gold
JUDGED = ("lr1", "lr2", "coverage")  # by a language model
RESAMPLES, SEED = 2000, 0  # of the bootstrap

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(answer: str) -> str:
    """Return an answer in lower case, without ASCII punctuation, then without articles, one space between
    words. Accents stay: "São" is not "Sao", "well-known" is "wellknown"."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """Return 1 if the answer equals one of the gold answers in their normal form. ValueError: no gold."""
    return _best(answer, gold, lambda a, b: float(normalised(a) == normalised(b)))


def f1(answer: str, gold: Sequence[str], weight: float = 0.5) -> float:
    """Return F1 of the words that the answer shares with a gold answer, repeated words counted; the best over
    all, 0 where no word is left.

    Args:
        answer: What was answered.
        gold: The right answers. ValueError: there are none.
        weight: Of the answer's words among those of both: 1 for precision, 0 for recall.
    """

    def score(first: str, second: str) -> float:
        words, gold_words = normalised(first).split(), normalised(second).split()
        common = (Counter(words) & Counter(gold_words)).total()
        return common / (weight * len(words) + (1 - weight) * len(gold_words)) if common else 0.0

    return _best(answer, gold, score)


def rouge_l(answer: str, gold: Sequence[str]) -> float:
    """Return ROUGE-L (Lin 2004): F1 of the longest common subsequence of words, the best over all gold
    answers; words as rouge-score has them without stems. ValueError: no gold."""

    def score(first: str, second: str) -> float:
        a, b = (re.findall(r"[a-z0-9]+", text.lower()) for text in (first, second))
        row = [0] * (len(b) + 1)
        for word in a:
            before = row
            row = [0]
            for place, other in enumerate(b):
                row.append(before[place] + 1 if word == other else max(row[-1], before[place + 1]))
        return 2 * row[-1] / (len(a) + len(b)) if row[-1] else 0.0

    return _best(answer, gold, score)


def recall(ranks: Sequence[int | None], k: int) -> float:
    """Return the share of the gold passages among the first `k`; 0 where there are none."""
    return _hits(ranks, k) / len(ranks) if ranks else 0.0


def all_gold(ranks: Sequence[int | None], k: int) -> float:
    """Return 1 if all gold passages are among the first `k`."""
    return float(bool(ranks) and _hits(ranks, k) == len(ranks))


def precision(ranks: Sequence[int | None], k: int) -> float:
    """Return the share of the first `k` passages that are gold."""
    return _hits(ranks, k) / k


def ndcg(ranks: Sequence[int | None], k: int) -> float:
    """Return NDCG@k (Järvelin and Kekäläinen 2002) with a gain of 1 for each gold passage."""
    gain = sum(1 / math.log2(1 + rank) for rank in ranks if rank is not None and rank <= k)
    ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(k, len(ranks)) + 1))
    return gain / ideal if ideal else 0.0


_OF_RANKS = {"recall": recall, "all_gold": all_gold, "precision": precision, "ndcg": ndcg}
_OF_ANSWERS: dict[str, Callable[[str, Sequence[str]], float]] = {
    "em": exact_match,
    "f1": f1,
    "answer_precision": partial(f1, weight=1.0),
    "answer_recall": partial(f1, weight=0.0),
    "rouge_l": rouge_l,
}
METRICS = (
    *(f"{name}@{k}" for name in ("recall", "all_gold") for k in AT),
    *("precision@5", "ndcg@5", "ndcg@10"),
    *_OF_ANSWERS,
    *JUDGED,
    "ms",
)


def gold_ranks(gold: Sequence[Gold], passages: Sequence[RankedPassage]) -> list[int | None]:
    """Return for each gold passage its first rank, from 1, or None.

    Passages are compared by their exact text (`title\\ntext`, HippoRAG's rule), white space aside. Of a
    passage so long that loading cuts it any piece will do.
    """
    return [next((n for n, p in enumerate(passages, 1) if is_gold(wanted, p)), None) for wanted in gold]


def is_gold(gold: Gold, passage: RankedPassage) -> bool:
    """Return whether a passage is this gold passage, or a piece of it."""
    if gold.source:
        return passage.source == gold.source or passage.source.endswith(f"/{gold.source}")
    wanted, whole, text = (
        _bare(gold.title, gold.text),
        _bare(passage.title, passage.text),
        _bare("", passage.text),
    )
    if wanted == whole or (not gold.title and wanted == text):
        return True
    is_cut = bool(text) and words(gold.text) > SENTENCE_LIMIT
    return is_cut and whole.startswith(_bare(gold.title, "")) and text in wanted


@dataclass(frozen=True)
class ScoredOutcome:
    """A question and what a strategy returned for it.

    Attributes:
        k: How many passages were asked for.
        answers: Whether the strategy answers at all.
        judged: Whether answers were judged.
        judgement: The verdict on this one, None where there is nothing to judge.
    """

    question: Question
    row: Outcome
    k: int
    answers: bool
    judged: bool = False
    judgement: Judgement | None = None

    def get(self, metric: str) -> float | None:
        """Return the value of one of METRICS, None where it has none: recall without gold passages or beyond
        `k`; EM, F1 and LR without gold answers or of a strategy that does not answer; LR without a verdict;
        all of these where the corpus has no answer; ms where nothing was timed."""
        if metric == "ms":
            total = self.row.seconds.get("total")
            return None if self.row.error or total is None else 1000 * total
        if not self.question.answerable:
            return None
        name, at, k = metric.partition("@")
        if at:
            has_rank = self.question.gold and int(k) <= self.k
            return _OF_RANKS[name](self.row.ranks, int(k)) if has_rank else None
        if (
            not (self.answers and self.question.answers)
            or (name in JUDGED and not self.judged)
            or (name == "coverage" and not self.question.has_long_answer)
        ):
            return None
        if self.row.answer is None:
            return 0.0
        if name in JUDGED:
            verdict: float | None = getattr(self.judgement, name, None)
            return verdict
        return _OF_ANSWERS[name](self.row.answer, self.question.answers)

    @property
    def correct(self) -> bool:
        """Whether it is exactly answered, or abstained from where the corpus has no answer."""
        return self.get("em") == 1 if self.question.answerable else self.answers and self.row.abstained

    @property
    def tokens(self) -> int:
        """Tokens in and out, as the server of the language model counted them."""
        return self.row.tokens.get("in", 0) + self.row.tokens.get("out", 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the row in JSON types with its scores, those of a judge where answers were judged."""
        names = [name for name in Outcome.__dataclass_fields__ if name not in ("variant", "key")]
        metrics = (*_OF_ANSWERS, *(JUDGED if self.judged else ()), "ms")
        return {
            **{name: getattr(self.row, name) for name in names},
            **{name: self.get(name) for name in metrics},
        }


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return float(np.mean(values)) if len(values) else None


def interval(values: Sequence[float]) -> list[float] | None:
    """Return the 95 % bootstrap percentile interval of the mean; None of nothing, the value itself of one."""
    from scipy.stats import bootstrap

    if len(values) < 2:
        return [float(values[0])] * 2 if len(values) else None
    limits = bootstrap(
        (np.asarray(values, dtype=np.float64),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, 4_000_000 // len(values)),
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return [float(limits.low), float(limits.high)]


def paired(first: Sequence[float], second: Sequence[float]) -> dict[str, Any]:
    """Return how much more the second has than the first, question by question: n, mean with its interval,
    and on how many it is above, below or equal."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    return {
        "n": len(differences),
        "mean": mean(differences),
        "interval": interval(differences),
        "above": sum(value > 0 for value in differences),
        "below": sum(value < 0 for value in differences),
        "equal": differences.count(0),
    }


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return `mean`, `p50` and `p95` (between two values in proportion); empty of nothing."""
    if not values:
        return {}
    p50, p95 = np.percentile(values, (50, 95)).tolist()
    return {"mean": float(np.mean(values)), "p50": p50, "p95": p95}


def _best(answer: str, gold: Sequence[str], score: Callable[[str, str], float]) -> float:
    return max(score(answer, each) for each in gold)


def _hits(ranks: Sequence[int | None], k: int) -> int:
    return sum(rank is not None and rank <= k for rank in ranks)


def _bare(title: str, text: str) -> str:
    """Return title and text without white space, the title once."""
    return "".join((text if title and text.startswith(f"{title}\n") else f"{title}\n{text}").split())
