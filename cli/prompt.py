"""Questions one after another from a terminal or a pipe; the memory stays open and its models warm."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.text.answers import print_answer
from gsw_graph.cli.text.output import Streamed, print_failure, print_json
from gsw_graph.errors import EngineError, InputError

if TYPE_CHECKING:
    from gsw_graph.cli.text.output import Waiting
    from gsw_graph.memory import Memory


def run(memory: Memory, waiting: Waiting, printing: dict[str, Any], *, as_json: bool, **options: Any) -> int:
    """Answer until the end; return the number of questions that could not be asked.

    Args:
        memory: What is asked.
        waiting: Shows what is being done.
        printing: Options of `print_answer`.
        as_json: Print an answer as one line of JSON.
        options: Those of `AskOptions`.
    """
    failed = 0
    gone: EngineError | None = None
    memory.warm()
    waiting.stop()
    for question in _questions(memory.settings.cache_dir / "questions" if options["keep"] else None):
        streamed = Streamed(waiting.stop)
        waiting.begin("search")
        try:
            if gone is not None:
                raise gone
            on_text = None if as_json else streamed.on_text
            answer = memory.ask(question, on_text=on_text, on_stage=waiting.on_stage, **options)
        except (InputError, EngineError) as error:
            if isinstance(error, EngineError):
                if sys.stdin.isatty():
                    raise
                gone = error  # the next question of a pipe gets it without a wait
            waiting.stop()
            failed += 1
            print_failure(f"Error: {error}")
            if as_json:
                print_json({"question": question, "error": str(error)}, lines=True)
            continue
        waiting.stop()
        if as_json:
            print_json(answer.to_dict(), lines=True)
        else:
            print_answer(answer, streamed=streamed.end(), **printing)
            click.echo()
    return failed


def _questions(history: Path | None) -> Iterator[str]:
    """Yield what is asked, until the end. history: the file of the lines of earlier sessions."""
    if not sys.stdin.isatty():
        lines = (line.decode("utf-8-sig", errors="replace") for line in sys.stdin.buffer)
        yield from filter(None, map(str.strip, lines))
        return
    click.echo("Ask, one question a line; Ctrl-D ends.", err=True)
    with _history(history), contextlib.suppress(EOFError):
        while True:
            if not sys.stdout.isatty():  # `input` would write its prompt among the answers
                click.echo("? ", nl=False, err=True)
            if line := input("? " if sys.stdout.isatty() else "").strip():
                yield line


@contextlib.contextmanager
def _history(file: Path | None) -> Iterator[None]:
    """Let `input` go back to earlier lines, and keep them in a file that only its owner can read."""
    try:
        import readline
    except ImportError:  # Windows has none
        file = None
    if file is not None:
        with contextlib.suppress(OSError):  # a history that cannot be read is no reason to stop
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            readline.read_history_file(file)
    try:
        yield
    finally:
        if file is not None:
            with contextlib.suppress(OSError):
                readline.set_history_length(1000)
                readline.write_history_file(file)
