"""The rows of an analysis as a picture: bars, or points in time. Drawn by matplotlib (extra `plots`)."""

from __future__ import annotations

import warnings
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError
from gsw_graph.picture import page
from gsw_graph.safe_text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gsw_graph.results import Analysis, Table

KINDS = ("bars", "times")
FORMATS = (".png", ".svg", ".pdf")
MOST = 40  # rows in one picture; more cannot be read
_LETTERS = 60
_COLOUR = "#0072b2"


def check(analysis: Analysis, file: str | Path) -> None:
    """InputError where this analysis cannot be drawn into that file, before anything is asked."""
    from importlib.util import find_spec

    if not analysis.plot:
        hint = "gswgraph cypher --list says which have one"
        raise InputError(f"{analysis.name} has no shape to be drawn", hint=hint)
    if Path(file).suffix.lower() not in FORMATS:
        raise InputError("a plot is a .png, .svg or .pdf", where=str(file))
    page.check(file)
    if find_spec("matplotlib") is None:
        raise InputError("matplotlib is not installed", hint="pip install 'gswgraph[plots]'")


def draw(analysis: Analysis, table: Table, file: str | Path) -> None:
    """Write the picture of an analysis and its rows, at most MOST of them. Raises InputError as `check`,
    and where there are no rows."""
    check(analysis, file)
    if not table.rows:
        raise InputError(f"{analysis.name} found nothing to draw")
    import matplotlib as mpl

    with mpl.rc_context({"text.parse_math": False, "svg.fonttype": "none", "font.size": 9}):
        from matplotlib.figure import Figure

        made = BytesIO()
        kind, *columns = analysis.plot
        rows = table.rows[:MOST]
        figure = Figure(figsize=(9, 1.2 + 0.26 * len(rows)), layout="constrained")
        axes = figure.subplots()
        (_bars if kind == "bars" else _times)(axes, rows, *columns)
        axes.set_title(analysis.summary.rstrip("."), loc="left", wrap=True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # a letter that the fonts here have not is a box
            figure.savefig(made, dpi=150, format=Path(file).suffix.lower()[1:])
    page.write(made.getvalue(), file)


def _bars(axes: Axes, rows: list[dict[str, Any]], label: str, value: str) -> None:
    """A bar a row."""
    drawn = axes.barh(range(len(rows)), [row[value] or 0 for row in rows], color=_COLOUR)
    axes.bar_label(drawn, padding=3)
    axes.set_yticks(range(len(rows)), [_text(row[label]) for row in rows])
    axes.set_xlabel(value.replace("_", " "))


def _times(axes: Axes, rows: list[dict[str, Any]], label: str, begins: str, ends: str) -> None:
    """A stretch of time a row, a point where it is short."""
    from matplotlib.ticker import MaxNLocator

    for place, row in enumerate(rows):
        first, last = _year(row[begins]), _year(row[ends] or row[begins])
        # a day alone would have no length
        axes.plot([first, last], [place, place], color=_COLOUR, linewidth=4, marker="o", markersize=4)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
    axes.set_yticks(range(len(rows)), [_text(row[label]) for row in rows])


def _year(day: str) -> float:
    """An ISO day as years, as an axis of any century needs it."""
    read = date.fromisoformat(day)
    return read.year + (read.timetuple().tm_yday - 1) / 366


def _text(value: Any) -> str:
    text = one_line(str(value))
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
