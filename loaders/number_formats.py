"""What Excel shows of a value: percents, leading zeros, thousands, currencies, dates, hours, fractions.

A number is written with a point and with commas, whatever the language of the file; a date as 2024-03-05, so
far as its cell shows it. A format that is not understood leaves the value as it is.
"""

from __future__ import annotations

import datetime
import operator
import re
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

# Parts of a format, by what they are; the rest of the characters stand for themselves.
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<pad>.)|\*(?P<fill>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?P<bracket>[^\]]*)\]|(?P<general>General)|(?P<exponent>[Ee][+-])|(?P<digit>[0#?])|(?P<sign>[.,%/])"
    r"|(?P<text>@)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?[\d.]+)\]")
_COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}
_DATE_PARTS = re.compile(r"\[[hms]+\]|y+|m+|d+|h+|s+", re.IGNORECASE)
_DOUBLED = re.compile(r"(.)\1+")
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_MOST_CODE = 255  # characters, as Excel has it
_MOST_PLAIN = 1e15
_DAY, _CLOCK = frozenset("ymd"), frozenset("hMs")
_LITERAL = ("quoted", "escaped", "currency")
_UNSEEN = ("pad", "fill", "bracket")
_NOT_ZERO = re.compile("[1-9]")
_FIRST_DAY = datetime.datetime(1899, 12, 30)


def shown(value: object, code: str) -> str:
    """Return what a cell shows, in one line.

    Args:
        value: Of the cell.
        code: Its number format.
    """
    if value is None:
        return ""
    text = ""
    if len(code) <= _MOST_CODE:
        with suppress(ArithmeticError):  # more digits than decimals have
            text = _formatted(value, code)
    return " ".join((text or _general(value)).split())


def _formatted(value: object, code: str) -> str:
    """Return what a format makes of a value, "" if that is not known."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, code)
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return _date(value, code)
    return _text(value, code) if isinstance(value, str) else ""


def _general(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and abs(value) < _MOST_PLAIN:
        return str(int(value))
    return f"{value:.15g}"  # 0.1 + 0.2 is 0.3 in Excel, which has 15 digits


# --- formats ---


class _Token(NamedTuple):
    """A part of a format: what it is, and its text. Signs that mean something are their own kind."""

    kind: str
    text: str


def _tokens(section: str) -> list[_Token]:
    """Return the parts of a section; what is only seen as white or colour is left out."""
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(section):
        kind = str(match.lastgroup)
        text = str(match[kind])
        if kind in _LITERAL:
            tokens.append(_Token("literal", text))
        elif kind not in _UNSEEN:
            tokens.append(_Token(text if kind == "sign" else kind, text))
    return tokens


def _sections(code: str) -> list[str]:
    """Return the sections of a format: for positive and negative numbers, zero, and text."""
    sections = [""]
    for match in _TOKEN.finditer(code):
        if match["other"] == ";":
            sections.append("")
        else:
            sections[-1] += match[0]
    return sections


def _chosen(value: float, sections: list[str]) -> tuple[str, bool]:
    """Return the section for a number, and whether it shows the minus itself."""
    conditions = [_CONDITION.search(section) for section in sections[:2]]
    if any(conditions):
        return _by_condition(value, sections, conditions), False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], False


def _by_condition(value: float, sections: list[str], conditions: list[re.Match[str] | None]) -> str:
    for section, condition in zip(sections, conditions, strict=False):
        if condition is None:
            return section
        compared = _COMPARED[condition[1]]
        if compared(value, float(condition[2])):
            return section
    return sections[min(2, len(sections) - 1)]


def _text(value: str, code: str) -> str:
    """Return a text in the section for texts, which is the fourth, or the only one."""
    sections = _sections(code)
    tokens = _tokens(sections[3] if len(sections) > 3 else sections[0])
    kinds = {token.kind for token in tokens}
    if "text" not in kinds or not kinds <= {"text", "literal"}:
        return value
    return _filled(tokens, "text", value)


def _filled(tokens: list[_Token], kind: str, text: str) -> str:
    """Return tokens as they stand, with a text for those of a kind."""
    parts = [text if token.kind == kind else token.text for token in tokens]
    return "".join(parts)


# --- numbers ---


@dataclass(slots=True)
class _Layout:
    """The parts of a number: its digits before and after the point, and its power, with what stands between.

    Attributes:
        power: By how many tens the number is multiplied: percents, and thousands that are not shown.
    """

    whole: list[_Token] = field(default_factory=list)
    decimals: list[_Token] = field(default_factory=list)
    exponent: list[_Token] = field(default_factory=list)
    has_point: bool = False
    is_grouped: bool = False
    power: int = 0


def _number(value: float, code: str) -> str:
    """Return what a format makes of a number, "" if that is not known."""
    section, is_negative = _chosen(value, _sections(code))
    tokens = _tokens(section)
    kinds = {token.kind for token in tokens}
    letters = [token for token in tokens if token.kind == "other" and token.text.isalpha()]
    for kind in ("general", "text"):
        if kind in kinds:
            return _filled(tokens, kind, _general(abs(value) if is_negative else value))
    if letters:  # they mean something that is not known here
        return ""
    if "digit" not in kinds:
        return _filled(tokens, "", "")
    number = Decimal(f"{abs(value):.15g}")
    if "/" in kinds:
        text = _fraction(Fraction(number), tokens)
    else:
        layout = _layout(tokens)
        write = _scientific if layout.exponent else _laid_out
        text = write(number.scaleb(layout.power), layout)
    has_minus = value < 0 and not is_negative and _NOT_ZERO.search(text)
    return f"-{text}" if has_minus else text


def _layout(tokens: list[_Token]) -> _Layout:
    layout = _Layout()
    part = layout.whole
    kinds = [token.kind for token in tokens]
    for place, token in enumerate(tokens):
        if token.kind == "exponent":
            part = layout.exponent
        elif token.kind == "." and not layout.has_point:
            layout.has_point, part = True, layout.decimals
            continue
        elif token.kind == "%":
            layout.power += 2
        if token.kind != ",":
            part.append(token)
        elif "digit" in kinds[:place]:
            following = kinds[place + 1 :]
            groups = part is layout.whole and "digit" in following[: _point(following)]
            layout.is_grouped |= groups
            layout.power -= 0 if groups else 3
    return layout


def _point(kinds: list[str]) -> int:
    return kinds.index(".") if "." in kinds else len(kinds)


def _laid_out(number: Decimal, layout: _Layout) -> str:
    """Return a number in the places that a format has for its digits."""
    places = [token.text for token in layout.decimals if token.kind == "digit"]
    rounded = number.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
    whole, _, decimals = f"{rounded:f}".partition(".")
    least = len("".join(places).rstrip("#?"))
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    point = "." if layout.has_point and (decimals or not places) else ""
    text = _whole(whole, layout) + point
    digits = iter(decimals)
    for token in layout.decimals:
        text += next(digits, "") if token.kind == "digit" else token.text
    return text


def _whole(digits: str, layout: _Layout) -> str:
    """Return the digits before the point, with what stands before and between them."""
    places = [token.text for token in layout.whole if token.kind == "digit"]
    least = len(places) - places.index("0") if "0" in places else 0
    digits = digits.lstrip("0").zfill(least)
    if layout.is_grouped:
        digits = _grouped(digits)
    further = len(digits) - len(places) + 1  # for the first place, which has all that the others do not
    text = ""
    for token in layout.whole:
        if token.kind != "digit":
            text += token.text
            continue
        taken = max(further, 0)
        text, digits = text + digits[:taken], digits[taken:]
        further = 1 if further > 0 else further + 1
    return text


def _grouped(digits: str) -> str:
    """Return digits with a comma before each three."""
    first = len(digits) % 3
    groups = [digits[place : place + 3] for place in range(first, len(digits), 3)]
    return ",".join([digits[:first], *groups] if first else groups)


def _scientific(number: Decimal, layout: _Layout) -> str:
    """Return a number with a power of ten."""
    places = [token.kind for token in layout.whole].count("digit") or 1
    decimals = [token.kind for token in layout.decimals].count("digit")
    rounded = Context(prec=places + decimals, rounding=ROUND_HALF_UP).plus(number)  # 9.99 may be 10.0
    power = rounded.adjusted() if rounded else 0
    power -= power % places
    exponent, *after = layout.exponent
    sign = "-" if power < 0 else exponent.text[1].strip("-")
    width = [token.text for token in after].count("0")
    rest = "".join(token.text for token in after if token.kind != "digit")
    return f"{_laid_out(number.scaleb(-power), layout)}E{sign}{abs(power):0{width}}{rest}"


_FRACTION = re.compile(
    r"(?:(?P<whole>[#0?]+)[^#0?/]+)?[#0?]+\s*/\s*(?:(?P<fixed>[1-9][0-9]{0,4})|(?P<bottom>[#0?]{1,4}))"
)


def _fraction(value: Fraction, tokens: list[_Token]) -> str:
    """Return a number as a fraction, "" if the format is not understood."""
    code = _filled(tokens, "", "")
    match = _FRACTION.search(code)
    if match is None:
        return ""
    if match["fixed"]:
        below = int(match["fixed"])
        above = round(value * below)
    else:
        near = value.limit_denominator(10 ** len(match["bottom"]) - 1)
        above, below = near.numerator, near.denominator
    whole, above = divmod(above, below) if match["whole"] else (0, above)
    parts = [str(whole)] if whole else []
    if above or not (whole or match["whole"]):
        parts.append(f"{above}/{below}")
    return code[: match.start()] + (" ".join(parts) or "0") + code[match.end() :]


# --- dates and times ---


def _date_parts(code: str) -> list[str]:
    """Return what a format shows of a date: y, m, d, and of a time: h, M, s, [h], [m], [s]."""
    found = _DATE_PARTS.findall(_NOT_SHOWN.sub("", _sections(code)[0]))
    parts = [_DOUBLED.sub(r"\1", part.lower()) for part in found]
    for place, part in enumerate(parts):
        before, after = parts[max(place - 1, 0)], parts[min(place + 1, len(parts) - 1)]
        if part == "m" and (before in ("h", "[h]") or after == "s"):
            parts[place] = "M"
    return parts


def _date(value: datetime.date | datetime.time | datetime.timedelta, code: str) -> str:
    """Return a date, a time or a duration, as far as its format shows it."""
    parts = _date_parts(code)
    elapsed = next((part for part in parts if part[0] == "["), "")
    if isinstance(value, datetime.timedelta):
        return _duration(value, elapsed, parts)
    if elapsed and isinstance(value, datetime.datetime):
        return _duration(value - _FIRST_DAY, elapsed, parts)
    if elapsed and isinstance(value, datetime.time):
        moment = datetime.datetime.combine(_FIRST_DAY, value)
        return _duration(moment - _FIRST_DAY, elapsed, parts)
    clock = "%H:%M:%S" if "s" in parts else "%H:%M"
    if isinstance(value, datetime.time):
        return value.strftime(clock)
    has_date = not _DAY.isdisjoint(parts)
    has_time = not _CLOCK.isdisjoint(parts)
    shapes = [_day_shape(parts)] if has_date or not has_time else []
    if has_time and isinstance(value, datetime.datetime):
        shapes.append(clock)
    return value.strftime(" ".join(shapes))


def _day_shape(parts: list[str]) -> str:
    """Return how a date is written: without the day or the month if they are not shown."""
    if "d" in parts or "y" not in parts:
        return "%Y-%m-%d"
    return "%Y-%m" if "m" in parts else "%Y"


def _duration(value: datetime.timedelta, elapsed: str, parts: list[str]) -> str:
    """Return a duration, from the unit that is counted on: 26:30, and with seconds if they are shown."""
    total = round(value.total_seconds())
    sign = "-" if total < 0 else ""
    minutes, seconds = divmod(abs(total), 60)
    hours = minutes // 60
    if elapsed == "[s]":
        return f"{sign}{abs(total)}"
    end = f":{seconds:02}" if "s" in parts else ""
    if elapsed == "[m]":
        return f"{sign}{minutes}{end}"
    shows_minutes = "M" in parts or not parts
    return f"{sign}{hours}:{minutes % 60:02}{end}" if shows_minutes else f"{sign}{hours}"
