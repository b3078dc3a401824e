"""The temporal words of a question, read by rules: its condition on time, and what is left without it.

English, as the rules of names and dates are. An event whose date must be looked up ("after the loss of the
Corrigan") is given as its words; which rules there are is ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gsw_graph.retrieve.times.intervals import ALWAYS, Days, spans

Relation = Literal["before", "after", "during", "between"]
Order = Literal["first", "last"]
Wants = Literal["date", "duration"]

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
).split()
_CENTURY = re.compile(
    rf"\b(?:in|during) the (?P<word>{'|'.join(reversed(_ORDINALS))}|(?P<number>\d{{1,2}})(?:st|nd|rd|th)) "
    r"century\b",
    re.IGNORECASE,
)
_BY_WORD: dict[str, Relation] = {
    **dict.fromkeys(("before", "until", "till", "by", "prior to", "earlier than"), "before"),
    **dict.fromkeys(("after", "since", "later than", "following"), "after"),
    **dict.fromkeys(("in", "on", "during", "at", "as of", "of", "in the year"), "during"),
}
_BEFORE_DATE = re.compile(
    rf"\b(?P<word>{'|'.join(sorted(_BY_WORD, key=len, reverse=True))}) (?:the (?:year |end of )?)?$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\b(?:between|from|in the years?) (?:the )?$", re.IGNORECASE)
_EVENT = re.compile(
    r"(?<=\w) (?P<still>still )?(?P<word>before|after|since|until|while|whilst|when|during|at the time of|"
    r"at the time when|by the time) (?P<event>(?:the |a |an )?[^?]*[^\W\d_][^?]*?)\s*\??\s*$"
)
_EVENT_RELATIONS: dict[str, Relation] = {
    "before": "before",
    "until": "before",
    "by the time": "before",
    "after": "after",
    "since": "after",
}
_FIRST = re.compile(r"\b(?<!at )(?:first|earliest|oldest)\b(?! (?:name|of all people))")
_LAST = re.compile(r"\b(?<!at )(?:last|latest|newest|youngest|most recent|most recently)\b(?! name)")
_BRACKETS = re.compile(r"\([^()]*\)")
_DURATION = re.compile(r"\b(?:how long|(?:for )?how many (?:years|months|days|weeks))\b", re.IGNORECASE)
_WHEN = re.compile(
    r"^\W*(?:when\b|(?:in |on |at )?(?:what|which) (?:year|date|day|month|decade|century)\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TimeQuestion:
    """A question and its time. rest: the question without its condition. relation: how what is asked for
    lies to `interval`, or to the date of `event`. order: the first or the last is asked for. wants: a date or
    a duration, None for anything else."""

    question: str
    rest: str
    relation: Relation | None = None
    interval: Days | None = None
    event: str | None = None
    order: Order | None = None
    wants: Wants | None = None

    @property
    def is_temporal(self) -> bool:
        """Whether anything in it is about time."""
        return bool(self.relation or self.order or self.wants)


def read(question: str) -> TimeQuestion:
    """What a question says of time. What stands in brackets belongs to a name: "Change (1967 film)"."""
    text = " ".join(_BRACKETS.sub(" ", question).split())
    wants: Wants | None = "duration" if _DURATION.search(text) else "date" if _WHEN.search(text) else None
    order: Order | None = "first" if _FIRST.search(text) else "last" if _LAST.search(text) else None
    if match := _CENTURY.search(text):
        number = int(match["number"]) if match["number"] else 1 + _ORDINALS.index(match["word"].lower())
        if 1 <= number <= 99:
            days = (f"{100 * number - 99:04}-01-01", f"{100 * number:04}-12-31")
            return TimeQuestion(text, _without(text, *match.span()), "during", days, None, order, wants)
    if found := _dated(text):
        relation, days, begin, end = found
        return TimeQuestion(text, _without(text, begin, end), relation, days, None, order, wants)
    if (match := _EVENT.search(text)) and not _is_date_question(text, match):
        word = match["word"].lower()
        event = " ".join(match["event"].split())
        return TimeQuestion(
            text,
            _without(text, match.start("word"), match.end("event")),
            _EVENT_RELATIONS.get(word, "during"),
            None,
            event,
            order,
            wants,
        )
    return TimeQuestion(text, text, None, None, None, order, wants)


def holds(relation: Relation | None, days: Days, condition: Days | None) -> bool:
    """Whether days lie to a condition as a relation says; without a condition they do."""
    if relation is None or condition is None:
        return True
    if relation == "before":
        return days[1] < condition[0]
    if relation == "after":
        return days[0] > condition[1]
    if relation == "between":
        return condition[0] <= days[0] and days[1] <= condition[1]
    return days[0] <= condition[1] and condition[0] <= days[1]


def bounds(relation: Relation | None, condition: Days | None) -> tuple[Days, Days]:
    """The same condition as bounds, inclusive, of the first and of the last day: what a statement
    compares."""
    first, last = ALWAYS
    if relation is None or condition is None:
        return ALWAYS, ALWAYS
    if relation == "before":
        return ALWAYS, (first, _beside(condition[0], -1))
    if relation == "after":
        return (_beside(condition[1], 1), last), ALWAYS
    if relation == "between":
        return (condition[0], last), (first, condition[1])
    return (first, condition[1]), (condition[0], last)


def _beside(day: str, step: int) -> str:
    from datetime import date, timedelta

    try:
        return (date.fromisoformat(day) + timedelta(days=step)).isoformat()
    except (OverflowError, ValueError):
        return day


def _dated(text: str) -> tuple[Relation, Days, int, int] | None:
    """The first date of the question that a word of time stands before."""
    for span in spans(text):
        before = text[: span.begin]
        if span.is_range and ALWAYS[0] not in span.starts and ALWAYS[1] not in span.ends:
            match = _BETWEEN.search(before)
            return "between", span.days, match.start() if match else span.begin, span.end
        if match := _BEFORE_DATE.search(before):
            days = (
                span.starts if span.ends[1] == ALWAYS[1] else span.ends
            )  # "after 1875" is open as a span; the condition is its date
            return _BY_WORD[match["word"].lower()], days, match.start(), span.end
    return None


def _is_date_question(text: str, match: re.Match[str]) -> bool:
    """ "Did A die before B?" compares; its B is no event. What begins with a verb asks yes or no."""
    return bool(re.match(r"\W*(?:did|do|does|was|were|is|are|has|have|had)\b", text, re.IGNORECASE)) and (
        match["word"] in ("before", "after")
    )


def _without(text: str, begin: int, end: int) -> str:
    """The question without its condition, still a question."""
    left = f"{text[:begin]} {text[end:]}".replace(" still ", " ")
    left = " ".join(left.split()).strip(" ,;?")
    return f"{left}?" if left else text
