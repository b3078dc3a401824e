"""Score one answer: EM and F1 as HippoRAG 2, PropRAG and Panini compute them, which is MRQA's way, and recall
of the gold passages."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gsw_graph.evaluate.data import Gold, Question
from gsw_graph.evaluate.journal import Judgement, Outcome
from gsw_graph.loaders.split import SENTENCE_LIMIT, words

if TYPE_CHECKING:
    from gsw_graph.model.results import RankedPassage

AT = (1, 2, 5, 10, 20)  # k of recall and all-gold
METRICS = (*(f"recall@{k}" for k in AT), *(f"all_gold@{k}" for k in AT), "em", "f1", "lr1", "lr2", "ms")
JUDGED = ("lr1", "lr2")  # of METRICS: those that a language model judges

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(answer: str) -> str:
    """Return an answer in lower case, without ASCII punctuation, then without articles, one space between
    words. Accents stay: "São" is not "Sao", "well-known" is "wellknown"."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """Return 1 if the answer equals one of the gold answers in their normal form. ValueError: no gold."""
    return _best(answer, gold, lambda one, other: float(one == other))


def f1(answer: str, gold: Sequence[str]) -> float:
    """Return F1 of the words that the answer shares with a gold answer, repeated words counted; the best over
    all, 0 where no word is left. ValueError: no gold."""
    return _best(answer, gold, _overlap)


def recall(ranks: Sequence[int | None], k: int) -> float:
    """Return the share of the gold passages among the first `k`; 0 where there are none."""
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


def all_gold(ranks: Sequence[int | None], k: int) -> float:
    """Return 1 if all gold passages are among the first `k`."""
    return float(bool(ranks) and recall(ranks, k) == 1)


def gold_ranks(gold: Sequence[Gold], passages: Sequence[RankedPassage]) -> list[int | None]:
    """Return for each gold passage its first rank, from 1, or None.

    Passages are compared by their exact text (`title\\ntext`, HippoRAG's rule), white space aside. Of a
    passage so long that loading cuts it any piece will do.
    """
    texts = [
        (_bare(passage.title, passage.text), _bare("", passage.text), passage.source) for passage in passages
    ]
    return [
        next((rank for rank, text in enumerate(texts, 1) if _matches(wanted, *text)), None) for wanted in gold
    ]


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
            if not self.question.gold or int(k) > self.k:
                return None
            return (recall if name == "recall" else all_gold)(self.row.ranks, int(k))
        if not self.answers or not self.question.answers or (name in JUDGED and not self.judged):
            return None
        if self.row.answer is None:
            return 0.0
        if name in JUDGED:
            verdict: float | None = getattr(self.judgement, name, None)
            return verdict
        return (exact_match if name == "em" else f1)(self.row.answer, self.question.answers)

    @property
    def correct(self) -> bool:
        """Whether it is exactly answered, or abstained from where the corpus has no answer."""
        return self.get("em") == 1 if self.question.answerable else self.answers and self.row.abstained

    @property
    def tokens(self) -> int:
        """Tokens in and out, as the server of the language model counted them."""
        return self.row.tokens.get("in", 0) + self.row.tokens.get("out", 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the row in JSON types with its EM, F1 and milliseconds, and LR where answers were judged."""
        names = [name for name in Outcome.__dataclass_fields__ if name not in ("variant", "key")]
        metrics = ("em", "f1", *(JUDGED if self.judged else ()), "ms")
        return {
            **{name: getattr(self.row, name) for name in names},
            **{name: self.get(name) for name in metrics},
        }


def _best(answer: str, gold: Sequence[str], score: Callable[[str, str], float]) -> float:
    if not gold:
        raise ValueError("there is no gold answer")
    return max(score(normalised(answer), normalised(each)) for each in gold)


def _overlap(answer: str, gold: str) -> float:
    answer_words, gold_words = answer.split(), gold.split()
    common = sum((Counter(answer_words) & Counter(gold_words)).values())
    return 2 * common / (len(answer_words) + len(gold_words)) if common else 0.0


def _matches(gold: Gold, whole: str, text: str, source: str) -> bool:
    if gold.source:
        return source == gold.source or source.endswith(f"/{gold.source}")
    bare = _bare(gold.title, gold.text)
    if bare == whole or (not gold.title and bare == text):
        return True
    is_cut = bool(text) and words(gold.text) > SENTENCE_LIMIT
    return is_cut and whole.startswith(_bare(gold.title, "")) and text in bare


def _bare(title: str, text: str) -> str:
    """Return title and text without white space, the title once."""
    return "".join((text if title and text.startswith(f"{title}\n") else f"{title}\n{text}").split())
