"""`gswgraph runs`: the symbol codebook, counted and built."""

from __future__ import annotations

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, duration, print_json, print_pairs
from gsw_graph.cli.text.waiting import Waiting


@click.command()
@memory_option
@click.argument("action", type=click.Choice(["show", "build"]), default="show", metavar="[build]")
@json_option
@click.pass_obj
def runs(url: str | None, action: str, as_json: bool) -> None:
    """Show the symbol codebook: relations, and runs of edges between names. With `build`: build the runs that are missing.

    The strategy `pruned` builds what is missing before its first question. A build that is broken off goes on at the next.

    \b
    Example:
      gswgraph runs
      gswgraph runs build
      gswgraph runs --json
    """
    with open_memory(url) as memory:
        if action == "build":
            waiting = Waiting().begin("runs are built")
            try:
                built = memory.build_runs(
                    progress=lambda done, of: waiting.on_stage("runs", f"{done:,} of {of:,} passages")
                )
            finally:
                waiting.stop()
        found = memory.runs()
    if as_json:
        print_json({**found.to_dict(), **({"built": built.to_dict()} if action == "build" else {})})
        return
    if action == "build":
        click.echo(
            f"Built {counted(built.runs, 'run')} for {counted(built.passages, 'passage')}; "
            f"{duration(built.seconds)}"
        )
    print_pairs((name, f"{number:,}") for name, number in found.to_dict().items() if name != "missing")
    if found.missing:
        click.echo(f"{counted(found.missing, 'passage')} without runs yet: gswgraph runs build")
