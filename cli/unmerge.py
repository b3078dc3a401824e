"""`gswgraph unmerge`: merged names become several again."""

from __future__ import annotations

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, print_json
from gsw_graph.cli.text.safe_text import one_line


@click.command()
@memory_option
@click.argument("what")
@json_option
@click.pass_obj
def unmerge(url: str | None, what: str, as_json: bool) -> None:
    """Take merged names apart: the group of a name, all that one run of `merge` joined, or `all`. The graph is then what it
    was before.

    \b
    Example:
      gswgraph unmerge "World Health Organization"
      gswgraph unmerge 3f9a01c2
      gswgraph unmerge all
    """
    with open_memory(url) as memory:
        found = memory.unmerge(what)
    if as_json:
        print_json(found.to_dict())
        return
    for name in found.groups[:20]:
        click.echo(one_line(name))
    click.echo(f"Took {counted(len(found.aliases), 'name')} out of {counted(len(found.groups), 'group')}.")
