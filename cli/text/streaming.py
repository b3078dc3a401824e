"""A language model's answer as it comes, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from gsw_graph.text.safe_text import clean


class Streamed:
    """Prints pieces of an answer as they come; where standard output is no terminal it prints nothing, as
    the whole answer follows."""

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        """before: called before anything is printed."""
        self._active, self._before = sys.stdout.isatty(), before
        self._said = ""

    def on_text(self, text: str) -> None:
        if self._active:
            self._before()
            self._said += text
            click.echo(clean(text), nl=False)

    def end(self) -> str:
        """What was printed."""
        return self._said
