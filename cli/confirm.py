"""`gswgraph confirm`: the answer to a question was right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, kept, memory_option, open_memory
from gsw_graph.cli.text.output import print_json
from gsw_graph.text.safe_text import one_line

if TYPE_CHECKING:
    from gsw_graph.model.results import AskedQuestion


@click.command()
@memory_option
@click.argument("which")
@json_option
@click.pass_obj
def confirm(url: str | None, which: str, as_json: bool) -> None:
    """Say that an answer was right: when its question is asked again, in whatever words, it is given as it is.

    WHICH is an id as `ask` prints it, or its beginning, or a number of `gswgraph history` (1 is the latest).
    Of an answer whose documents changed or were forgotten nothing is given again.

    \b
    Example:
      gswgraph confirm 1
      gswgraph confirm 3fa2c91b
    """
    with open_memory(url) as memory:
        said(memory.confirm(kept(which)), as_json=as_json)


def said(one: AskedQuestion, *, as_json: bool) -> None:
    """Print what was said of an answer."""
    if as_json:
        print_json(one.to_dict())
    else:
        click.echo(
            f"{str(one.verdict).capitalize()}: {one_line(one.question)} -> {one_line(str(one.answer))}"
        )
