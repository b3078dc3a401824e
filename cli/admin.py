"""Commands that look after memories: copies, files for others, checks, merged names, the codebook."""

from __future__ import annotations

import getpass
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import (
    Url,
    check_unserved,
    flag,
    json_option,
    memory_command,
    open_memory,
    quiet_option,
)
from gsw_graph.cli.text.output import (
    Step,
    console,
    print_items,
    print_json,
    print_record,
    print_result,
    reporter,
)
from gsw_graph.text.safe_text import one_line

if TYPE_CHECKING:
    from gsw_graph.model.results import Merged


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@quiet_option
@json_option
def copy(source: str, target: str, quiet: bool, as_json: bool) -> None:
    """Copy a memory with all that is in it: documents, vectors, questions, indexes.

    FROM and TO are folders or bolt:// or neo4j:// urls. TO must be new or empty. A copy that was cut off leaves no memory: remove the folder, or empty the
    database, and copy again.

    User, password and database come from NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE; where both sides are servers, those of FROM from
    NEO4J_FROM_USERNAME, NEO4J_FROM_PASSWORD and NEO4J_FROM_DATABASE.

    \b
    Example:
      gswgraph copy .gswgraph bolt://localhost:7687
      gswgraph copy neo4j://server:7687 backup/ --json
    """
    from gsw_graph.load import moving

    for place in (source, target):
        check_unserved(place, "copy")
    with reporter(quiet, _written) as progress:
        report = moving.copy(*moving.sides(source, target), on_written=progress or _ignore)
    print_result(report, as_json)


@memory_command()
@click.argument("target", metavar="FILE", type=click.Path())
def dump(url: Url, target: str, as_json: bool) -> None:
    """Write all that a memory holds into a new file, a node or a relationship a line of JSON.

    \b
    Example:
      gswgraph dump memory.jsonl
    """
    check_unserved(url, "dump")
    with open_memory(url) as memory:
        print_result(memory.dump(target), as_json)


@memory_command()
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@quiet_option
def restore(url: Url, source: str, quiet: bool, as_json: bool) -> None:
    """Write the memory of a dump into a new folder or an empty database.

    \b
    Example:
      gswgraph --memory copy/ restore memory.jsonl
    """
    check_unserved(url, "restore")
    with open_memory(url, create=True) as memory, reporter(quiet, _written) as progress:
        report = memory.restore(source, progress=progress)
    print_result(report, as_json)


def _written(written: int, _: float) -> Step:
    return Step(f"{written:,} nodes and relationships", written)


def _ignore(_: int) -> None:
    pass


@memory_command()
@flag("--mend", help="First make missing indexes, count again and delete orphaned nodes.")
@flag("--deep", help="Also compare every text with the hash of what was loaded.")
def doctor(url: Url, mend: bool, deep: bool, as_json: bool) -> None:
    """Look for what is wrong, and say how to repair it. What is not gswgraph's is named and left alone.

    Exit code 1: something is wrong.

    \b
    Example:
      gswgraph doctor
      gswgraph doctor --mend
      gswgraph doctor --deep
      gswgraph doctor --json
    """
    check_unserved(url, "doctor")
    with open_memory(url) as memory:
        findings = memory.doctor(mend=mend, deep=deep)
    well = all(finding.ok for finding in findings)
    if as_json:
        print_json({"ok": well, "findings": [finding.to_dict() for finding in findings]})
    else:
        from rich.text import Text

        for finding in findings:
            state = Text("ok   ", "green") if finding.ok else Text("WRONG", "bold red")
            state.append(f"  {one_line(finding.check)}: {one_line(finding.result)}", "default not bold")
            console().print(state, soft_wrap=True)
            if not finding.ok and finding.mend:
                click.echo(f"       mend: {one_line(finding.mend)}")
    click.get_current_context().exit(0 if well else 1)


SHOWN = 50  # groups and pairs for people


@memory_command()
@click.argument("name", nargs=-1, metavar="[NAME]")
@flag("--dry-run", help="Only list what would be merged, and what is not sure enough.")
@click.option(
    "--near",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Join names whose vectors have this cosine: 0.93.",
)
@click.option(
    "--at-most", type=int, default=0, help="With --near: the nearest, until so many names are left."
)
@flag("--show", help="List what is merged: all, or the group of NAME.")
@flag("--full", help=f"All groups and reasons, not the first {SHOWN}.")
def merge(
    url: Url,
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
    what is known under any of them. Nothing is lost: `gswgraph unmerge` takes it back.

    \b
    Example:
      gswgraph merge --dry-run
      gswgraph merge
      gswgraph merge --near 0.93 --dry-run
      gswgraph merge --show "World Health Organization"
    """
    if (name and not show) or (show and dry_run):
        raise click.UsageError("NAME goes with --show, and --show with no other option.")
    check_unserved(url, "merge")
    with open_memory(url) as memory:
        if show:
            result = memory.merged(" ".join(name))
        else:
            result = memory.merge(dry_run=dry_run, near=near, at_most=at_most)
    print_result(result, as_json, partial(_print_merged, limit=None if full else SHOWN))


def _print_merged(result: Merged, *, limit: int | None) -> None:
    fields = result.to_dict()
    for name in ("groups", "suspicious"):
        if limit is not None and len(fields[name]) > limit:
            click.echo(f"The first {limit} of {len(fields[name]):,} {name}; --full shows all")
        fields[name] = fields[name][:limit]
    print_record(fields, hidden=("id", "ids", "at"))
    if result.run is not None:
        click.echo(f"Take it back: gswgraph unmerge {result.run}")
    elif not result.groups:
        click.echo("Nothing to merge.")


@memory_command()
@click.argument("target")
def unmerge(url: Url, target: str, as_json: bool) -> None:
    """Take merged names apart: the group of a name, all that one run of `merge` joined, or `all`. The graph is then what it
    was before.

    \b
    Example:
      gswgraph unmerge "World Health Organization"
      gswgraph unmerge 3f9a01c2
      gswgraph unmerge all
    """
    check_unserved(url, "unmerge")
    with open_memory(url) as memory:
        result = memory.unmerge(target)
    print_result(result, as_json)


@memory_command()
@click.argument(
    "action", type=click.Choice(("rename", "split", "remove", "supersede", "add")), required=False
)
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option("--by", metavar="WHO", help="Who corrects it; default: your user name.")
@flag("--list", "listed", help="List what was corrected.")
@click.option("--undo", metavar="ID", help="Take a correction back.")
def correct(
    url: Url,
    action: str | None,
    values: tuple[str, ...],
    by: str | None,
    listed: bool,
    undo: str | None,
    as_json: bool,
) -> None:
    """Correct by hand what the memory holds. Later loads of the same documents keep it.

    \b
    rename     NAME NEW          what is called NAME is NEW
    split      NAME NEW SOURCE.. in these documents NAME means something else: NEW
    remove     FACT              its id (gswgraph show --json), its question or its text
    supersede  OLD NEW           ids of passages; OLD is not searched any more
    add        TEXT              or a question and its answers

    \b
    Example:
      gswgraph correct rename "Ottile Grau" "Ottilie Grau"
      gswgraph correct split Mercury "Mercury (planet)" notes/planets.md
      gswgraph correct add "Who built the Old Light?" "Ana Ruiz"
      gswgraph correct --list
      gswgraph correct --undo 3f9a01c2
    """
    if [action is not None, listed, undo is not None].count(True) != 1:
        raise click.UsageError("Give an action, --list or --undo.")
    with open_memory(url) as memory:
        if listed:
            corrections = memory.corrections()
        elif undo is not None:
            corrections = [memory.undo_correction(undo)]
        else:
            corrections = [memory.correct(str(action), *values, by=by or _user())]
    rows = [correction.to_dict() for correction in corrections]
    if as_json:
        print_json({"corrections": rows})
        return
    print_items(rows)
    if not listed:
        click.echo("Taken back." if undo else f"Take it back: gswgraph correct --undo {corrections[0].id}")


def _user() -> str:
    """Return the name of the user; "" if the system knows none, as in a container."""
    with suppress(KeyError, OSError, ImportError):
        return getpass.getuser()
    return ""
