"""`gswgraph reject`: the answer to a question was wrong."""

from __future__ import annotations

import click

from gsw_graph.cli.confirm import said
from gsw_graph.cli.options import json_option, kept, memory_option, open_memory


@click.command()
@memory_option
@click.argument("which")
@json_option
@click.pass_obj
def reject(url: str | None, which: str, as_json: bool) -> None:
    """Say that an answer was wrong: nothing of it is used when its question is asked again.

    WHICH is an id as `ask` prints it, or its beginning, or a number of `gswgraph history` (1 is the latest).

    \b
    Example:
      gswgraph reject 1
      gswgraph reject 3fa2c91b
    """
    with open_memory(url) as memory:
        said(memory.reject(kept(which)), as_json=as_json)
