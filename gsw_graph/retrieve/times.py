"""The condition on time that a question states by dates: "before 1900", "in the 18th century", "1881-85"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import zip_longest

from gsw_graph.dates import find_dates

_FIRST, _LAST = "0001-01-01", "9999-12-31"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first"
).split()
_NUMBER = rf"(?P<word>{'|'.join(reversed(_ORDINALS))}|(?P<number>\d{{1,2}})(?:st|nd|rd|th))"
_CENTURY = re.compile(rf"\b(?:in|during) the {_NUMBER} century\b", re.IGNORECASE)
_BEFORE = re.compile(
    r"\b(?:before|until|till|by|prior to|earlier than) (?:the )?(?:year |end of )?$", re.IGNORECASE
)
_AFTER = re.compile(r"\b(?:after|since|later than|following) (?:the )?(?:year |end of )?$", re.IGNORECASE)
_DURING = re.compile(
    r"\b(?:in|on|during|at|as of|of|in the year) (?:the )?(?:year |end of )?$", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:between|from|in the years?) (?:the )?$", re.IGNORECASE)
_JOINS = re.compile(r"\s*(?:[-–—]|to|until|till|through|and)\s*", re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*\)")
_YEARS = re.compile(r"(?<=\b[12]\d{3})[-–—](?=[12]\d{3}\b)")


@dataclass(frozen=True, slots=True)
class DateBounds:
    """Bound the first and the last day of a date, as ISO days, inclusive."""

    from_least: str = _FIRST
    from_most: str = _LAST
    to_least: str = _FIRST
    to_most: str = _LAST


def date_bounds(question: str) -> DateBounds | None:
    """Read the condition on time of a question.

    What stands in brackets belongs to a name, as in "Change (1967 film)".

    Returns:
        The bounds of the dates that fit, or None where the question states no date as a condition.
    """
    text = _YEARS.sub(" to ", " ".join(_BRACKETS.sub(" ", question).split()))
    if match := _CENTURY.search(text):
        number = int(match["number"]) if match["number"] else 1 + _ORDINALS.index(match["word"].lower())
        return DateBounds(from_most=f"{100 * number:04}-12-31", to_least=f"{100 * number - 99:04}-01-01")
    dates = [found for found in find_dates(text) if found.days]
    for found, later in zip_longest(dates, dates[1:]):
        first, last = found.days or (_FIRST, _LAST)
        before = text[: found.begin]
        if _BETWEEN.search(before) and later is not None and _JOINS.fullmatch(text[found.end : later.begin]):
            return DateBounds(from_least=first, to_most=(later.days or (_FIRST, _LAST))[1])
        if _BEFORE.search(before):
            return DateBounds(to_most=_shifted(first, -1))
        if _AFTER.search(before):
            return DateBounds(from_least=_shifted(last, 1))
        if _DURING.search(before):
            return DateBounds(from_most=last, to_least=first)
    return None


def _shifted(day: str, days: int) -> str:
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    except (OverflowError, ValueError):
        return day
