"""Plots as inline SVG, drawn here so that a report needs neither a network nor a script.

The first colours are those of Okabe and Ito, which colour-blind people tell apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c564b", "#7f7f7f")
WIDTH = 520
LEFT, RIGHT, TOP = 36, 16, 14
_STAGES = 3  # the colour of the first stage, so that stages do not look like the first strategies


@dataclass(frozen=True, slots=True)
class Point:
    """A figure with its interval, and what stands where the pointer rests on it."""

    value: float
    low: float
    high: float
    said: str


def colour(number: int) -> str:
    """The colour of a strategy by its place."""
    return COLOURS[number % len(COLOURS)]


def legend(names: Sequence[str], first: int = 0) -> str:
    """Which colour is which strategy, as HTML; `first` is the place of the first one's colour."""
    items = (
        f'<span class="key"><i style="background:{colour(n)}"></i>{escape(name)}</span>'
        for n, name in enumerate(names, first)
    )
    return f'<p class="legend">{"".join(items)}</p>'


def lines(title: str, ticks: Sequence[str], series: Sequence[Sequence[Point | None]]) -> str:
    """Shares in [0, 1] over some ticks, a line each, with bars for the intervals."""
    height, bottom = 270, 30
    step = (WIDTH - LEFT - RIGHT) / max(1, len(ticks))
    parts = percent_lines(height, bottom)
    for place, tick in enumerate(ticks):
        parts.append(text_at(LEFT + step * (place + 0.5), height - bottom + 20, tick, "middle"))
    for number, points in enumerate(series):
        shift = (number - (len(series) - 1) / 2) * min(9.0, step / (len(series) + 1))
        at = [
            (LEFT + step * (place + 0.5) + shift, point)
            for place, point in enumerate(points)
            if point is not None
        ]
        path = " ".join(f"{x:.1f},{height_of(point.value, height, bottom):.1f}" for x, point in at)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour(number)}" stroke-width="2"/>')
        for x, point in at:
            low, high, y = (
                height_of(value, height, bottom) for value in (point.low, point.high, point.value)
            )
            parts.append(
                f'<g stroke="{colour(number)}"><title>{escape(point.said)}</title>'
                f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke-width="1.5" stroke-opacity=".55"/>'
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour(number)}"/></g>'
            )
    return drawing(title, height, parts)


def bars(title: str, groups: Sequence[str], series: Sequence[Sequence[Point | None]]) -> str:
    """Shares in [0, 1] by group, a bar for each of the series, with lines for the intervals."""
    height, bottom = 270, 30
    step = (WIDTH - LEFT - RIGHT) / max(1, len(groups))
    wide = min(46.0, step * 0.8 / max(1, len(series)))
    parts = percent_lines(height, bottom)
    for place, group in enumerate(groups):
        parts.append(text_at(LEFT + step * (place + 0.5), height - bottom + 20, group, "middle"))
        for number, points in enumerate(series):
            if (point := points[place]) is None:
                continue
            x = LEFT + step * (place + 0.5) + (number - len(series) / 2) * wide
            low, high, y = (
                height_of(value, height, bottom) for value in (point.low, point.high, point.value)
            )
            parts.append(
                f'<g><title>{escape(point.said)}</title><rect x="{x + 1:.1f}" y="{y:.1f}" '
                f'width="{wide - 2:.1f}" height="{height - bottom - y:.1f}" '
                f'fill="{colour(number)}" fill-opacity=".85" rx="2"/><path class="ink" '
                f'd="M{x + wide / 2:.1f} {low:.1f}V{high:.1f}"/></g>'
            )
    return drawing(title, height, parts)


def forest(title: str, rows: Sequence[tuple[str, Point]]) -> str:
    """Differences in points with their intervals, one a line, around a line at zero."""
    row, left, bottom = 28, 210, 30
    height = TOP + row * len(rows) + bottom
    reach = (
        max((abs(value) for _, point in rows for value in (point.low, point.high, point.value)), default=0.0)
        or 1.0
    )
    unit = round_unit(reach / 2.5)
    reach = unit * math.ceil(reach / unit)
    scale = (WIDTH - left - RIGHT) / (2 * reach)
    zero = left + reach * scale
    parts = []
    for n in range(-round(reach / unit), round(reach / unit) + 1):
        x = zero + n * unit * scale
        parts.append(f'<path class="{"ink" if n == 0 else "grid"}" d="M{x:.1f} {TOP}V{height - bottom}"/>')
        parts.append(text_at(x, height - bottom + 18, f"{n * unit:+g}" if n else "0", "middle"))
    for place, (name, point) in enumerate(rows):
        y = TOP + row * (place + 0.5)
        shade = "#009e73" if point.low > 0 else "#d55e00" if point.high < 0 else "#7f7f7f"
        parts.append(text_at(left - 14, y + 4, name if len(name) <= 32 else f"{name[:31]}…", "end"))
        low, high, middle = (zero + value * scale for value in (point.low, point.high, point.value))
        parts.append(
            f'<g stroke="{shade}" stroke-width="2"><title>{escape(point.said)}</title><path d="M{low:.1f} '
            f'{y:.1f}H{high:.1f}"/>'
            f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="4.5" fill="{shade}"/></g>'
        )
    return drawing(title, height, parts)


def stacks(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> str:
    """Milliseconds by stage, one bar a line; the same stage has the same colour in all."""
    row, left, bottom = 34, 130, 30
    height = TOP + row * len(rows) + bottom
    stages = list(dict.fromkeys(name for _, parts in rows for name, _ in parts))
    most = max((sum(value for _, value in parts) for _, parts in rows), default=0.0) or 1.0
    unit = round_unit(most / 5)
    reach = unit * math.ceil(most / unit)
    scale = (WIDTH - left - RIGHT - 20) / reach
    drawn = []
    for n in range(round(reach / unit) + 1):
        x = left + n * unit * scale
        drawn.append(f'<path class="grid" d="M{x:.1f} {TOP}V{height - bottom}"/>')
        drawn.append(text_at(x, height - bottom + 18, f"{n * unit:g} ms" if n else "0", "middle"))
    for place, (name, parts) in enumerate(rows):
        y, x = TOP + row * place + 6, float(left)
        drawn.append(text_at(left - 12, y + 15, name if len(name) <= 20 else f"{name[:19]}…", "end"))
        for stage, value in parts:
            said, shade = escape(f"{name}, {stage}: {value:.1f} ms"), colour(_STAGES + stages.index(stage))
            drawn.append(
                f'<rect x="{x:.1f}" y="{y}" width="{value * scale:.1f}" height="22" fill="{shade}" '
                f'fill-opacity=".85"><title>{said}</title></rect>'
            )
            x += value * scale
    return drawing(title, height, drawn) + legend(stages, _STAGES)


def percent_lines(height: int, bottom: int) -> list[str]:
    """Lines at 0, 20 ... 100."""
    parts = []
    for percent in range(0, 101, 20):
        y = height_of(percent / 100, height, bottom)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text_at(LEFT - 8, y + 4, f"{percent}", "end"))
    return parts


def height_of(value: float, height: int, bottom: int) -> float:
    """Where a share in [0, 1] stands, in pixels from above."""
    return TOP + (1 - value) * (height - bottom - TOP)


def round_unit(about: float) -> float:
    """1, 2 or 5 times a power of ten, at least so much."""
    power = 10.0 ** math.floor(math.log10(about))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= about * (1 - 1e-9))


def text_at(x: float, y: float, text: str, anchor: str) -> str:
    """A line of text; anchor: which part of it stands at x, `start`, `middle` or `end`."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def drawing(title: str, height: int, parts: Sequence[str]) -> str:
    """The parts as a whole picture."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )
