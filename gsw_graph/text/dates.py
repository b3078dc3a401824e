"""Dates and numbers in running text, and the names that are no more than these."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from gsw_graph.values import word_set

# Months and days of the week alone are no names.
CALENDAR_WORDS = word_set(
    "january jan february feb march mar april apr may june jun july jul august aug september sep sept "
    "october oct november nov december dec monday tuesday wednesday thursday friday saturday sunday"
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def _month(number: int) -> str:
    """Return the pattern of a month; its group has a number, as one expression may not have a name twice."""
    months = (
        "January|February|March|April|May|June|July|August|September|October|November|December"
        "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    )
    return f"(?P<month{number}>{months})"


def _year(number: int) -> str:
    return rf"(?P<year{number}>1\d{{3}}|20\d{{2}})"


_DATE = re.compile(
    rf"""\b(?:
      (?P<day1>\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?{_month(1)}\.?,?\ {_year(1)}        # 12 May 1988
    | {_month(2)}\.?\ (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,?\ {_year(2)}                # May 12, 1988
    | {_month(3)}\.?,?\ {_year(3)}                                                     # May 1988
    # 12 May: no year, no interval
    | (?P<day6>\d{{1,2}})\ {_month(6)}\b
    | {_month(7)}\ (?P<day7>\d{{1,2}})\b
    | (?P<iso>{_year(4)}-(?P<month4>\d\d)-(?P<day4>\d\d))                              # 1988-05-12
    | (?P<decade>1\d{{2}}0|20\d0)s                                                     # 1980s
    | (?<![\d,.$€£#-]){_year(5)}(?![\d%]|[,.]\d)                                       # 1988
    )(?!\w)""",
    re.VERBOSE,
)

# A bare number of four digits is no year if its neighbours make it an amount or the number of something.
_AMOUNT = (
    r"(?:costs?|prices?|sums?|totals?|values?|populations?|lengths?|heights?|weights?|widths?|depths?|areas?"
    r"|distances?|salar(?:y|ies)|wages?|budgets?|fees?|fines?|rents?|debts?|capacit(?:y|ies)|attendances?"
    r"|elevations?|altitudes?|speeds?|averages?|maximum|minimum|crews?|circulations?|memberships?|amounts?"
    r"|quantit(?:y|ies)|counts?|revenues?|expenses?|balances?)"
)
_AMOUNT_BEFORE = re.compile(
    rf"""(?:
      \b{_AMOUNT}(?:\ \([^()]{{1,20}}\))?(?:\ (?:of|was|is|were|are|to|at)|\ ?:)
    | \b(?:paid|pays?|costs?|weigh(?:s|ed)?|worth|measur(?:es|ed)|totall?ed|numbered|seats|earn(?:s|ed)
        |owe[sd]|charged|sold)
    | \b(?:n(?:umber|o|os)|pages?|pp?|rooms?|flights?|routes?|highways?|models?|sections?|articles?|verses?
        |psalms?|items?)\.?
    )\ (?:(?:about|some|nearly|almost|over|around|roughly|approximately|only|up\ to|at\ least|more\ than
        |less\ than)\ )?$""",
    re.VERBOSE | re.IGNORECASE,
)
_COUNT_BEFORE = re.compile(
    r"\b(?:has|have|had|with|nearly|almost|than|least|some|about|contains?|contained)\ $"
)
_COUNTED = re.compile(r"\ [a-z]{3,}s\b")
_UNIT = re.compile(
    r"\ (?:[kcm]?m|ft|feet|miles?|(?:kilo)?met(?:er|re)s?|yards?|acres?|hectares?|k?g|tons?|tonnes?|pounds?"
    r"|kilograms?|dollars?|euros?|crowns?|francs?|marks|guilders?|shillings?|pence|cents|rupees|yen|people|persons"
    r"|men|women|children|soldiers|inhabitants|residents|students|pupils|members|employees|workers|seats|copies"
    r"|votes|pages|words|times|percent|per\ cent|volts?|watts?|lit(?:er|re)s?|gallons?|barrels|horsepower|rpm"
    r"|mph)\b"
)
_AMOUNT_HEAD = re.compile(rf"\b{_AMOUNT}\b|\b(?:numbers?|units?|items?|pages?)\b", re.IGNORECASE)
_CONTEXT = 60  # characters before a number that are looked at


class Date(NamedTuple):
    """Hold a date as written, its place in the text and the days it covers (ISO, inclusive; None for a day
    without a year)."""

    begin: int
    end: int
    text: str
    days: tuple[str, str] | None


def find_dates(text: str) -> Iterator[Date]:
    """Find the days, months, decades and years of a text, in their order.

    A date that the calendar does not have is passed over, and so is a number that is no year by its
    neighbours: "a cost of 1200", "1200 people", "page 1200".
    """
    for match in _DATE.finditer(text):
        begin, end = match.span()
        parts = {name.rstrip("1234567"): part for name, part in match.groupdict().items() if part}
        if "day" in parts and "year" not in parts:
            yield Date(begin, end, match[0], None)
        elif list(parts) == ["year"] and _is_amount(text, begin, end):
            continue
        elif days := _interval(parts):
            yield Date(begin, end, match[0], days)


def _is_amount(text: str, begin: int, end: int) -> bool:
    """Tell a number of four digits that counts, costs or labels from a year."""
    before = text[max(0, begin - _CONTEXT) : begin]
    return bool(
        _UNIT.match(text, end)
        or _AMOUNT_BEFORE.search(before)
        or (_COUNT_BEFORE.search(before) and _COUNTED.match(text, end))
        or _AMOUNT_HEAD.search(_column_head(text, begin))
    )


def _column_head(text: str, begin: int) -> str:
    """Return the head of the column of a Markdown table that a place in a text is in, "" if it is in
    none."""
    line = text[text.rfind("\n", 0, begin) + 1 : begin]
    if not line.startswith("|"):
        return ""
    column = line.count("|")
    first_line = text[:begin].rpartition("\n\n")[2].partition("\n")[0]
    heads = first_line.split("|")
    return heads[column] if column < len(heads) else ""


def _interval(parts: dict[str, str]) -> tuple[str, str] | None:
    """Return the first and the last day of a date; None if the calendar has none."""
    if decade := parts.get("decade"):
        return f"{decade}-01-01", f"{decade[:3]}9-12-31"
    year = parts["year"]
    if "month" not in parts:
        return f"{year}-01-01", f"{year}-12-31"
    name = parts["month"]
    month = int(name) if name.isdigit() else _MONTHS.index(name[:3].casefold()) + 1
    try:
        first = date(int(year), month, int(parts.get("day", 1)))
    except ValueError:
        return None
    last = first
    if "day" not in parts:
        last = first.replace(day=calendar.monthrange(first.year, month)[1])
    return first.isoformat(), last.isoformat()


_SCALE = "hundred|thousand|million|billion"
_NUMBER_WORD = (
    "(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    "|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|" + _SCALE + ")"
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?:(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{1,15}}(?:\.\d{{1,9}})?)(?:\ (?:{_SCALE}))?"
    rf"|{_NUMBER_WORD}(?:(?:-|\ and\ |\ ){_NUMBER_WORD}){{0,8}})(?!\w)",
    re.IGNORECASE,
)
# Alone, or beside a date or a number, these name nothing, however they are written.
_COMMON = word_set(
    "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday in on at by from since until before after about no number "
    "chapter part volume page act scene section century centuries decade decades year years month months "
    "week weeks day days hour hours dollar dollars pound pounds euro euros mile miles"
)
_WORD = re.compile(r"[^\W\d_]+")
_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"^(the|an?)\s+", re.IGNORECASE)


def is_distinctive(name: str) -> bool:
    """Tell a name that links what it stands in from one of dates, numbers and common words alone.

    Two texts that say "1911" or "twenty-eight years" need have nothing to do with each other. A common word
    is written small; scripts without small letters have none.
    """
    rest = _ARTICLE.sub("", name.strip())
    spans = [(found.begin, found.end) for found in find_dates(rest)]
    spans += (match.span() for match in _NUMBER.finditer(rest))
    for begin, end in spans:
        rest = rest[:begin] + " " * (end - begin) + rest[end:]
    words = _WORD.findall(_ORDINAL.sub(" ", rest))
    return any(not word.islower() and word.lower() not in _COMMON for word in words)
