"""Numbers, dates and units of a text under keys that do not depend on how they are written: "12,500" and
"12 500", "1904-03-03" and "3 March 1904", "twelve" and "12", "km" and "kilometres". So an answer is compared
with its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from gsw_graph.text.dates import find_dates

Keys = frozenset[str]


@dataclass(frozen=True)
class Quantities:
    """What a text says in numbers.

    Attributes:
        parts: Of each number, date and unit the alternatives: a text with all keys of an alternative says the
            same.
        keys: All keys of the text.
        rest: The text without these.
    """

    parts: tuple[frozenset[Keys], ...]
    keys: Keys
    rest: str

    def share(self, keys: Keys) -> list[bool]:
        """Tell for each part whether a text with these keys says it."""
        return [any(alternative <= keys for alternative in part) for part in self.parts]


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_OF_WORDS = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
# The numbers from one to twelve in other languages; a word that means something else there too is left out.
_FOREIGN = (
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "deux trois quatre cinq six sept huit neuf dix onze douze",
    "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "dois três quatro cinco seis sete oito nove dez onze doze",
)
_ALSO_ENGLISH = frozenset("once dos six elf due sept sei nove".split())
_ABROAD = {
    word: number
    for words in _FOREIGN
    for number, word in enumerate(words.split(), 2)
    if word not in _ALSO_ENGLISH
}
_ORDINALS = {
    word: int(number)
    for number, word in (
        entry.split()
        for entry in (
            "1 first,2 second,3 third,4 fourth,5 fifth,6 sixth,7 seventh,8 eighth,9 ninth,10 tenth,"
            "11 eleventh,12 twelfth,13 thirteenth,14 fourteenth,15 fifteenth,16 sixteenth,"
            "17 seventeenth,18 eighteenth,19 nineteenth,20 twentieth,21 twenty-first,22 twenty-second"
        ).split(",")
    )
}
# What stands for a scale behind digits.
_SHORT_SCALES = dict(_SCALES)
for _line in (
    "1000 k tsd tausend mille mil",
    "1000000 mn mio millionen millions millones milioni milhões",
    "1000000000 bn mrd milliarden milliards miliardi",
    "12 dozen dutzend",
):
    _size, *_words = _line.split()
    _SHORT_SCALES.update(dict.fromkeys(_words, int(_size)))
_UNITS = {
    word: line.split()[0]
    for line in (
        "kilometre km kilometres kilometer kilometers kilomètre kilomètres kilómetros chilometri",
        "metre m metres meter meters mètre mètres metro metros metri",
        "centimetre cm centimetres centimeter centimeters zentimeter",
        "millimetre mm millimetres millimeter millimeters",
        "mile mi miles meile meilen",
        "foot ft feet",
        "inch inches",
        "kilogram kg kilograms kilogramme kilogrammes kilogramm kilo kilos",
        "gram g grams gramme grammes gramm",
        "tonne t tonnes ton tons",
        "litre l litres liter liters",
        "hectare ha hectares hektar",
        "hour h hr hrs hours stunde stunden",
        "minute min minutes minuten",
        "second s sec seconds sekunde sekunden",
        "year yr yrs years jahr jahre jahren",
        "degree ° °c °f degrees grad",
        "percent % prozent percentage",
        "dollar $ dollars usd",
        "euro € euros eur",
        "pound £ pounds gbp lb lbs",
        "yen ¥ jpy",
        "franc chf francs franken",
        "century centuries siècle siècles jahrhundert jahrhunderts siglo siglos secolo secoli século séculos",
    )
    for word in line.split()
}
_LONGER = frozenset(word for word in _UNITS if len(word) > 2)  # units without a number beside them, too
_MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    )
    for number, name in enumerate(names.split(), 1)
}


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


@lru_cache(maxsize=512)
def quantities(text: str) -> Quantities:
    """Return what a text says in numbers, dates and units."""
    parts: list[frozenset[Keys]] = []
    keys: set[str] = set()
    rest = text
    for found in _DAY.finditer(text):
        if alternatives := _days(found):
            rest = _blanked(rest, found.start(), found.end())
            parts.append(alternatives)
            keys.update(_of_days(found))
    for when in find_dates(rest):
        if when.days is not None and when.text.strip()[0].isalpha():  # a month of a year
            keys.update((f"@{when.days[0][:7]}", f"#{when.days[0][:4]}"))
            parts.append(frozenset([frozenset([f"@{when.days[0][:7]}"])]))
            rest = _blanked(rest, when.begin, when.end)
    for found in _NUMBER.finditer(rest):
        values = _values(found, text)
        if not values:
            continue
        rest = _blanked(rest, found.start(), found.end())
        parts.append(frozenset(frozenset([value]) for value in values))
        keys.update(values)
        for unit in filter(None, (found["coin"], found["unit"])):
            key = _unit(unit)
            parts.append(frozenset([frozenset([key])]))
            keys.add(key)
    for found in _ROMAN.finditer(rest):
        if found[0]:
            number = _roman(found[0])
            keys.update((f"#{number}", f"#{number}th"))
            parts.append(frozenset(frozenset([key]) for key in (f"#{number}", f"#{number}th")))
            rest = _blanked(rest, found.start(), found.end())
    keys.update(f"~{_UNITS[word]}" for word in re.findall(r"[^\W\d_]{3,}", text.lower()) if word in _LONGER)
    return Quantities(tuple(parts), frozenset(keys), rest)


def _blanked(text: str, begin: int, end: int) -> str:
    return text[:begin] + " " * (end - begin) + text[end:]


def _days(found: re.Match[str]) -> frozenset[Keys]:
    """Return the alternatives of a day: itself, or the day without a year, and the year elsewhere."""
    alternatives: set[Keys] = set()
    for year, month, day in _readings(found):
        if year:
            alternatives.add(frozenset([f"@{year}-{month:02}-{day:02}"]))
            alternatives.add(frozenset([f"@no year-{month:02}-{day:02}", f"#{year}"]))
        else:
            alternatives.add(frozenset([f"@any year-{month:02}-{day:02}"]))
    return frozenset(alternatives)


def _of_days(found: re.Match[str]) -> set[str]:
    """Return the keys of a day, of its month and its year."""
    keys: set[str] = set()
    for year, month, day in _readings(found):
        end = f"{month:02}-{day:02}"
        keys |= {f"#{day}", f"#{day}th", f"@any year-{end}"}
        keys |= {f"@{year}-{end}", f"#{year}", f"@{year}-{month:02}"} if year else {f"@no year-{end}"}
    return keys


def _readings(found: re.Match[str]) -> Iterator[tuple[int, int, int]]:
    """Yield year (0 without one), month and day of a date; twice if day and month may change places."""
    groups = found.groupdict()
    year = int(groups["year"] or groups["year2"] or groups["year3"] or groups["year4"] or 0)
    if groups["sign"]:
        first, second = int(groups["first"]), int(groups["middle"])
        orders = [(second, first)] if groups["sign"] == "." else [(second, first), (first, second)]
    elif groups["year4"]:
        orders = [(int(groups["month4"]), int(groups["day4"]))]
    else:
        month = _MONTHS[(groups["month"] or groups["month2"]).lower()]
        orders = [(month, int(groups["day"] or groups["day2"]))]
    for month, day in orders:
        try:
            date(year or 2000, month, day)
        except ValueError:
            continue
        yield year, month, day


def _values(found: re.Match[str], text: str) -> set[str]:
    """Return the keys of a number; of one that can be read in two ways, those of both."""
    groups = found.groupdict()
    if groups["ordinal"]:
        return {f"#{_ORDINALS[groups['ordinal'].lower()]}th"}
    if groups["abroad"]:
        return {_key(Decimal(_ABROAD[groups["abroad"].lower()]))}
    if groups["spelled"]:
        return {_key(Decimal(_spelled(groups["spelled"])))}
    numbers = _read_digits(groups["digits"], text)
    if groups["rank"]:
        return {f"{_key(number)}th" for number in numbers}
    scale = _SHORT_SCALES[groups["scale"].lower()] if groups["scale"] else 1
    sign = -1 if groups["minus"] else 1
    values = {_key(sign * scale * number) for number in numbers}
    if (groups["unit"] or "").strip().lower().startswith(("%", "per", "pour", "por", "proz")):
        values |= {_key(sign * number / 100) for number in numbers}
    return values


def _read_digits(digits: str, text: str) -> list[Decimal]:
    """Return what digits with points, commas and gaps may mean. "12.500" is 12500 in one country and twelve
    and a half in another; "12,500" is twelve and a half only in a language that writes "12,5"."""
    plain = re.sub(rf"{_SPACE}|['’]", "", digits)
    marks = re.findall("[.,]", plain)
    if not marks:
        return [Decimal(plain)]
    whole, _, part = plain.rpartition(marks[-1])
    grouped = Decimal(re.sub("[.,]", "", plain))
    if len(set(marks)) < len(marks):
        same = len(set(marks)) == 1
        return [grouped if same else Decimal(f"{re.sub('[.,]', '', whole)}.{part}")]
    pointed = Decimal(f"{re.sub('[.,]', '', whole)}.{part}")
    if len(marks) > 1 or len(part) != 3 or len(whole) > 3 or whole == "0":
        return [pointed]
    if marks[0] == ".":
        return [grouped, pointed]
    from gsw_graph.text.languages import detect

    return [grouped, pointed] if detect(text).code in _COMMA_IS_POINT else [grouped]


def _spelled(text: str) -> int:
    """Return a number in English words: "one thousand two hundred and five"."""
    whole = group = 0
    for word in re.findall("[a-z]+", text.lower()):
        scale = _SCALES.get(word.removesuffix("s")) if word not in _OF_WORDS else None
        if scale == 100:
            group = 100 * (group or 1)
        elif scale is not None:
            whole, group = whole + scale * (group or 1), 0
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
    values = [_ROMAN_VALUES[sign] for sign in text]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))


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


def _plain_day(found: re.Match[str]) -> str:
    readings = list(_readings(found))
    if len(readings) != 1:
        return found[0]
    year, month, day = readings[0]
    name = _ENGLISH_MONTHS[month - 1]
    return f"{day} {name} {year} {year}{month:02}{day:02}" if year else f"{day} {name}"


def other_forms(text: str) -> list[str]:
    """Return the words under which a full-text index finds the numbers and days of a text that are written
    otherwise: of "12500" also "12,500" and "12.500", of "1904-03-03" the words of "3 March 1904"."""
    forms: dict[str, None] = {}
    for found in _PLAIN.finditer(same_words(text)):
        number = int(found[0])
        if not _YEARS[0] <= number < _YEARS[1]:  # a year is written in one way
            forms |= dict.fromkeys((found[0], f"{number:,}", f"{number:,}".replace(",", ".")))
    for found in _DAY.finditer(text):
        for year, month, day in _readings(found):
            written = (str(day), _ENGLISH_MONTHS[month - 1], str(year or ""), f"{month:02}", f"{day:02}")
            forms |= dict.fromkeys(filter(None, written))
    there = set(re.findall(r"[\w.,]+", text.lower()))
    return [form for form in forms if form not in there]


_PLAIN = re.compile(r"(?<![\w.,-])\d{4,7}(?![\w-]|[.,]\d)")
_YEARS = (1000, 2100)
