"""Numbers, dates and units of a text under keys that do not depend on how they are written: "12,500" and
"12 500", "1904-03-03" and "3 March 1904", "twelve" and "12", "km" and "kilometres". So an answer is compared
with its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from gsw_graph.text.dates import find_dates
from gsw_graph.text.languages import detect
from gsw_graph.text.words import table

Keys = frozenset[str]
Match = re.Match[str]
Day = tuple[int, int, int]  # year (0 without one), month, day of the month


@dataclass(frozen=True)
class Quantities:
    """Hold the numbers, dates and units of a text.

    Attributes:
        parts: The alternatives of each number, date and unit. A text with all keys of an alternative says the
            same.
        keys: All keys of the text.
        rest: The text without numbers, dates and units.
        written: Each part as written.
    """

    parts: tuple[frozenset[Keys], ...]
    keys: Keys
    rest: str
    written: tuple[str, ...]

    def share(self, keys: Keys) -> list[bool]:
        """Tell for each part whether a text with these keys says the same."""
        return [any(alternative <= keys for alternative in part) for part in self.parts]


_TABLES = table("quantities")
_OF_WORDS: dict[str, int] = _TABLES["words"]
_SCALES: dict[str, int] = _TABLES["scales"]
# The numbers from one to twelve in other languages; a word that means something else in English is left out.
_ABROAD: dict[str, int] = _TABLES["foreign words"]
_ORDINALS: dict[str, int] = _TABLES["ordinals"]
# What stands for a scale behind digits.
_SHORT_SCALES = _SCALES | _TABLES["scales behind digits"]
_UNITS: dict[str, str] = {}
for _name, _words in _TABLES["units"].items():
    _UNITS |= dict.fromkeys([_name, *_words.split()], _name)
_LONGER = frozenset(word for word in _UNITS if len(word) > 2)  # units without a number beside them, too
_MONTHS: dict[str, int] = {}
for _names in _TABLES["months"]:
    _MONTHS |= {name: number for number, name in enumerate(_names.split(), 1)}


def _one_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_DAY = re.compile(
    rf"""(?<![\w.,/-])(?:
      (?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.|º|°)?\s+(?:of\s+|de\s+|d[’'])?(?P<month>{_one_of(_MONTHS)})
        (?:,?\s+(?:del?\s+)?(?P<year>\d{{3,4}}))?
    | (?P<month2>{_one_of(_MONTHS)})\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year2>\d{{4}}))?
    | (?P<first>\d{{1,2}})(?P<sign>[./-])\s?(?P<middle>\d{{1,2}})(?P=sign)\s?(?P<year3>\d{{4}})
    | (?P<year4>\d{{4}})[-/.](?P<month4>\d{{1,2}})[-/.](?P<day4>\d{{1,2}})
    )(?![\w]|[.,/-]\d)""",
    re.VERBOSE | re.IGNORECASE,
)
_WORD = f"(?:{_one_of(_OF_WORDS)})"
_SCALE = f"(?:{_one_of(_SCALES)})s?"
_SPELLED = f"(?:{_WORD}|(?:an?\\s+)?{_SCALE})(?:(?:-|\\s+and\\s+|\\s+)(?:{_WORD}|{_SCALE}))*"
_SPACE = "[ \u00a0\u202f\u2009]"  # within a number
_UNIT = _one_of(_UNITS)
_NUMBER = re.compile(
    rf"""(?:(?P<coin>US\$|[$€£¥]|\b(?:USD|EUR|GBP|JPY|CHF)\b)\s?)?
    (?<![\w.,])(?P<minus>(?<![\w)])[-−])?(?:
      (?P<digits>(?!0\d|\d{{3}}0s\b)(?:
          \d{{1,3}}(?P<gap>,|\.|'|’|{_SPACE})\d{{3}}(?:(?P=gap)\d{{3}})*(?:[.,]\d+)?(?!{_SPACE}?\d)
        | \d{{1,15}}(?:[.,]\d{{1,9}})?)(?![.,]?\d))
      (?P<rank>st|nd|rd|th|e|ème|º|ª|\.(?=\s(?:Jahrhundert|Jh)))?
      (?:{_SPACE}?-?(?P<scale>{_one_of(_SHORT_SCALES)})\.?(?![\w]))?
    | (?P<ordinal>{_one_of(_ORDINALS)})(?![\w])
    | (?P<abroad>{_one_of(_ABROAD)})(?![\w])
    | (?P<spelled>{_SPELLED})(?![\w])
    )(?:(?:{_SPACE}|-)?(?P<unit>{_UNIT}|per\s?cent|pour\s?cent|por\s?ciento|per\s?cento)(?![\w]))?(?![^\W\d_])""",
    re.VERBOSE | re.IGNORECASE,
)
_ROMAN = re.compile(
    r"(?<![\w.])(?=[IVXLC]{2,7})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})(?=(?:e|ème|th|º)?(?![\w.]\w|\w))"
)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_COMMA_IS_POINT = frozenset(("de", "fr", "es", "it", "pt", "ru", "el"))


class _Reading:
    """Gather the parts and keys of a text, and blank what is read."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self.parts: list[frozenset[Keys]] = []
        self.keys: set[str] = set()
        self.written: list[str] = []

    def add(self, part: Iterable[Iterable[str]], keys: Iterable[str], written: str) -> None:
        """Add the alternatives of a part, the keys that the text has by it, and the part as it is written."""
        self.parts.append(frozenset(map(frozenset, part)))
        self.keys.update(keys)
        self.written.append(written.strip())

    def add_any(self, keys: Iterable[str], written: str) -> None:
        """Add a part that each of some keys says."""
        self.add([[key] for key in keys], keys, written)

    def blank(self, begin: int, end: int) -> None:
        self.rest = self.rest[:begin] + " " * (end - begin) + self.rest[end:]


@lru_cache(maxsize=512)
def quantities(text: str) -> Quantities:
    """Return the numbers, dates and units of a text."""
    reading = _Reading(text)
    for found in _DAY.finditer(text):
        if days := list(_readings(found)):
            reading.blank(*found.span())
            reading.add(_alternatives(days), _keys_of_days(days), found[0])
    for when in find_dates(reading.rest):
        if when.days is not None and when.text.strip()[0].isalpha():  # a month of a year
            month = when.days[0][:7]
            reading.blank(when.begin, when.end)
            reading.add([[f"@{month}"]], [f"@{month}", f"#{month[:4]}"], when.text)
    for found in _NUMBER.finditer(reading.rest):
        values = _values(found, text)
        if not values:
            continue
        reading.blank(*found.span())
        reading.add_any(values, found[0])
        for unit in (found["coin"], found["unit"]):
            if unit:
                reading.add_any([_unit(unit)], unit)
    for found in _ROMAN.finditer(reading.rest):
        if found[0]:
            number = _roman(found[0])
            reading.blank(*found.span())
            reading.add_any([f"#{number}", f"#{number}th"], found[0])
    words = re.findall(r"[^\W\d_]{3,}", text.lower())
    reading.keys.update(f"~{_UNITS[word]}" for word in words if word in _LONGER)
    return Quantities(tuple(reading.parts), frozenset(reading.keys), reading.rest, tuple(reading.written))


def _alternatives(days: Iterable[Day]) -> Iterator[list[str]]:
    """Yield the alternatives of a day: itself, or the day without a year, and the year elsewhere."""
    for year, month, day in days:
        end = f"{month:02}-{day:02}"
        if year:
            yield [f"@{year}-{end}"]
            yield [f"@no year-{end}", f"#{year}"]
        else:
            yield [f"@any year-{end}"]


def _keys_of_days(days: Iterable[Day]) -> Iterator[str]:
    """Yield the keys of a day, of its month and its year."""
    for year, month, day in days:
        end = f"{month:02}-{day:02}"
        yield from (f"#{day}", f"#{day}th", f"@any year-{end}")
        if year:
            yield from (f"@{year}-{end}", f"#{year}", f"@{year}-{month:02}")
        else:
            yield f"@no year-{end}"


def _readings(found: Match) -> Iterator[Day]:
    """Yield year (0 without one), month and day of a date; twice if day and month may change places."""
    year = int(found["year"] or found["year2"] or found["year3"] or found["year4"] or 0)
    if found["sign"]:
        first, second = int(found["first"]), int(found["middle"])
        orders = [(second, first)]
        if found["sign"] != ".":
            orders.append((first, second))
    elif found["year4"]:
        orders = [(int(found["month4"]), int(found["day4"]))]
    else:
        month = found["month"] or found["month2"]
        orders = [(_MONTHS[month.lower()], int(found["day"] or found["day2"]))]
    for month_number, day in orders:
        with suppress(ValueError):
            date(year or 2000, month_number, day)
            yield year, month_number, day


def _values(found: Match, text: str) -> set[str]:
    """Return the keys of a number; of one that can be read in two ways, those of both."""
    if word := found["ordinal"]:
        return {f"#{_ORDINALS[word.lower()]}th"}
    if word := found["abroad"]:
        return {f"#{_ABROAD[word.lower()]}"}
    if found["spelled"]:
        return {_key(Decimal(_spelled(found["spelled"])))}
    numbers = _read_digits(found["digits"], text)
    if found["rank"]:
        return {f"{_key(number)}th" for number in numbers}
    factor = _SHORT_SCALES[found["scale"].lower()] if found["scale"] else 1
    sign = -1 if found["minus"] else 1
    values = {_key(sign * factor * number) for number in numbers}
    if (found["unit"] or "").strip().lower().startswith(("%", "per", "pour", "por", "proz")):
        values.update(_key(sign * number / 100) for number in numbers)
    return values


def _read_digits(digits: str, text: str) -> list[Decimal]:
    """Return what digits with points, commas and gaps may mean. "12.500" is 12500 in one country and twelve
    and a half in another; "12,500" is twelve and a half only in a language that writes "12,5"."""
    plain = re.sub(rf"{_SPACE}|['’]", "", digits)
    marks = re.findall("[.,]", plain)
    if not marks:
        return [Decimal(plain)]
    written, _, part = plain.rpartition(marks[-1])
    whole = re.sub("[.,]", "", written)
    grouped = Decimal(whole + part)
    pointed = Decimal(f"{whole}.{part}")
    if len(marks) > 1:
        return [grouped if len(set(marks)) == 1 else pointed]
    if len(part) != 3 or len(whole) > 3 or whole == "0":
        return [pointed]
    if marks[0] == ".":
        return [grouped, pointed]
    return [grouped, pointed] if detect(text).code in _COMMA_IS_POINT else [grouped]


def _spelled(text: str) -> int:
    """Return a number in English words: "one thousand two hundred and five"."""
    whole = group = 0
    for word in re.findall("[a-z]+", text.lower()):
        scale = _SCALES.get(word.removesuffix("s"), 0)
        if scale == 100:
            group = 100 * (group or 1)
        elif scale:
            whole += scale * (group or 1)
            group = 0
        else:
            group += _OF_WORDS.get(word, 0)
    return whole + group


def _key(number: Decimal) -> str:
    try:
        return f"#{number.normalize():f}"
    except InvalidOperation:
        return f"#{number}"


def _unit(text: str) -> str:
    word = re.sub(r"\s", "", text.lower()).removeprefix("us")
    return f"~{_UNITS.get(word, 'percent')}"


def _roman(text: str) -> int:
    total = before = 0
    for sign in reversed(text):
        value = _ROMAN_VALUES[sign]
        total += value if value >= before else -value
        before = value
    return total


def same_words(text: str) -> str:
    """Return a text for a comparison by words, with numbers and days in one form: "12,500" and "12 500"
    become "12500", a day its day, month and year in words, and all in one number, which no other day has."""
    text = _DAY.sub(_plain_day, text)
    return _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text)


_GROUPED = re.compile(
    rf"""(?<![\w.,])\d{{1,3}}
    (?:(?:,\d{{3}})+|(?:\.\d{{3}})+|(?:['’]\d{{3}})+|(?:{_SPACE}\d{{3}})+)
    (?![\w]|[.,]\d|{_SPACE}\d)""",
    re.VERBOSE,
)
_ENGLISH_MONTHS = list(_MONTHS)[:12]


def _plain_day(found: Match) -> str:
    readings = list(_readings(found))
    if len(readings) != 1:
        return found[0]
    year, month, day = readings[0]
    written = f"{day} {_ENGLISH_MONTHS[month - 1]}"
    return f"{written} {year} {year}{month:02}{day:02}" if year else written


def other_forms(text: str) -> list[str]:
    """Return other written forms of the numbers and days of a text, for a full-text index: for "12500" also
    "12,500" and "12.500", for "1904-03-03" the words of "3 March 1904"."""
    forms: list[str] = []
    for found in _PLAIN.finditer(same_words(text)):
        number = int(found[0])
        if number not in _YEARS:  # a year is written in one way
            grouped = f"{number:,}"
            forms += [found[0], grouped, grouped.replace(",", ".")]
    for found in _DAY.finditer(text):
        for year, month, day in _readings(found):
            forms += [str(day), _ENGLISH_MONTHS[month - 1], f"{month:02}", f"{day:02}"]
            if year:
                forms.insert(-2, str(year))
    written = re.findall(r"[\w.,]+", text.lower())
    return [form for form in dict.fromkeys(forms) if form not in written]


_PLAIN = re.compile(r"(?<![\w.,-])\d{4,7}(?![\w-]|[.,]\d)")
_YEARS = range(1000, 2100)
