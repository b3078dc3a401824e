"""Which question that was asked before is this one in other words, and may be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.names import normalise
from gsw_graph.past.wording import Likeness, likeness
from gsw_graph.store.past import PastQuestion, near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.context import Context

LEAST = 0.75  # cosine of two wordings of a question; other questions of three data sets come to 0.80 at most
_LOOKED_AT = 10  # nearest questions


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question that was asked before. likeness: "same", or "near" where the evidence must say whether it
    is. confirmed: people said that its answer is right."""

    past: PastQuestion
    likeness: Likeness
    confirmed: bool


def recall(question: str, context: Context) -> Recalled | None:
    """The best of the questions asked before that a question may be answered from, if there is one."""
    vector = context.vector(question).tolist()
    with context.clock("database"):
        found = near(context.reader, vector, _LOOKED_AT)
    alike = [
        Recalled(past, how, _verdict(past) == "confirmed")
        for past in found
        if past.cosine >= LEAST and (how := likeness(question, past.question))
    ]
    alike.sort(key=lambda one: (one.likeness != "same", not one.confirmed, -one.past.cosine))
    return next((one for one in alike if one.past.stands and not _rejected(one, alike)), None)


def _verdict(past: PastQuestion) -> str | None:
    """What was said of an answer: one that was taken as it was is as good as its source."""
    if past.verdict is None and past.source and past.answer_source == "past":
        return past.source[2]
    return past.verdict


def _rejected(one: Recalled, alike: Sequence[Recalled]) -> bool:
    """Whether people said that an answer is wrong: of this question, of its source, or the same answer to a
    question that is as like. What is not confirmed may not stand on what a rejected answer stands on."""
    past = one.past
    if past.verdict == "rejected" or (past.source and past.source[2] == "rejected"):
        return True
    for other in alike:
        if other.past.verdict != "rejected":
            continue
        same = normalise(other.past.answer) == normalise(past.answer)
        if one.confirmed:
            nearer = (other.likeness != "same", -other.past.cosine) < (one.likeness != "same", -past.cosine)
            if same and nearer:
                return True
        elif same or _cited(past) <= _cited(other.past):
            return True
    return False


def _cited(past: PastQuestion) -> set[str]:
    return {quoted.passage.id for quoted in past.quotes}
