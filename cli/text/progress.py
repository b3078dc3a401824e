"""How far a load is, on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.text.output import console, counted, duration
from gsw_graph.text.safe_text import cut, one_line

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
        if now - self._last >= EVERY and not finished(progress):
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
            bar.update(
                task,
                description=line(progress, time.monotonic() - start),
                total=known,
                completed=done(progress),
            )

        yield report


def done(progress: Progress) -> int:
    """The passages that the slowest part is done with: a language model where there is one, else
    embedding."""
    return max(progress.passages, progress.answered or 0)


def finished(progress: Progress) -> bool:
    """Whether nothing is left to do but what the summary says in a moment."""
    written = progress.passages if progress.written is None else progress.written
    return progress.stage == "loading" and progress.total is not None and written >= progress.total > 0


def line(progress: Progress, seconds: float) -> str:
    """`loading: 12 documents, 340 passages of 1,000, 85 passages/s, about 8 s left`; a rate only while
    loading."""
    of = f" of {progress.total:,}" if progress.total is not None else ""
    if progress.stage == "waiting":
        return (
            f"waiting for the batch: {progress.passages:,}{of} requests done; Ctrl-C leaves it at "
            "the "
            "server, the same command goes on"
        )
    passages = done(progress)
    text = f"{progress.stage}: {counted(progress.documents, 'document')}, {counted(passages, 'passage')}{of}"
    if progress.stage == "loading" and progress.written is not None and progress.written < passages:
        text += f", {progress.written:,} written"
    if progress.answered is not None:
        replies = "reply" if progress.replies == 1 else "replies"
        text += f", {progress.replies:,} {replies} of the language model"
        text += f", {counted(progress.failed_calls, 'call')} failed" if progress.failed_calls else ""
    text += f", {progress.failed:,} failed" if progress.failed else ""
    if progress.problem:
        text += f" (last: {cut(one_line(progress.problem), PROBLEM)})"
    if progress.stage != "loading" or not passages or seconds <= 0:
        return text
    rate = passages / seconds
    text += f", {rate:,.{0 if rate >= 10 else 1}f} passages/s"
    left = 0 if progress.total is None else progress.total - passages
    return f"{text}, about {duration(max(1, round(left / rate)))} left" if left > 0 else text
