"""EM, F1 and recall as HippoRAG 2, PropRAG and Panini compute them, which is MRQA's way; the odd cases are
theirs too."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

AT = (1, 2, 5, 10, 20)  # of recall and all-gold

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(answer: str) -> str:
    """Lower case, without ASCII punctuation, then without articles, one space between words. Accents stay:
    "São" is not "Sao", "well-known" is "wellknown"."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 if the answer equals one of the gold answers in their normal form, so that two answers of articles
    alone are equal. ValueError: there are none."""
    return _best(answer, gold, lambda one, other: float(one == other))


def f1(answer: str, gold: Sequence[str]) -> float:
    """F1 of the words that the answer shares with a gold answer, repeated words counted; the best over
    all. 0 where no word is left. ValueError: no gold."""
    return _best(answer, gold, _overlap)


def _best(answer: str, gold: Sequence[str], score: Callable[[str, str], float]) -> float:
    if not gold:
        raise ValueError("there is no gold answer")
    said = normalised(answer)
    return max(score(said, normalised(one)) for one in gold)


def _overlap(said: str, wanted: str) -> float:
    words, gold = said.split(), wanted.split()
    common = sum((Counter(words) & Counter(gold)).values())
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def recall(ranks: Sequence[int | None], k: int) -> float:
    """The share of what must be found that stands among the first `k`; `ranks` from 1, None where it was
    not found. 0 where nothing must be found."""
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


def all_gold(ranks: Sequence[int | None], k: int) -> float:
    """1 if all that must be found stands among the first `k`."""
    return float(bool(ranks) and all(rank is not None and rank <= k for rank in ranks))
