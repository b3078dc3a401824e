"""What one strategy's row is worth on one question, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gsw_graph.evaluate.data.questions import Question
from gsw_graph.evaluate.figures.metrics import AT, all_gold, exact_match, f1, recall
from gsw_graph.evaluate.journal import Judgement, Outcome

METRICS = (*(f"recall@{k}" for k in AT), *(f"all_gold@{k}" for k in AT), "em", "f1", "lr1", "lr2", "ms")
JUDGED = ("lr1", "lr2")  # of METRICS: those that a language model judges


def answers(rows: Sequence[Outcome]) -> bool:
    """Whether a strategy answers at all: it did, or abstained though it had found something."""
    return any(row.answer is not None or (row.abstained and row.passages) for row in rows)


@dataclass(frozen=True)
class ScoredOutcome:
    """A question, what a strategy found for it among `k` passages, and whether the strategy answers. judged:
    whether answers were judged; judgement: what was said of this one, None where there is nothing to
    judge."""

    question: Question
    row: Outcome
    k: int
    answers: bool
    judged: bool = False
    judgement: Judgement | None = None

    def get(self, metric: str) -> float | None:
        """The value of one of METRICS, None where it has none: recall without gold passages or beyond `k`,
        EM, F1, LR-1 and LR-2 without gold answers or of a strategy that does not answer, LR-1 and LR-2
        without a verdict, all of these for what the corpus does not answer, the time of a question that
        could not be asked."""
        if metric == "ms":
            return None if self.row.error else 1000 * self.row.seconds["total"]
        if not self.question.answerable:
            return None
        if metric in ("em", "f1"):
            if not self.answers or not self.question.answers:
                return None
            score = exact_match if metric == "em" else f1
            return 0.0 if self.row.answer is None else score(self.row.answer, self.question.answers)
        if metric in JUDGED:
            if not self.judged or not self.answers or not self.question.answers:
                return None
            if self.row.answer is None:
                return 0.0
            said: float | None = getattr(self.judgement, metric, None)
            return said
        name, _, at = metric.partition("@")
        if not self.question.gold or int(at) > self.k:
            return None
        return (recall if name == "recall" else all_gold)(self.row.ranks, int(at))

    @property
    def right(self) -> bool:
        """Exactly answered, or abstained from what the corpus does not answer."""
        return self.get("em") == 1 if self.question.answerable else self.answers and self.row.abstained

    @property
    def tokens(self) -> int:
        """In and out, as the server of the language model counted them."""
        return self.row.tokens.get("in", 0) + self.row.tokens.get("out", 0)

    def to_dict(self) -> dict[str, Any]:
        """The row in JSON types, without the names of its question and strategy, and with its EM, F1 and
        milliseconds; LR-1 and LR-2 where answers were judged."""
        names = [name for name in Outcome.__dataclass_fields__ if name not in ("variant", "key")]
        return {
            **{name: getattr(self.row, name) for name in names},
            **{name: self.get(name) for name in ("em", "f1", *(JUDGED if self.judged else ()), "ms")},
        }
