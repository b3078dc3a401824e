"""Dates in running text: spans and the ISO interval each covers."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from typing import NamedTuple

_MONTHS = {
    word: number
    for number, words in enumerate(
        "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep "
        "sept,october oct,november nov,december dec".split(","),
        1,
    )
    for word in words.split()
}
# Months and days of the week alone are no names.
CALENDAR_WORDS = frozenset(_MONTHS) | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_MONTH = "(?P<month>January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
_YEAR = r"(?P<year>1\d{3}|20\d{2})"
_DATE = re.compile(
    rf"""\b(?:
      (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH}\.?,?\ {_YEAR}              # 12 May 1988
    | {_MONTH.replace("month", "month2")}\.?\ (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\ {_YEAR.replace("year", "year2")}    # May 12, 1988
    | {_MONTH.replace("month", "month3")}\.?,?\ {_YEAR.replace("year", "year3")}       # May 1988
    | (?P<day6>\d{{1,2}})\ {_MONTH.replace("month", "month6")}\b | {_MONTH.replace("month", "month7")}\ (?P<day7>\d{{1,2}})\b    # 12 May: no year, no interval
    | (?P<iso>{_YEAR.replace("year", "year4")}-(?P<month4>\d\d)-(?P<day4>\d\d))        # 1988-05-12
    | (?P<decade>1\d{{2}}0|20\d0)s                                                     # 1980s
    | (?<![\d,.$€£-]){_YEAR.replace("year", "year5")}(?![\d%]|[,.]\d)                  # 1988
    )(?!\w)""",
    re.VERBOSE,
)


class Date(NamedTuple):
    """A date as written, its place in the text and the days it covers (ISO, inclusive; None for a day
    without a year)."""

    begin: int
    end: int
    text: str
    days: tuple[str, str] | None


def find_dates(text: str) -> Iterator[Date]:
    """Dates of `text` in their order: days, months, decades and years; a date that the calendar does not
    have is passed over."""
    for match in _DATE.finditer(text):
        found = {key.rstrip("234567"): value for key, value in match.groupdict().items() if value}
        if "day" in found and "year" not in found:
            yield Date(match.start(), match.end(), match[0], None)
        elif days := _interval(found):
            yield Date(match.start(), match.end(), match[0], days)


def _interval(found: dict[str, str]) -> tuple[str, str] | None:
    if "decade" in found:
        first = int(found["decade"])
        return f"{first:04}-01-01", f"{first + 9:04}-12-31"
    year = int(found["year"])
    if "month" not in found:
        return f"{year:04}-01-01", f"{year:04}-12-31"
    word = found["month"].casefold()
    month = int(word) if word.isdigit() else _MONTHS[word[:3]]
    if not 1 <= month <= 12:
        return None
    last = calendar.monthrange(year, month)[1]
    if "day" not in found:
        return f"{year:04}-{month:02}-01", f"{year:04}-{month:02}-{last:02}"
    day = int(found["day"])
    return (f"{year:04}-{month:02}-{day:02}",) * 2 if 1 <= day <= last else None
