"""Stretches of time in a text, and how two of them lie to each other.

A stretch has a beginning and an end, each of which is a date that may itself cover a month, a year or a
decade: "from 1875 to 1903" begins somewhere in 1875. So what is compared are intervals of days, and two
dates that overlap are neither before nor after each other. That a range of two dates is one stretch, and
that "since" and "until" leave it open, are our rules; the dates are those of `naming/dates.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gsw_graph.naming.dates import Date, find_dates

Days = tuple[str, str]  # first and last day, ISO, inclusive
ALWAYS: Days = ("0001-01-01", "9999-12-31")

_YEARS = re.compile(r"(?<=\b[12]\d{3})[-–—](?=[12]\d{3}\b)")
_SHORT = re.compile(r"\b([12]\d)(\d\d)[-–—](\d\d)(?![\d-])")
_JOINS = re.compile(r"\s*(?:[-–—]|to|until|till|through)\s*", re.IGNORECASE)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?$", re.IGNORECASE)
_FROM = re.compile(r"\b(?:since|from|after)\s+(?:the\s+)?$", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|up to)\s+(?:the\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time as written, its place in the text, and the days in which it starts and ends; for a
    single date both are its days. is_range: two dates were written."""

    begin: int
    end: int
    text: str
    starts: Days
    ends: Days
    is_range: bool = False

    @property
    def days(self) -> Days:
        """All of it."""
        return self.starts[0], self.ends[1]

    @property
    def years(self) -> int | None:
        """How many years lie between its first and its last year; None for one date, or where it is open."""
        if not self.is_range or self.starts[0] == ALWAYS[0] or self.ends[1] == ALWAYS[1]:
            return None
        return int(self.ends[0][:4]) - int(self.starts[0][:4])


def spans(text: str) -> list[Span]:
    """The stretches of time of a text in their order: ranges as one, open ones to the end of time."""
    even = _YEARS.sub(
        " ", text
    )  # a year after a hyphen is no date elsewhere, as it may be a part of a number
    found: list[Span] = []
    dates = [one for one in find_dates(even) if one.days]
    short = {match.start(): match for match in _SHORT.finditer(text)}
    n = 0
    while n < len(dates):
        one = dates[n]
        later = dates[n + 1] if n + 1 < len(dates) else None
        if later is not None and _joined(text, one, later):
            found.append(_range(text, one, later))
            n += 2
            continue
        found.append(_short(one, short.get(one.begin)) or _single(text, one))
        n += 1
    return found


def is_before(one: Days, other: Days) -> bool:
    """Whether all of one lies before all of the other."""
    return one[1] < other[0]


def _joined(text: str, one: Date, later: Date) -> bool:
    between = text[one.end : later.begin]
    if _days(one)[0] > _days(later)[1]:
        return False
    if _JOINS.fullmatch(between):
        return True
    return bool(_AND.fullmatch(between) and _BETWEEN.search(text[: one.begin]))


def _range(text: str, one: Date, later: Date) -> Span:
    return Span(one.begin, later.end, text[one.begin : later.end], _days(one), _days(later), is_range=True)


def _short(one: Date, match: re.Match[str] | None) -> Span | None:
    """1881-82."""
    if match is None or match[3] <= match[2]:
        return None
    year = match[1] + match[3]
    return Span(
        match.start(), match.end(), match[0], _days(one), (f"{year}-01-01", f"{year}-12-31"), is_range=True
    )


def _single(text: str, one: Date) -> Span:
    before, days = text[max(0, one.begin - 20) : one.begin], _days(one)
    if _FROM.search(before):
        return Span(one.begin, one.end, one.text, days, (ALWAYS[1], ALWAYS[1]), is_range=True)
    if _UNTIL.search(before):
        return Span(one.begin, one.end, one.text, (ALWAYS[0], ALWAYS[0]), days, is_range=True)
    return Span(one.begin, one.end, one.text, days, days)


def _days(one: Date) -> Days:
    """Of a date that has a year; the others are left out before."""
    return one.days or ALWAYS
