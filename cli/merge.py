"""`gswgraph merge`: names that mean the same thing become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, money, print_failure, print_json
from gsw_graph.cli.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from gsw_graph.results import Merged

SHOWN = 50  # groups and pairs for people
_REASON = 110  # characters of one


@click.command()
@memory_option
@click.argument("name", nargs=-1, metavar="[NAME]")
@click.option("--dry-run", is_flag=True, help="Only list what would be merged, and what is not sure enough.")
@click.option("--show", is_flag=True, help="List what is merged: all, or the group of NAME.")
@click.option(
    "--ask-model",
    is_flag=True,
    help="Show pairs that are not sure enough, at most 100, to the language model that is set.",
)
@click.option("--full", is_flag=True, help=f"All groups and reasons, not the first {SHOWN}.")
@json_option
@click.pass_obj
def merge(
    url: str | None,
    /,
    name: tuple[str, ...],
    dry_run: bool,
    show: bool,
    ask_model: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Join names that mean the same thing: spellings, abbreviations and other names that texts state. Questions then find
    what stands under any of them. Nothing is lost: `gswgraph unmerge` takes it back.

    \b
    Example:
      gswgraph merge --dry-run
      gswgraph merge
      gswgraph merge --show "World Health Organization"
    """
    if (name and not show) or (show and (dry_run or ask_model)):
        raise click.UsageError("NAME goes with --show, and --show with no other option.")
    with open_memory(url) as memory:
        found = memory.merged(" ".join(name)) if show else memory.merge(dry_run=dry_run, ask_model=ask_model)
    if as_json:
        print_json(found.to_dict())
        return
    most = None if full else SHOWN
    _print_groups(found, most)
    if not show:
        _print_suspicious(found, most)
    if found.note:
        print_failure(f"Note: {found.note}")
    if any(found.tokens.values()):
        click.echo(
            f"Model: {found.tokens['in']:,} tokens in, {found.tokens['out']:,} out, {money(found.dollars)}"
        )
    click.echo(_last_line(found, show=show))


def _print_groups(found: Merged, most: int | None) -> None:
    for group in found.groups[:most]:
        click.echo(f"{one_line(group.name)} ({counted(group.passages, 'passage')})")
        for alias in group.aliases:
            run = f", run {alias.run}" if alias.run and found.run is None else ""
            why = f"{alias.score:.2f}, {alias.method}{run}: {_cut(alias.reason, most)}"
            click.echo(f"  = {one_line(alias.name)} ({alias.passages:,})  {why}")
    if most and (more := len(found.groups) - most) > 0:
        click.echo(f"... and {counted(more, 'group')} more; --full shows all")


def _print_suspicious(found: Merged, most: int | None) -> None:
    if found.suspicious:
        click.echo("\nNot sure enough:")
    for one in found.suspicious[:most]:
        said = f", the model says {one.verdict}" if one.verdict else ""
        names = " / ".join(map(one_line, one.names))
        click.echo(f"  {names}  {one.score:.2f}{said}: {_cut(one.reason, most)}")
    if most and (more := len(found.suspicious) - most) > 0:
        click.echo(f"  ... and {counted(more, 'pair')} more; --full shows all")


def _cut(text: str, most: int | None) -> str:
    return one_line(text) if most is None else cut(one_line(text), _REASON)


def _last_line(found: Merged, *, show: bool) -> str:
    aliases = sum(len(group.aliases) for group in found.groups)
    counts = f"{counted(aliases, 'name')} in {counted(len(found.groups), 'group')}"
    if show:
        return f"{counts} merged."
    if found.run is None:
        return f"Would merge {counts}." if aliases else "Nothing to merge."
    return f"Merged {counts}. Take it back: gswgraph unmerge {found.run}"
