"""Printing: JSON for programs, lines and tables for people, and what is shown while somebody waits."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gsw_graph.explore.full_text import Lines
from gsw_graph.explore.notebook import counted as counted
from gsw_graph.text.safe_text import clean, cut, one_line, short_source
from gsw_graph.text.safe_text import to_json as to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console
    from rich.status import Status
    from rich.table import Table as Grid
    from typing_extensions import Self

    from gsw_graph.model.results import Result, Table

ResultT = TypeVar("ResultT", bound="Result")

PIPE_WIDTH = 100  # where no terminal has a width
CELL = 60
_WIDEST = 10_000_000
_GAP = 3  # columns of the screen between those of a table
_LEAST = 5  # letters of a text, in a table on a narrow screen
_NUMBER = re.compile(r"(?:at least )?[-$\d][\d.,:/ TZ+-]*")  # also a date, or money


def print_json(document: Any, *, lines: bool = False) -> None:
    """Print one JSON document; with `lines`, in one line."""
    click.echo(
        to_json(document, getattr(sys.stdout, "encoding", None) or "utf-8", indent=None if lines else 2)
    )


def print_result(result: ResultT, as_json: bool, printer: Callable[[ResultT], object]) -> None:
    """Print a result as JSON, or by `printer` for people."""
    if as_json:
        print_json(result.to_dict())
    else:
        printer(result)


def print_more(items: Sized, shown: int, noun: str = "", *, err: bool = False) -> None:
    """Print how many items were not shown, if any."""
    if (more := len(items) - shown) > 0:
        number = counted(more, noun) if noun else f"{more:,}"
        click.echo(f"... and {number} more; --json lists all", err=err)


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """Return a console that interprets nothing in what it is given, and shows colours on a terminal only."""
    from rich.console import Console

    screen = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not screen.is_terminal and "COLUMNS" not in os.environ:
        screen.width = width or PIPE_WIDTH
    return screen


def terminal_width() -> int:
    """Return how many characters a line of the terminal has; in a pipe a line may be as long as it needs."""
    screen = console(width=_WIDEST)
    return screen.width


def print_failure(text: str) -> None:
    """Print a line for people on standard error."""
    click.echo(clean(text), err=True)


def print_table(table: Table, *, full: bool = False) -> None:
    """Print a result in columns. Long values are cut unless `full`; then, as in a pipe, the table is as wide as
    it needs to be.

    Where a terminal is too narrow the widest columns of text give way; numbers are never cut, and the words of
    their headings stand below each other.
    """
    if table.columns:
        screen = console(width=(CELL + 4) * len(table.columns))
        whole = screen.options.update(max_width=_WIDEST)
        grid = _grid(table, full=full, is_narrow=False)
        widest = screen.measure(grid, options=whole).maximum
        if full:
            screen.width = widest
        elif widest > screen.width:
            grid = _grid(table, full=False, is_narrow=True)
            screen.width = max(screen.width, _least_width(table))
        screen.print(grid)
    click.echo(counted(len(table.rows), "row"))


def _grid(table: Table, *, full: bool, is_narrow: bool) -> Grid:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    for column in table.columns:
        heading = one_line(column)
        if _holds_numbers(table, column):
            heading = heading.replace(" ", "\n") if is_narrow else heading
            numbers = all(isinstance(row.get(column), int | float | None) for row in table.rows)
            grid.add_column(Text(heading), justify="right" if numbers else "left", no_wrap=True)
        else:
            grid.add_column(Text(heading, no_wrap=True, overflow="ellipsis"))
    for row in table.rows:
        cells = [_cell(row.get(column)) for column in table.columns]
        if not full:
            cells = [
                short_source(cell) if column == "source" else cell
                for column, cell in zip(table.columns, cells, strict=True)
            ]
        texts = [cell if full else cut(cell, CELL) for cell in cells]
        grid.add_row(*(Text(text, no_wrap=True, overflow="ellipsis") for text in texts))
    return grid


def _holds_numbers(table: Table, column: str) -> bool:
    values = [row.get(column) for row in table.rows]
    return all(
        isinstance(value, int | float | None) or (isinstance(value, str) and _NUMBER.fullmatch(value))
        for value in values
    )


def _least_width(table: Table) -> int:
    """Return the width that holds all numbers whole, and some letters of each text."""
    width = _GAP * (len(table.columns) - 1)
    for column in table.columns:
        cells = [_cell(row.get(column)) for row in table.rows]
        words = [*one_line(column).split(), *cells]
        longest = max(map(len, words), default=0)
        width += longest if _holds_numbers(table, column) else min(longest, _LEAST)
    return width


def _cell(value: Any) -> str:
    return one_line(value if isinstance(value, str) else to_json(value))


def print_pairs(pairs: Iterable[tuple[str, Any]], indent: str = "") -> None:
    """Print names and what they are, one a line, aligned."""
    shown = [(one_line(name), one_line(str(value))) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{indent}{name:<{width}}  {value}")


def calls(number: int, failed: int) -> str:
    """Return `1 call`, `12 calls (3 failed)`, `6 calls (all failed)`."""
    return counted(number, "call") + (
        f" ({'all' if failed >= number else f'{failed:,}'} failed)" if failed else ""
    )


def money(dollars: float | None) -> str:
    """Return `$0.12`, `$0.0004`; in words where the price is not known."""
    return (
        "price not known"
        if dollars is None
        else f"${dollars:,.2f}"
        if dollars >= 0.1 or not dollars
        else f"${dollars:.2g}"
    )


def moment(iso: str) -> str:
    """Return a moment in UTC in local time, to the minute."""
    return datetime.fromisoformat(iso).astimezone().strftime("%Y-%m-%d %H:%M")


def duration(seconds: float) -> str:
    """Return seconds as people say them: `4 ms`, `1.2 s`, `12 s`, `3 min 20 s`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


EVERY = 10.0  # seconds between lines of progress
_NOTE = 100  # characters of what went wrong
_SEARCH = ("embed", "database", "rank", "rerank")
_TEXTS = {
    "plan": "plan: the language model is asked",
    "cypher": "cypher: the language model is asked",
    "agents": "the language model is asked",
    "answer": "answer: the language model is asked",
}


class Waiting:
    """Show on a terminal, in one line, what a command is doing, until the wait is over.

    Safe for threads. quiet: show nothing, as others write on standard error.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet or not sys.stderr.isatty()
        self._bar: Status | None = None

    def begin(self, text: str) -> Self:
        """Begin a wait for what `text` says."""
        self.stop()
        if not self._quiet:
            self._bar = console(stderr=True).status(one_line(text))
            self._bar.start()
        return self

    def on_stage(self, stage: str, note: str | None) -> None:
        """Show a stage of a question, as `Memory.ask` reports it."""
        text = "search" if stage in _SEARCH else _TEXTS.get(stage, stage)
        if (bar := self._bar) is not None:
            bar.update(one_line(f"{text} ({cut(one_line(note), _NOTE)})" if note else text))

    def stop(self) -> None:
        """End the wait, and take the line off the screen."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


COMPLETED = "With what was found for the missing part:"


class Streamed:
    """Print pieces of an answer as they come, in lines that fit; if standard output is no terminal nothing, as
    the whole answer follows. waiting: ends before anything is printed."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting, self._printed = waiting, ""
        self._lines = Lines(console().width)
        self._is_second = False  # what comes next is of an answer in the place of the one that was printed

    def on_text(self, text: str) -> None:
        if sys.stdout.isatty():
            self._waiting.stop()
            if self._is_second:
                click.echo(f"\n\n{COMPLETED}\n")
                self._printed, self._lines, self._is_second = "", Lines(console().width), False
            self._printed += text
            click.echo(self._lines.add(clean(text)), nl=False)

    def on_stage(self, stage: str, note: str | None) -> None:
        """Show a stage of a question. An answer that takes the place of one that was printed stands below it,
        with a heading that comes with its first piece: the model may give none."""
        self._waiting.on_stage(stage, note)
        if self._printed and stage == "answer" and note is None:
            self._is_second = True

    def end(self) -> str:
        """Return what was printed."""
        return self._printed


class Step(NamedTuple):
    """How far a long command is: a line of text, so much done, and of how much where that is known."""

    text: str
    done: int = 0
    total: int | None = None


@contextmanager
def reporter(quiet: bool, describe: Callable[..., Step]) -> Iterator[Callable[..., None] | None]:
    """Show how far a command is, on standard error: a bar on a terminal, elsewhere a line now and then.

    Args:
        quiet: Show nothing.
        describe: Gets what the command reports and the seconds since its start.
    """
    start = last = time.monotonic()
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():

        def print_line(*progress: Any) -> None:
            nonlocal last
            now = time.monotonic()
            step = describe(*progress, now - start)
            if now - last >= EVERY and not (step.total and step.done >= step.total):
                last = now
                click.echo(step.text, err=True)

        yield print_line
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), BarColumn(30), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("starting", total=None)

        def update(*progress: Any) -> None:
            step = describe(*progress, time.monotonic() - start)
            bar.update(task, description=step.text, completed=step.done, total=step.total)

        yield update


def left(done: int, total: int | None, seconds: float) -> str:
    """Return `, about 8 s left`, or nothing where that is not known."""
    if not done or total is None or done >= total:
        return ""
    return f", about {duration(max(1, round((total - done) * seconds / done)))} left"
