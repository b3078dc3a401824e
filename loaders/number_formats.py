"""What Excel shows of a value: percents, leading zeros, thousands, currencies, dates, hours, fractions.

A number is written with a point and with commas, whatever the language of the file; a date as 2024-03-05, so
far as its cell shows it. A format that is not understood leaves the value as it is.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import pairwise

# Parts of a format, by what they are; the rest of the characters stand for themselves.
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<pad>.)|\*(?P<fill>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?P<bracket>[^\]]*)\]|(?P<general>General)|(?P<exponent>[Ee][+-])|(?P<digit>[0#?])|(?P<sign>[.,%/])"
    r"|(?P<text>@)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?[\d.]+)\]")
_COMPARED = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
}
_DATE_PARTS = re.compile(r"\[[hms]+\]|y+|m+|d+|h+|s+", re.IGNORECASE)
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_MOST_CODE = 255  # characters, as Excel has it
_MOST_DIGITS = 30
_FIRST_DAY = datetime.datetime(1899, 12, 30)


def shown(value: object, code: str) -> str:
    """Return what a cell shows, in one line.

    Args:
        value: Of the cell.
        code: Its number format.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    text = ""
    if len(code) <= _MOST_CODE:
        if isinstance(value, int | float):
            text = _number(value, code)
        elif isinstance(value, datetime.date | datetime.time | datetime.timedelta):
            text = _date(value, code)
        elif isinstance(value, str):
            text = _text(value, code)
    return " ".join((text or _general(value)).split())


def _general(value: object) -> str:
    if isinstance(value, float):  # 0.1 + 0.2 is 0.3 in Excel, which has 15 digits
        return f"{value:.15g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))
    return str(value)


# --- formats ---


def _tokens(section: str) -> list[tuple[str, str]]:
    """Return the parts of a section with their kinds; what is only seen as white or colour is left out."""
    tokens: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(section):
        kind = str(match.lastgroup)
        if kind not in ("pad", "fill", "bracket"):
            plain = kind in ("quoted", "escaped", "currency")
            tokens.append(("literal" if plain else kind, str(match[kind])))
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
        for section, condition in zip(sections, conditions, strict=False):
            if condition is None or _COMPARED[condition[1]](value, float(condition[2])):
                return section, False
        return sections[min(2, len(sections) - 1)], False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    if value == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], False


def _text(value: str, code: str) -> str:
    """Return a text in the section for texts, if the format has one that says more."""
    sections = _sections(code)
    section = sections[3] if len(sections) > 3 else sections[0] if len(sections) == 1 else ""
    tokens = _tokens(section)
    if ("text", "@") not in tokens or any(kind not in ("text", "literal") for kind, _ in tokens):
        return value
    return "".join(value if kind == "text" else part for kind, part in tokens)


# --- numbers ---


@dataclass(slots=True)
class _Layout:
    """The parts of a number: before it, its digits with what stands between, after it."""

    whole: list[tuple[str, str]] = field(default_factory=list)
    decimals: list[tuple[str, str]] = field(default_factory=list)
    exponent: list[tuple[str, str]] | None = None
    has_point: bool = False
    percents: int = 0
    thousands: int = 0
    is_grouped: bool = False


def _number(value: float, code: str) -> str:
    """Return what a format makes of a number, "" if that is not known."""
    section, is_negative = _chosen(value, _sections(code))
    tokens = _tokens(section)
    kinds = {kind for kind, _ in tokens}
    if kinds <= {"literal", "general", "text", "other"} and kinds & {"general", "text"}:
        plain = _general(abs(value) if is_negative else value)
        return "".join(plain if kind in ("general", "text") else part for kind, part in tokens)
    if "digit" not in kinds:
        is_literal = bool(tokens) and kinds <= {"literal", "other"} and not _has_letters(tokens)
        return "".join(part for _, part in tokens) if is_literal else ""
    if _has_letters(tokens):
        return ""
    sign = "-" if value < 0 and not is_negative else ""
    if ("sign", "/") in tokens:
        text = _fraction(Fraction(repr(abs(value))), tokens)
        return f"{sign}{text}" if text else ""
    layout = _layout(tokens)
    number = Decimal(f"{abs(value):.15g}").scaleb(2 * layout.percents - 3 * layout.thousands)
    text = _laid_out(number, layout) if layout.exponent is None else _scientific(number, layout)
    return f"{sign}{text}" if any(digit in text for digit in "123456789") else text


def _has_letters(tokens: list[tuple[str, str]]) -> bool:
    """Return whether a format has letters that mean something that is not known here."""
    return any(kind == "other" and part.isascii() and part.isalpha() for kind, part in tokens)


def _layout(tokens: list[tuple[str, str]]) -> _Layout:
    layout = _Layout()
    part = layout.whole
    digits_left = sum(kind == "digit" for kind, _ in tokens)
    for kind, text in tokens:
        if kind == "exponent":
            part = layout.exponent = [(kind, text)]
        elif text == "." and kind == "sign" and not layout.has_point:
            layout.has_point, part = True, layout.decimals
        elif text == "," and kind == "sign":
            is_after_digits = any(kind == "digit" for kind, _ in layout.whole)
            is_between = part is layout.whole and _digits_follow(tokens, digits_left)
            layout.is_grouped |= is_after_digits and is_between
            layout.thousands += is_after_digits and not is_between
        else:
            digits_left -= kind == "digit"
            layout.percents += (kind, text) == ("sign", "%")
            part.append(("digit" if kind == "digit" else "literal", text))
    return layout


def _digits_follow(tokens: list[tuple[str, str]], left: int) -> bool:
    """Return whether digits before the point are still to come."""
    point = tokens.index(("sign", ".")) if ("sign", ".") in tokens else len(tokens)
    return left > sum(kind == "digit" for kind, _ in tokens[point:])


def _laid_out(number: Decimal, layout: _Layout) -> str:
    """Return a number in the places that a format has for its digits."""
    places = [text for kind, text in layout.decimals if kind == "digit"]
    rounded = number.quantize(Decimal(1).scaleb(-len(places[:_MOST_DIGITS])), ROUND_HALF_UP)
    whole, _, decimals = f"{rounded:f}".partition(".")
    least = len("".join(places).rstrip("#?"))
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    after = iter(decimals)
    shown = "".join(next(after, "") if kind == "digit" else text for kind, text in layout.decimals)
    point = "." if layout.has_point and (decimals or not places) else ""
    return f"{_whole(whole, layout)}{point}{shown}"


def _whole(digits: str, layout: _Layout) -> str:
    """Return the digits before the point, with what stands before and between them."""
    places = "".join(text for kind, text in layout.whole if kind == "digit")
    least = len(places) - places.index("0") if "0" in places else 0
    digits = digits.lstrip("0").zfill(min(least, _MOST_DIGITS))
    shown: list[str] = []
    kinds = [kind for kind, _ in layout.whole]
    first = kinds.index("digit") if "digit" in kinds else -1
    count = 0
    for n, (kind, text) in reversed(list(enumerate(layout.whole))):
        if kind != "digit":
            shown.append(text)
            continue
        taken = len(digits) if n == first else min(1, len(digits))
        for digit in reversed(digits[len(digits) - taken :]):
            shown.append("," if layout.is_grouped and count and count % 3 == 0 else "")
            shown.append(digit)
            count += 1
        digits = digits[: len(digits) - taken]
    return "".join(reversed(shown))


def _scientific(number: Decimal, layout: _Layout) -> str:
    """Return a number with a power of ten."""
    places = sum(kind == "digit" for kind, _ in layout.whole)
    power = number.adjusted() if number else 0
    power -= power % max(places, 1)
    head = _laid_out(number.scaleb(-power), layout)
    if head.replace(",", "").partition(".")[0] == "1" + "0" * max(places, 1):  # 9.99 was rounded to 10.0
        power += max(places, 1)
        head = _laid_out(number.scaleb(-power), layout)
    exponent = layout.exponent or []
    sign = "-" if power < 0 else "+" if exponent[0][1].endswith("+") else ""
    width = sum(text == "0" for kind, text in exponent[1:] if kind == "digit")
    rest = "".join(text for kind, text in exponent[1:] if kind != "digit")
    return f"{head}E{sign}{abs(power):0{width}}{rest}"


_FRACTION = re.compile(
    r"(?:(?P<whole>[#0?]+)[^#0?/]+)?(?P<top>[#0?]+)\s*/\s*(?P<bottom>[#0?]+|[1-9][0-9]{0,4})"
)


def _fraction(value: Fraction, tokens: list[tuple[str, str]]) -> str:
    """Return a number as a fraction, "" if the format is not understood."""
    code = "".join(text for _, text in tokens)
    match = _FRACTION.search(code)
    if match is None:
        return ""
    bottom = match["bottom"]
    if bottom.isdecimal() and bottom.strip("0"):
        below = int(bottom)
        above = int(value * below + Fraction(1, 2))
    else:
        near = value.limit_denominator(10 ** min(len(bottom), 4) - 1)
        above, below = near.numerator, near.denominator
    whole, above = divmod(above, below) if match["whole"] else (0, above)
    parts = [str(whole)] if whole or (match["whole"] and not above) else []
    parts += [f"{above}/{below}"] if above or not match["whole"] else []
    return f"{code[: match.start()]}{' '.join(parts)}{code[match.end() :]}"


# --- dates and times ---


def _date_parts(code: str) -> Iterator[str]:
    """Yield what a format shows of a date: y, m, d, and of a time: h, M, s, [h], [m], [s]."""
    found = [part.lower() for part in _DATE_PARTS.findall(_NOT_SHOWN.sub("", _sections(code)[0]))]
    around = ["", *found, ""]
    for (before, part), after in zip(pairwise(around), around[2:], strict=False):
        is_minute = part[0] == "m" and (before[:2].strip("[")[:1] == "h" or after[:1] == "s")
        yield part[:2] + "]" if part[0] == "[" else "M" if is_minute else part[0]


def _date(value: datetime.date | datetime.time | datetime.timedelta, code: str) -> str:
    """Return a date, a time or a duration, as far as its format shows it."""
    parts = list(_date_parts(code))
    elapsed = next((part for part in parts if part[0] == "["), "")
    if isinstance(value, datetime.datetime) and elapsed:
        value = value - _FIRST_DAY
    if isinstance(value, datetime.time) and elapsed:
        value = datetime.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
    if isinstance(value, datetime.timedelta):
        return _duration(value, elapsed or "[h]", parts)
    has_time = any(part in ("h", "M", "s") for part in parts)
    seconds = ":%S" if "s" in parts else ""
    if isinstance(value, datetime.time):
        return value.strftime(f"%H:%M{seconds}")
    shows = {part for part in parts if part in ("y", "m", "d")}
    day = {"y": "%Y", "ym": "%Y-%m"}.get("".join(part for part in "ymd" if part in shows), "%Y-%m-%d")
    written = value.strftime(day) if shows or not has_time else ""
    if isinstance(value, datetime.datetime) and (has_time or (not parts and value.time() != datetime.time())):
        written += value.strftime(f" %H:%M{seconds}")
    return written


def _duration(value: datetime.timedelta, elapsed: str, parts: list[str]) -> str:
    """Return a duration, from the unit that is counted on: 26:30, and with seconds if they are shown."""
    total = round(value.total_seconds())
    sign, total = ("-", -total) if total < 0 else ("", total)
    minutes, seconds = divmod(total, 60)
    shows_seconds = "s" in parts
    if elapsed == "[s]":
        return f"{sign}{total}"
    if elapsed == "[m]":
        return f"{sign}{minutes}:{seconds:02}" if shows_seconds else f"{sign}{minutes}"
    hours, minutes = divmod(minutes, 60)
    if "M" not in parts:
        return f"{sign}{hours}"
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds:02}" if shows_seconds else "")
