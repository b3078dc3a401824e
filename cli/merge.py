"""`gswgraph merge` and `unmerge`: names that mean the same thing become one, and several again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, print_json
from gsw_graph.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from gsw_graph.model.results import Merged

SHOWN = 50  # groups and pairs for people
_REASON = 110  # characters of one


@click.command()
@memory_option
@click.argument("name", nargs=-1, metavar="[NAME]")
@click.option("--dry-run", is_flag=True, help="Only list what would be merged, and what is not sure enough.")
@click.option(
    "--near", type=click.FloatRange(0, 1), default=0.0, help="Join names whose vectors have this cosine: 0.93."
)
@click.option("--at-most", type=int, default=0, help="With --near: the nearest, until so many names are left.")
@click.option("--show", is_flag=True, help="List what is merged: all, or the group of NAME.")
@click.option("--full", is_flag=True, help=f"All groups and reasons, not the first {SHOWN}.")
@json_option
@click.pass_obj
def merge(
    url: str | None,
    /,
    name: tuple[str, ...],
    dry_run: bool,
    near: float,
    at_most: int,
    show: bool,
    full: bool,
    as_json: bool,
) -> None:
    """Join names that mean the same thing: spellings, abbreviations and other names that texts state. Questions then find
    what stands under any of them. Nothing is lost: `gswgraph unmerge` takes it back.

    \b
    Example:
      gswgraph merge --dry-run
      gswgraph merge
      gswgraph merge --near 0.93 --dry-run
      gswgraph merge --show "World Health Organization"
    """
    if (name and not show) or (show and dry_run):
        raise click.UsageError("NAME goes with --show, and --show with no other option.")
    with open_memory(url) as memory:
        result = memory.merged(" ".join(name)) if show else memory.merge(dry_run=dry_run, near=near, at_most=at_most)
    if as_json:
        print_json(result.to_dict())
        return
    most = None if full else SHOWN
    _print_groups(result, most)
    if not show:
        _print_suspicious(result, most)
    click.echo(_last_line(result, show=show))


def _print_groups(result: Merged, most: int | None) -> None:
    for group in result.groups[:most]:
        click.echo(f"{one_line(group.name)} ({counted(group.passages, 'passage')})")
        for alias in group.aliases:
            run = f", run {alias.run}" if alias.run and result.run is None else ""
            why = f"{alias.score:.2f}, {alias.method}{run}: {_cut(alias.reason, most)}"
            click.echo(f"  = {one_line(alias.name)} ({alias.passages:,})  {why}")
    if most and (more := len(result.groups) - most) > 0:
        click.echo(f"... and {counted(more, 'group')} more; --full shows all")


def _print_suspicious(result: Merged, most: int | None) -> None:
    if result.suspicious:
        click.echo("\nNot sure enough:")
    for pair in result.suspicious[:most]:
        names = " / ".join(map(one_line, pair.names))
        click.echo(f"  {names}  {pair.score:.2f}: {_cut(pair.reason, most)}")
    if most and (more := len(result.suspicious) - most) > 0:
        click.echo(f"  ... and {counted(more, 'pair')} more; --full shows all")


def _cut(text: str, most: int | None) -> str:
    return one_line(text) if most is None else cut(one_line(text), _REASON)


def _last_line(result: Merged, *, show: bool) -> str:
    aliases = sum(len(group.aliases) for group in result.groups)
    counts = f"{counted(aliases, 'name')} in {counted(len(result.groups), 'group')}"
    if show:
        return f"{counts} merged."
    if result.run is None:
        return f"Would merge {counts}." if aliases else "Nothing to merge."
    return f"Merged {counts}. Take it back: gswgraph unmerge {result.run}"


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
        result = memory.unmerge(what)
    if as_json:
        print_json(result.to_dict())
        return
    for name in result.groups[:20]:
        click.echo(one_line(name))
    click.echo(f"Took {counted(len(result.aliases), 'name')} out of {counted(len(result.groups), 'group')}.")
