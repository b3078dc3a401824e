"""What follows from the cells of a comparison, by rule: dates as intervals, measures in one unit, names in
their normal form. Where two dates overlap, one unit is missing, or one name is a part of the other, nothing
follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.names import normalise
from gsw_graph.retrieve.chains.pair_score import words_of
from gsw_graph.retrieve.times.intervals import is_before

if TYPE_CHECKING:
    from gsw_graph.retrieve.comparison.reading import Comparison
    from gsw_graph.retrieve.facts.values import Value

# Into metres, kilograms and so on: (base, factor).
_UNITS = {
    **dict.fromkeys(("metre", "metres", "meter", "meters", "m"), ("length", 1.0)),
    **dict.fromkeys(("kilometre", "kilometres", "kilometer", "kilometers", "km"), ("length", 1000.0)),
    **dict.fromkeys(("centimetre", "centimetres", "cm"), ("length", 0.01)),
    **dict.fromkeys(("foot", "feet", "ft"), ("length", 0.3048)),
    **dict.fromkeys(("mile", "miles"), ("length", 1609.344)),
    **dict.fromkeys(("kilogram", "kilograms", "kilo", "kilos", "kg"), ("weight", 1.0)),
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes"), ("weight", 1000.0)),
    **dict.fromkeys(("gram", "grams"), ("weight", 0.001)),
    **dict.fromkeys(("pound", "pounds", "lb"), ("weight", 0.45359237)),
    **dict.fromkeys(("hectare", "hectares"), ("area", 10_000.0)),
    **dict.fromkeys(("acre", "acres"), ("area", 4046.8564224)),
}

_LETTERS = {"decade": len("185"), "year": len("1850"), "month": len("1850-06")}  # of an ISO day


@dataclass(frozen=True, slots=True)
class Decision:
    """winner: the row that is asked for; None for yes and no. answer: what is answered; said: why."""

    answer: str
    said: str
    winner: int | None = None


def decide(comparison: Comparison, rows: list[str], values: list[Value | None]) -> Decision | None:
    """What the values of two rows say; None where they leave it open."""
    if len(values) != 2 or any(value is None for value in values):
        return None
    one, other = (value for value in values if value is not None)
    if comparison.rule in ("same", "is"):
        return _equal(comparison, rows, one, other)
    late = comparison.rule in ("last", "less" if comparison.attribute.kind == "number" else "last")
    if comparison.attribute.kind == "number" or comparison.attribute.lasts:
        sizes = _sizes(one, other, lasts=comparison.attribute.lasts)
        if sizes is None or sizes[0] == sizes[1]:
            return None
        first = (sizes[0] > sizes[1]) == (comparison.rule == "more")
        measured = [
            f"{size:,.0f} years" if comparison.attribute.lasts else value.text
            for size, value in zip(sizes, (one, other), strict=True)
        ]
        said = f"{rows[0]}: {measured[0]}; {rows[1]}: {measured[1]}"
    else:
        earlier = _earlier(one, other)
        if earlier is None:
            return None
        first = (earlier == 0) != late
        told = [f"{row} ({value.text})" for row, value in zip(rows, (one, other), strict=True)]
        said = f"{told[earlier]} is earlier than {told[1 - earlier]}"
    if comparison.yes_no:
        return Decision("yes" if first else "no", said)
    winner = 0 if first else 1
    return Decision(rows[winner], said, winner)


def _earlier(one: Value, other: Value) -> int | None:
    """Which is earlier; ranges that overlap are compared by their ends, as what was built from 1864 to 1867
    stood in 1867."""
    pairs = [(one.days, other.days)]
    if one.span is not None and other.span is not None and (one.span.is_range or other.span.is_range):
        pairs.append((one.span.ends, other.span.ends))
    for left, right in pairs:
        if left is not None and right is not None:
            if is_before(left, right):
                return 0
            if is_before(right, left):
                return 1
    return None


def _sizes(one: Value, other: Value, *, lasts: bool) -> tuple[float, float] | None:
    if lasts:
        years = [value.span.years if value.span is not None else None for value in (one, other)]
        return (float(years[0]), float(years[1])) if years[0] is not None and years[1] is not None else None
    if one.number is None or other.number is None:
        return None
    units = [_UNITS.get(number.unit) for number in (one.number, other.number)]
    if units[0] is None and units[1] is None:  # of things that are counted, or of two moneys
        same = one.number.unit == other.number.unit or "" in (one.number.unit, other.number.unit)
        return (one.number.value, other.number.value) if same else None
    if units[0] is None or units[1] is None or units[0][0] != units[1][0]:
        return None
    return one.number.value * units[0][1], other.number.value * units[1][1]


def _equal(comparison: Comparison, rows: list[str], one: Value, other: Value) -> Decision | None:
    if comparison.rule == "is":
        wanted = comparison.value or ""
        said = f"{rows[0]}: {one.text}; {rows[1]}: {other.text}"
        every = [_same_name(value.text, wanted) for value in (one, other)]
        right = False if False in every else None if None in every else True
    else:
        dates = one.days is not None and other.days is not None
        right = _same_date(comparison, one, other) if dates else _same_name(one.text, other.text)
        said = one.text if one.text == other.text else f"{one.text} and {other.text}"
    return None if right is None else Decision("yes" if right else "no", said)


def _same_date(comparison: Comparison, one: Value, other: Value) -> bool | None:
    """Whether two dates lie in the same year, month or decade, or are the same; None where one of them is too
    inexact to say: "1850" and "7 June 1850" may be the same day, and are the same year."""
    letters = _LETTERS.get(comparison.attribute.calendar, len("1850-06-07"))
    (one_first, one_last), (other_first, other_last) = (
        [day[:letters] for day in value.days or ("", "")] for value in (one, other)
    )
    if one_last < other_first or other_last < one_first:
        return False
    return True if one_first == one_last == other_first == other_last else None


def _same_name(one: str, other: str) -> bool | None:
    """Whether two names are the same; None where one has all words of the other: "Rome, Italy" is no other
    town than "Rome", and lies in "Italy"."""
    if _key(one) == _key(other):
        return True
    words, others = words_of(one), words_of(other)
    return None if words <= others or others <= words else False


def _key(text: str) -> str:
    return normalise(text) or text
