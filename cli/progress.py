"""How far a load is, on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.output import console, counted, duration
from gsw_graph.cli.safe_text import cut, one_line

if TYPE_CHECKING:
    from gsw_graph.memory import Progress

EVERY = 10.0  # seconds between lines
PROBLEM = 80  # characters of the last failure


@contextmanager
def reporter(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """What to give `Memory.load` as `progress`."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield PlainLines().report


class PlainLines:
    """A line each `EVERY` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._last = clock()

    def report(self, progress: Progress) -> None:
        now = self._clock()
        if now - self._last >= EVERY:
            self._last = now
            click.echo(line(progress, now - self._start), err=True)


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    start = time.monotonic()
    columns = (SpinnerColumn(), BarColumn(30), TextColumn("{task.description}", markup=False))
    # Standard output is no part of it: the bar stands on standard error.
    with Bar(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("starting", total=None)

        def report(progress: Progress) -> None:
            known = progress.total if progress.stage == "loading" else None
            bar.update(task, description=line(progress, time.monotonic() - start), total=known, completed=progress.passages)

        yield report


def line(progress: Progress, seconds: float) -> str:
    """`loading: 12 documents, 340 passages of 1,000, 85 passages/s, about 8 s left`; a rate only while loading."""
    of = f" of {progress.total:,}" if progress.total is not None else ""
    if progress.stage == "waiting":
        return f"waiting for the batch: {progress.passages:,}{of} requests done; Ctrl-C leaves it at the server, the same command goes on"
    text = f"{progress.stage}: {counted(progress.documents, 'document')}, {counted(progress.passages, 'passage')}{of}"
    if progress.failed:
        text += f", {progress.failed:,} failed (last: {cut(one_line(progress.problem or ''), PROBLEM)})"
    if progress.stage != "loading" or not progress.passages or seconds <= 0:
        return text
    rate = progress.passages / seconds
    text += f", {rate:,.{0 if rate >= 10 else 1}f} passages/s"
    if progress.total is None:
        return text
    return f"{text}, about {duration(max(1, round((progress.total - progress.passages) / rate)))} left"
