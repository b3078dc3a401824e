"""What Excel shows of a value: percents, leading zeros, thousands, currencies, dates, hours, fractions.

A number is written with a point and with commas, whatever the language of the file; a date as 2024-03-05, so
far as its cell shows it. A format that is not understood leaves the value as it is.
"""

from __future__ import annotations

import datetime
import operator
import re
from contextlib import suppress
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from gsw_graph.values import single_spaced

# Literal text; then what is seen as white or colour only.
_PART = re.compile(
    r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|_.|\*.|\[(?![<>=]|[hms]+\])[^\]]*\]', re.IGNORECASE | re.DOTALL
)
_LITERAL = re.compile("[\ue000-\ue0ff]")  # the place of a literal text
_VALUE = re.compile("General|@", re.IGNORECASE)
_CONDITION = re.compile(r"\[([<>=]+)\s*(-?[\d.]+)\]")
_COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_DIGIT = re.compile("[0#?]")
_EXPONENT = re.compile("E([+-])", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_GROUPED = re.compile("[0#?].*,.*[0#?]")
_THOUSANDS = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
_FRACTION = re.compile(
    r"(?:(?P<whole>[#0?]+)[^#0?/]+)?[#0?]+\s*/\s*(?:(?P<fixed>[1-9][0-9]{0,4})|(?P<bottom>[#0?]{1,4}))"
)
_DATE_PART = re.compile(r"\[[hms]+\]|y+|m+|d+|h+|s+", re.IGNORECASE)
_DOUBLED = re.compile(r"(.)\1+")
_MINUTES = re.compile(r"(?<=h)m|(?<=h\])m|m(?=s)")
_MOST_CODE = 255  # characters, as Excel has it
_MOST_PLAIN = 1e15
_FIRST_DAY = datetime.datetime(1899, 12, 30)


def shown(value: object, code: str) -> str:
    """Return the displayed text of a cell, in one line.

    Args:
        value: Value of the cell.
        code: Number format of the cell.
    """
    if value is None:
        return ""
    text = ""
    if len(code) <= _MOST_CODE:
        with suppress(ArithmeticError):  # more digits than decimals have
            text = _formatted(value, code)
    return single_spaced(text or _general(value))


def _general(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and abs(value) < _MOST_PLAIN:
        return str(int(value))
    return f"{value:.15g}"  # 0.1 + 0.2 is 0.3 in Excel, which has 15 digits


def _formatted(value: object, code: str) -> str:
    """Return what a format makes of a value, "" if that is not known.

    A mark takes the place of each literal text, so that no sign in it is taken for a part of the format.
    """
    if isinstance(value, bool):
        return str(value).upper()
    literals: list[str] = []

    def take(part: re.Match[str]) -> str:
        text = part[1] or part[2] or part[3]
        if not text:
            return ""
        literals.append(text)
        return chr(0xE000 + len(literals) - 1)

    sections = _PART.sub(take, _LITERAL.sub("", code)).split(";")
    text = ""
    if isinstance(value, int | float):
        text = _number(value, sections)
    elif isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        text = _date(value, _date_parts(sections[0]))
    elif isinstance(value, str):
        section = sections[3] if len(sections) > 3 else sections[0]
        if _LITERAL.sub("", section) == "@" and not _LITERAL.search(value):
            before, _, after = section.partition("@")
            text = f"{before}{value}{after}"
    return _LITERAL.sub(lambda mark: literals[ord(mark[0]) - 0xE000], text)


# --- numbers ---


def _number(value: float, sections: list[str]) -> str:
    """Return what the sections for positive and negative numbers and zero make of a number."""
    section, is_negative = _chosen(value, sections)
    if _VALUE.search(section):
        written = _general(abs(value) if is_negative else value)
        return _VALUE.sub(lambda _: written, section)
    if _LETTER.search(_EXPONENT.sub("", section)):  # it means something that is not known here
        return ""
    if not _DIGIT.search(section):
        return section
    number = Decimal(f"{abs(value):.15g}")
    if "/" in section:
        text = _fraction(Fraction(number), section)
    elif _EXPONENT.search(section):
        text = _scientific(number, section)
    else:
        text = _laid_out(number, section)
    has_minus = value < 0 and not is_negative and re.search("[1-9]", text)
    return f"-{text}" if has_minus else text


def _chosen(value: float, sections: list[str]) -> tuple[str, bool]:
    """Return the section for a number, and whether it shows the minus itself."""
    if any(_CONDITION.search(section) for section in sections[:2]):
        for section in sections[:2]:
            condition = _CONDITION.search(section)
            if condition is None:
                return section, False
            compared = _COMPARED.get(condition[1], operator.eq)
            if compared(value, float(condition[2])):
                return _CONDITION.sub("", section), False
        return sections[min(2, len(sections) - 1)], False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], False


def _laid_out(number: Decimal, section: str) -> str:
    """Return a number in the places that a section has for its digits."""
    whole, point, decimals = section.partition(".")
    number = number.scaleb(2 * section.count("%"))
    after = _DIGIT.split(whole)[-1] + decimals
    number = number.scaleb(-3 * after.count(","))  # thousands that are not shown
    places = "".join(_DIGIT.findall(decimals))
    rounded = number.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
    before_point, _, after_point = f"{rounded:f}".partition(".")
    least = len(places.rstrip("#?"))
    after_point = after_point[:least] + after_point[least:].rstrip("0")
    if places and not after_point:
        point = ""
    digits = iter(after_point)
    shown_decimals = _DIGIT.sub(lambda _: next(digits, ""), decimals.replace(",", ""))
    return _whole(before_point, whole) + point + shown_decimals


def _whole(digits: str, section: str) -> str:
    """Return the digits before the point, with what stands before and between them."""
    places = "".join(_DIGIT.findall(section))
    digits = digits.lstrip("0").zfill(len(places.lstrip("#?")))
    if _GROUPED.search(section):
        digits = _THOUSANDS.sub(",", digits)
    further = len(digits) - len(places)
    parts = [*[""] * -further, *digits]
    if further > 0:  # the first place has all that the others do not
        parts[: further + 1] = [digits[: further + 1]]
    remaining = iter(parts)
    return _DIGIT.sub(lambda _: next(remaining), section.replace(",", ""))


def _scientific(number: Decimal, section: str) -> str:
    """Return a number with a power of ten."""
    mantissa, sign, after = _EXPONENT.split(section, maxsplit=1)
    whole, _, decimals = mantissa.partition(".")
    places = len(_DIGIT.findall(whole)) or 1
    digits = places + len(_DIGIT.findall(decimals))
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).plus(number)  # 9.99 may be 10.0
    power = rounded.adjusted() if rounded else 0
    power -= power % places
    sign = "-" if power < 0 else sign.strip("-")
    width = after.count("0")
    return f"{_laid_out(number.scaleb(-power), mantissa)}E{sign}{abs(power):0{width}}{_DIGIT.sub('', after)}"


def _fraction(value: Fraction, section: str) -> str:
    """Return a number as a fraction, "" if the format is not understood."""
    match = _FRACTION.search(section)
    if match is None:
        return ""
    if match["fixed"]:
        below = int(match["fixed"])
        above = round(value * below)
    else:
        near = value.limit_denominator(10 ** len(match["bottom"]) - 1)
        above, below = near.numerator, near.denominator
    text = ""
    if match["whole"]:
        whole, above = divmod(above, below)
        text = str(whole or "")
    if above or not match["whole"]:
        text = f"{text} {above}/{below}"
    return section[: match.start()] + (text.strip() or "0") + section[match.end() :]


# --- dates and times ---


def _date_parts(section: str) -> str:
    """Return what a format shows of a date: y, m, d, and of a time: h, M, s, [h], [m], [s]."""
    parts = "".join(_DATE_PART.findall(_LITERAL.sub("", section))).lower()
    return _MINUTES.sub("M", _DOUBLED.sub(r"\1", parts))


def _date(value: datetime.date | datetime.time | datetime.timedelta, parts: str) -> str:
    """Return a date, a time or a duration, as far as its format shows it."""
    is_elapsed = "[" in parts
    if is_elapsed and isinstance(value, datetime.time):
        value = datetime.datetime.combine(_FIRST_DAY, value)
    if is_elapsed and isinstance(value, datetime.datetime):
        value -= _FIRST_DAY
    if isinstance(value, datetime.timedelta):
        return _duration(value, parts)
    clock = "%H:%M:%S" if "s" in parts else "%H:%M"
    if isinstance(value, datetime.time):
        return value.strftime(clock)
    has_time = bool(re.search("[hMs]", parts))
    if not re.search("[ymd]", parts):
        day = "" if has_time else "%Y-%m-%d"
    elif "d" in parts or "y" not in parts:
        day = "%Y-%m-%d"
    else:
        day = "%Y-%m" if "m" in parts else "%Y"
    if has_time and isinstance(value, datetime.datetime):
        day = f"{day} {clock}"
    return value.strftime(day)


def _duration(value: datetime.timedelta, parts: str) -> str:
    """Return a duration, from the unit that is counted on: 26:30, and with seconds if they are shown."""
    total = round(value.total_seconds())
    sign = "-" if total < 0 else ""
    total = abs(total)
    if "[s]" in parts:
        return f"{sign}{total}"
    minutes, seconds = divmod(total, 60)
    end = f":{seconds:02}" if re.search(r"s(?!\])", parts) else ""
    if "[m]" in parts:
        return f"{sign}{minutes}{end}"
    hours = f"{sign}{minutes // 60}"
    return f"{hours}:{minutes % 60:02}{end}" if "M" in parts or not parts else hours
