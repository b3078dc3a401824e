"""Quality against what it costs, a point a strategy, and costs as bars: inline SVG, as of `svg.py`.

Labels stand beside their points, and where there is no room further off, with a line to the point. The widths
of texts are taken from a usual sans-serif font, as nothing here can measure them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from gsw_graph.evaluate.report.svg import (
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Point,
    colour,
    drawing,
    height_of,
    percent_lines,
    round_unit,
    text_at,
)

_HEIGHT, _BOTTOM = 320, 46
_WIDE, _HIGH = 6.8, 14.0  # pixels of a character and a line, in the page's 12 px
_LONGEST = 28  # characters of a label
_APART = 20.0  # times the smallest from which on an axis is logarithmic: else most points stand in one corner
_DOT = 6.0  # pixels around a point that no label takes
_GAP = 4.0  # pixels between two labels on a line
_MANY = 12  # bars, of which more stand closer
_Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Spot:
    """A strategy in a plot: its name, what it costs, how good it is, and its place among the colours."""

    name: str
    cost: float
    quality: Point
    place: int


def scatter(title: str, axis: str, spots: Sequence[Spot]) -> str:
    """Shares in [0, 1] with their intervals over costs of at least 0; axis: what the costs are."""
    at, ticks = _scale([spot.cost for spot in spots])
    parts = percent_lines(_HEIGHT, _BOTTOM)
    for value, said in ticks:
        parts.append(f'<path class="grid" d="M{at(value):.1f} {TOP}V{_HEIGHT - _BOTTOM}"/>')
        parts.append(text_at(at(value), _HEIGHT - _BOTTOM + 17, said, "middle"))
    parts.append(text_at((LEFT + WIDTH - RIGHT) / 2, _HEIGHT - 8, axis, "middle"))
    places = [(at(spot.cost), height_of(spot.quality.value, _HEIGHT, _BOTTOM)) for spot in spots]
    taken = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in places]
    for spot, (x, y) in sorted(zip(spots, places, strict=True), key=lambda one: (one[1][1], one[1][0])):
        name = spot.name if len(spot.name) <= _LONGEST else f"{spot.name[: _LONGEST - 1]}…"
        box = next((box for box in _boxes(x, y, _WIDE * len(name)) if _free(box, taken)), None)
        if box is not None:  # else the legend alone has it: two labels over each other say nothing
            taken.append(box)
            parts += _labelled(name, x, y, box)
    for spot, (x, y) in zip(spots, places, strict=True):
        low, high = (height_of(value, _HEIGHT, _BOTTOM) for value in (spot.quality.low, spot.quality.high))
        parts.append(
            f'<g stroke="{colour(spot.place)}"><title>{escape(spot.quality.said)}</title>'
            f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke-width="1.5" stroke-opacity=".55"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour(spot.place)}"/></g>'
        )
    return drawing(title, _HEIGHT, parts)


def amounts(title: str, rows: Sequence[tuple[str, float | None, int]]) -> str:
    """Costs, a bar a line: name, value (None where there is none, shown as -) and place among the colours."""
    row, left, right, bottom = 28 if len(rows) <= _MANY else 21, 190, 70, 30
    height = TOP + row * len(rows) + bottom
    most = max((value for _, value, _ in rows if value is not None), default=0.0) or 1.0
    unit = round_unit(most / 4)
    reach = unit * math.ceil(most / unit)
    scale = (WIDTH - left - right) / reach
    parts = []
    for n in range(round(reach / unit) + 1):
        x = left + n * unit * scale
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{height - bottom}"/>')
        parts.append(text_at(x, height - bottom + 18, f"{n * unit:,g}", "middle"))
    for number, (name, value, place) in enumerate(rows):
        y, wide = TOP + row * number + 2, (value or 0.0) * scale
        parts.append(
            text_at(left - 10, y + 13, name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…", "end")
        )
        said = "-" if value is None else f"{value:,.0f}"
        parts.append(
            f'<rect x="{left}" y="{y}" width="{wide:.1f}" height="18" fill="{colour(place)}" '
            f'fill-opacity=".85" rx="2"><title>{escape(f"{name}: {said}")}</title></rect>'
        )
        parts.append(text_at(left + wide + 6, y + 13, said, "start"))
    return drawing(title, height, parts)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where a cost stands, in pixels from the left. low: what stands at the left end."""

    low: float
    high: float
    logarithmic: bool

    def __call__(self, value: float) -> float:
        share = (
            math.log(value / self.low) / math.log(self.high / self.low)
            if self.logarithmic
            else value / self.high
        )
        return LEFT + 14 + share * (WIDTH - LEFT - RIGHT - 28)


def _scale(costs: Sequence[float]) -> tuple[_Axis, list[tuple[float, str]]]:
    """The axis and its marks: from 0, or logarithmic where all are above it and far from each other."""
    most, least = max(costs), min(costs)
    if least > 0 and most / least >= _APART:
        low, high = 10.0 ** math.floor(math.log10(least)), 10.0 ** math.ceil(math.log10(most))
        powers = range(round(math.log10(low)), round(math.log10(high)) + 1)
        return _Axis(low, high, True), [(10.0**power, f"{10.0**power:,g}") for power in powers]
    unit = round_unit((most or 1.0) / 4)
    number = math.ceil((most or 1.0) / unit - 1e-9)
    return _Axis(0.0, unit * number, False), [(unit * n, f"{unit * n:,g}") for n in range(number + 1)]


def _boxes(x: float, y: float, wide: float) -> Iterator[_Box]:
    """Places for a label, the best first: to the right and left of the point, then above and below, further
    and further off; all within the plot."""
    for step in range(2 * int(_HEIGHT / _HIGH)):
        shift = (step + 1) // 2 * _HIGH * (-1 if step % 2 else 1)
        for left in (x + 11, x - 11 - wide, x - wide / 2) if step else (x + 11, x - 11 - wide):
            top = y + shift - _HIGH / 2
            inside = left >= LEFT + 2 and left + wide <= WIDTH - 2
            if inside and top >= TOP - 8 and top + _HIGH <= _HEIGHT - _BOTTOM:
                yield left, top, left + wide, top + _HIGH


def _free(box: _Box, taken: Sequence[_Box]) -> bool:
    return all(
        box[2] + _GAP <= other[0] or other[2] + _GAP <= box[0] or box[3] <= other[1] or other[3] <= box[1]
        for other in taken
    )


def _labelled(name: str, x: float, y: float, box: _Box) -> list[str]:
    """The label in its box and, where that is not beside the point, a line to it."""
    middle = (box[1] + box[3]) / 2
    parts = [f'<g class="name">{text_at(box[0], middle + 4, name, "start")}</g>']
    if abs(middle - y) > 1:
        end = min(max(x, box[0]), box[2])
        edge = box[1] if middle > y else box[3]
        parts.insert(0, f'<path class="lead" d="M{x:.1f} {y:.1f}L{end:.1f} {edge:.1f}"/>')
    return parts
