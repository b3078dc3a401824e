"""Printing: JSON for programs, plain lines and tables for people."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.explore.notebook import counted as counted
from gsw_graph.text.safe_text import clean, cut, one_line
from gsw_graph.text.safe_text import to_json as to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from gsw_graph.model.results import Table

PIPE_WIDTH = 100  # where no terminal has a width
CELL = 60
_WIDEST = 10_000_000


def print_json(document: Any, *, lines: bool = False) -> None:
    """One JSON document on standard output; with `lines`, in one line."""
    click.echo(
        to_json(document, getattr(sys.stdout, "encoding", None) or "utf-8", indent=None if lines else 2)
    )


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console that interprets nothing in what it is given, and shows colours on a terminal only."""
    from rich.console import Console

    found = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = width or PIPE_WIDTH
    return found


def print_failure(text: str) -> None:
    """A line for people on standard error."""
    click.echo(clean(text), err=True)


def print_table(table: Table, *, full: bool = False) -> None:
    """A result in columns. Long values are cut unless `full`; then, as in a pipe, the table is as wide as
    it needs to be."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    for column in table.columns:
        numbers = all(isinstance(row.get(column), int | float | None) for row in table.rows)
        grid.add_column(
            Text(one_line(column)), justify="right" if numbers else "left", no_wrap=True, overflow="ellipsis"
        )
    for row in table.rows:
        cells = [_cell(row.get(column)) for column in table.columns]
        grid.add_row(*(Text(cell if full else cut(cell, CELL)) for cell in cells))
    if table.columns:
        out = console(width=(CELL + 4) * len(table.columns))
        if full:
            out.width = out.measure(grid, options=out.options.update(max_width=_WIDEST)).maximum
        out.print(grid)
    click.echo(counted(len(table.rows), "row"))


def _cell(value: Any) -> str:
    return one_line(value if isinstance(value, str) else to_json(value))


def print_pairs(pairs: Iterable[tuple[str, Any]], indent: str = "") -> None:
    """Names and what they are, one a line, aligned."""
    shown = [(one_line(name), one_line(str(value))) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{indent}{name:<{width}}  {value}")


def calls(number: int, failed: int) -> str:
    """`1 call`, `12 calls (3 failed)`, `6 calls (all failed)`."""
    return counted(number, "call") + (
        f" ({'all' if failed >= number else f'{failed:,}'} failed)" if failed else ""
    )


def money(dollars: float | None) -> str:
    """`$0.12`, `$0.0004`; in words where the price is not known."""
    return (
        "price not known"
        if dollars is None
        else f"${dollars:,.2f}"
        if dollars >= 0.1 or not dollars
        else f"${dollars:.2g}"
    )


def moment(iso: str) -> str:
    """A moment in UTC as people here read it, to the minute."""
    from datetime import datetime

    return datetime.fromisoformat(iso).astimezone().strftime("%Y-%m-%d %H:%M")


def duration(seconds: float) -> str:
    """Seconds as people say them: `4 ms`, `1.2 s`, `12 s`, `3 min 20 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
