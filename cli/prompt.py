"""Questions one after another from a terminal or a pipe; the memory stays open and its models warm."""

from __future__ import annotations

import contextlib
import os
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

HELP = """\
A line is a question. Besides:
  /k N     how many passages, now {k}
  /trace   show how passages are found, now {trace}
  /help    this
  /quit    end; so do Ctrl-D and Ctrl-C"""


def obey(line: str, options: dict[str, Any]) -> bool:
    """Do what a line that begins with a slash says to the options of the questions that follow. Return
    False where the prompt ends."""
    word, _, rest = line.partition(" ")
    if word in ("/quit", "/exit"):
        return False
    trace = "on" if options["trace"] else "off"
    if word == "/trace":
        options["trace"] = not options["trace"]
        text = "trace on" if options["trace"] else "trace off"
    elif word == "/k" and rest.strip().isdecimal() and int(rest) > 0:
        options["k"] = int(rest)
        text = f"{options['k']} passages"
    elif word == "/k":
        text = f"/k takes a number of passages, such as /k 10; now {options['k']}"
    elif word == "/help":
        text = HELP.format(k=options["k"], trace=trace)
    else:
        text = f"There is no {word}; /help lists all there is"
    click.echo(text, err=True)
    return True


class PromptHistory:
    """Lines of earlier sessions for `input`, in a file that only its owner can read.

    Where the platform has no readline (Windows), or the file cannot be read or written, that is this
    session's lines or nothing.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with contextlib.suppress(ImportError, OSError):
            import readline

            file.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            readline.read_history_file(file)

    def keep(self) -> None:
        """Write the line that came last. What another session wrote meanwhile stays."""
        with contextlib.suppress(ImportError, OSError):
            import readline

            readline.set_history_length(1000)
            if not hasattr(readline, "append_history_file"):  # as on macOS
                readline.write_history_file(self._file)
            elif readline.get_current_history_length():
                readline.append_history_file(1, self._file)


def run(memory: Memory, waiting: Waiting, printing: dict[str, Any], *, as_json: bool, **options: Any) -> int:
    """Answer until the end; return the number of questions that could not be asked.

    At a terminal a line that begins with a slash changes the options, and lines are known in later sessions
    too, unless questions are not to be kept.

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
    file = memory.settings.cache_dir / "questions" if options["keep"] else None
    for question in _questions(options, file):
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


def _questions(options: dict[str, Any], file: Path | None) -> Iterator[str]:
    """Yield what is asked, until the end or `/quit`. file: of the lines of earlier sessions."""
    if not sys.stdin.isatty():
        lines = (line.decode("utf-8-sig", errors="replace") for line in sys.stdin.buffer)
        yield from filter(None, map(str.strip, lines))
        return
    history = PromptHistory(file) if file else None
    for line in map(str.strip, _typed()):
        if line and history:
            history.keep()
        if not line.startswith("/"):
            yield from filter(None, [line])
        elif not obey(line, options):
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
