"""Questions one after another from a terminal or a pipe; the memory stays open and its models warm."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.answer_text import print_answer
from gsw_graph.cli.output import print_failure, print_json
from gsw_graph.cli.streaming import Streamed
from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from gsw_graph.memory import Memory


def run(memory: Memory, *, timings: bool, as_json: bool, **how: Any) -> int:
    """Answer until the end, or at a terminal an empty line, `how` being options of `Memory.ask`; the number of questions that could not be asked."""
    failed = 0
    memory.warm()
    for question in _questions():
        streamed = Streamed()
        try:
            found = memory.ask(question, on_text=None if as_json else streamed.on_text, **how)
        except InputError as error:  # of this question; any other error would meet the next one too
            failed += 1
            print_failure(f"Error: {error}")
            if as_json:
                print_json({"question": question, "error": str(error)}, lines=True)
            continue
        if as_json:
            print_json(found.to_dict(), lines=True)
        else:
            print_answer(found, timings=timings, streamed=streamed.end())
            click.echo()
    return failed


def _questions() -> Iterator[str]:
    if not sys.stdin.isatty():
        yield from filter(None, map(str.strip, _piped()))
        return
    for line in _typed():
        if not (question := line.strip()):
            return
        yield question


def _typed() -> Iterator[str]:
    with contextlib.suppress(ImportError):  # Windows has none
        import readline  # noqa: F401  (gives `input` a history, in memory only)
    click.echo("Ask. An empty line, Ctrl-D or Ctrl-C ends.", err=True)
    with contextlib.suppress(EOFError):
        while True:
            if sys.stdout.isatty():
                yield input("? ")
            else:  # `input` would write its prompt among the answers
                click.echo("? ", nl=False, err=True)
                yield input()


def _piped() -> Iterator[str]:
    for line in sys.stdin.buffer:
        yield line.decode("utf-8-sig", errors="replace")
