"""A language model's answer as it comes, on a terminal."""

from __future__ import annotations

import sys

import click

from gsw_graph.cli.safe_text import clean


class Streamed:
    """Prints pieces of an answer as they come; where standard output is no terminal it prints nothing, as the whole answer follows."""

    def __init__(self) -> None:
        self._active = sys.stdout.isatty()
        self._said = ""

    def on_text(self, text: str) -> None:
        if self._active:
            self._said += text
            click.echo(clean(text), nl=False)

    def end(self) -> str:
        """What was printed."""
        return self._said
