"""`gswgraph forget`: documents out of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory, settings
from gsw_graph.cli.text.output import counted, print_failure, print_json
from gsw_graph.text.safe_text import clean, short_source, without_password

if TYPE_CHECKING:
    from gsw_graph.model.results import Forgotten


@click.command()
@memory_option
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--all", "everything", is_flag=True, help="Forget every document.")
@click.option(
    "--yes", "-y", is_flag=True, help="Do not ask whether --all, or more than one document, is meant."
)
@json_option
@click.pass_obj
def forget(url: str | None, sources: tuple[str, ...], everything: bool, yes: bool, as_json: bool) -> None:
    """Remove documents and all that only they supported. Questions whose answers cite them are forgotten too; other questions stay, unless --all.

    SOURCE is a source as `ask` and `load` show it, a file, or a folder with a slash at its end (notes/). More than one document is asked for, unless --yes.

    Exit code 4: some sources are unknown, the rest is forgotten. 1: all are unknown.

    \b
    Example:
      gswgraph forget report.md
      gswgraph forget notes/ old.txt --json
      gswgraph forget --all
    """
    if everything == bool(sources):
        raise click.UsageError("Give either sources or --all.")
    if everything and not yes:
        place = clean(without_password(url or settings().memory))
        click.confirm(f"Forget every document of {place}?", abort=True, err=True)
    if any(not source.strip() for source in sources):
        raise click.UsageError("An empty name means no document (an unset variable?). All documents: --all.")
    with open_memory(url) as memory:
        if not everything and not yes:
            meant = memory.forget(*sources, dry_run=True).forgotten
            if len(meant) > 1:
                click.confirm(f"Forget {counted(len(meant), 'document')}?", abort=True, err=True)
        found = memory.forget(*sources, everything=everything)
    if as_json:
        print_json(found.to_dict())
    else:
        for source in found.unknown:
            print_failure(f"Unknown: {short_source(source)}")
        asked = f" and {counted(found.questions, 'question')} answered from them" if found.questions else ""
        click.echo(f"Forgot {counted(len(found.forgotten), 'document')}{asked}.")
    click.get_current_context().exit(_exit_code(found))


def _exit_code(found: Forgotten) -> int:
    if not found.unknown:
        return 0
    return 4 if found.forgotten else 1
