"""Questions one after another from a terminal or a pipe; the memory stays open and its models warm."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.prompt.commands import obey
from gsw_graph.cli.prompt.lines import PromptHistory
from gsw_graph.cli.text.answers import print_answer
from gsw_graph.cli.text.output import print_failure, print_json
from gsw_graph.cli.text.streaming import Streamed
from gsw_graph.errors import EngineError, InputError

if TYPE_CHECKING:
    from gsw_graph.cli.text.waiting import Waiting
    from gsw_graph.memory import Memory


def run(memory: Memory, waiting: Waiting, printing: dict[str, Any], *, as_json: bool, **how: Any) -> int:
    """Answer until the end, `how` being `AskOptions` and `printing` those of `print_answer`; the number of questions that could not be
    asked.

    At a terminal a line that begins with a slash changes `how`, and lines are known in later sessions too,
    unless questions are not to be kept.
    """
    failed = 0
    gone: EngineError | None = None
    memory.warm()
    waiting.stop()
    for question in _questions(how, memory.settings.cache_dir / "questions" if how["keep"] else None):
        streamed = Streamed(waiting.stop)
        waiting.begin("search")
        try:
            if gone is not None:
                raise gone
            found = memory.ask(
                question, on_text=None if as_json else streamed.on_text, on_stage=waiting.on_stage, **how
            )
            waiting.stop()
        except (InputError, EngineError) as error:
            if isinstance(
                error, EngineError
            ):  # it would meet the next one too, which in a pipe gets its error without a wait
                if sys.stdin.isatty():
                    raise
                gone = error
            waiting.stop()
            failed += 1
            print_failure(f"Error: {error}")
            if as_json:
                print_json({"question": question, "error": str(error)}, lines=True)
            continue
        if as_json:
            print_json(found.to_dict(), lines=True)
        else:
            print_answer(
                found,
                streamed=streamed.end(),
                **printing,
            )
            click.echo()
    return failed


def _questions(how: dict[str, Any], file: Path | None) -> Iterator[str]:
    """What is asked, until the end or `/quit`. file: of the lines of earlier sessions."""
    if not sys.stdin.isatty():
        yield from filter(None, map(str.strip, _piped()))
        return
    history = PromptHistory(file) if file else None
    for line in map(str.strip, _typed()):
        if line and history:
            history.keep()
        if not line.startswith("/"):
            yield from filter(None, [line])
        elif not obey(line, how):
            return


def _typed() -> Iterator[str]:
    with contextlib.suppress(ImportError):  # Windows has none
        import readline  # noqa: F401  (lets `input` go back to earlier lines)
    click.echo("Ask. /help says what else can be typed; Ctrl-D ends.", err=True)
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
