"""Commands that look after memories: copies, files for others, checks, merged names, the codebook."""

from __future__ import annotations

import getpass
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import check_unserved, flag, json_option, open_memory, with_memory
from gsw_graph.cli.text.output import (
    Step,
    console,
    counted,
    duration,
    print_json,
    print_result,
    reporter,
)
from gsw_graph.text.safe_text import cut, one_line, short_source, without_password
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from gsw_graph.model.results import Copied, Merged, Unmerged


_quiet = flag("--quiet", "-q", help="No progress.")


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@_quiet
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
    from gsw_graph.load import backup

    for place in (source, target):
        check_unserved(place, "copy")
    with reporter(quiet, _written) as progress:
        report = backup.copy(*backup.copy_settings(source, target), on_written=progress or _ignore)
    print_result(report, as_json, partial(_print_copied, "Copied"))


@click.command()
@with_memory
@click.argument("target", metavar="FILE", type=click.Path())
@json_option
def dump(url: str | None, target: str, as_json: bool) -> None:
    """Write all that a memory holds into a new file, a node or a relationship a line of JSON.

    \b
    Example:
      gswgraph dump memory.jsonl
    """
    check_unserved(url, "dump")
    with open_memory(url) as memory:
        print_result(memory.dump(target), as_json, partial(_print_copied, "Dumped"))


@click.command()
@with_memory
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@_quiet
@json_option
def restore(url: str | None, source: str, quiet: bool, as_json: bool) -> None:
    """Write the memory of a dump into a new folder or an empty database.

    \b
    Example:
      gswgraph --memory copy/ restore memory.jsonl
    """
    check_unserved(url, "restore")
    with open_memory(url, create=True) as memory, reporter(quiet, _written) as progress:
        report = memory.restore(source, progress=progress)
    print_result(report, as_json, partial(_print_copied, "Restored"))


def _print_copied(verb: str, report: Copied) -> None:
    nodes, relationships = (sum(part.values()) for part in (report.nodes, report.relationships))
    counts = f"{counted(nodes, 'node')} and {counted(relationships, 'relationship')}"
    target = short_source(without_password(report.target))
    click.echo(f"{verb} {counts} to {target}; {duration(report.seconds)}")


def _written(written: int, _: float) -> Step:
    return Step(f"{written:,} nodes and relationships", written)


def _ignore(_: int) -> None:
    pass


@click.command()
@with_memory
@flag(
    "--mend",
    help="First make missing indexes, count again and delete orphaned nodes.",
)
@flag("--deep", help="Also compare every text with the hash of what was loaded.")
@json_option
def doctor(url: str | None, mend: bool, deep: bool, as_json: bool) -> None:
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

        screen = console()
        width = max((len(one_line(finding.check)) for finding in findings), default=0)
        for finding in findings:
            state = ("ok   ", "green") if finding.ok else ("WRONG", "bold red")
            screen.print(
                Text.assemble(state, f"  {one_line(finding.check):<{width}}  {one_line(finding.result)}"),
                soft_wrap=True,
            )
            if not finding.ok and finding.mend:
                screen.print(Text(f"       mend: {one_line(finding.mend)}"), soft_wrap=True)
    click.get_current_context().exit(0 if well else 1)


SHOWN = 50  # groups and pairs for people
_REASON = 110  # characters of one


@click.command()
@with_memory
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
@json_option
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
        how: Fields = {"dry_run": dry_run, "near": near, "at_most": at_most}
        result = memory.merged(" ".join(name)) if show else memory.merge(**how)
    if as_json:
        print_json(result.to_dict())
        return
    limit = None if full else SHOWN
    _print_groups(result, limit)
    if not show:
        _print_suspicious(result, limit)
    aliases = sum(len(group.aliases) for group in result.groups)
    counts = f"{counted(aliases, 'name')} in {counted(len(result.groups), 'group')}"
    if show:
        click.echo(f"{counts} merged.")
    elif result.run is None:
        click.echo(f"Would merge {counts}." if aliases else "Nothing to merge.")
    else:
        click.echo(f"Merged {counts}. Take it back: gswgraph unmerge {result.run}")


def _print_groups(result: Merged, limit: int | None) -> None:
    for group in result.groups[:limit]:
        click.echo(f"{one_line(group.name)} ({counted(group.passages, 'passage')})")
        for alias in group.aliases:
            run = f", run {alias.run}" if alias.run and result.run is None else ""
            why = f"{alias.score:.2f}, {alias.method}{run}: {_cut(alias.reason, limit)}"
            click.echo(f"  = {one_line(alias.name)} ({alias.passages:,})  {why}")
    if limit and (more := len(result.groups) - limit) > 0:
        click.echo(f"... and {counted(more, 'group')} more; --full shows all")


def _print_suspicious(result: Merged, limit: int | None) -> None:
    if result.suspicious:
        click.echo("\nNot sure enough:")
    for pair in result.suspicious[:limit]:
        names = " / ".join(map(one_line, pair.names))
        click.echo(f"  {names}  {pair.score:.2f}: {_cut(pair.reason, limit)}")
    if limit and (more := len(result.suspicious) - limit) > 0:
        click.echo(f"  ... and {counted(more, 'pair')} more; --full shows all")


def _cut(text: str, limit: int | None) -> str:
    return one_line(text) if limit is None else cut(one_line(text), _REASON)


@click.command()
@with_memory
@click.argument("target")
@json_option
def unmerge(url: str | None, target: str, as_json: bool) -> None:
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
    print_result(result, as_json, _print_unmerged)


def _print_unmerged(result: Unmerged) -> None:
    for name in result.groups[:20]:
        click.echo(one_line(name))
    click.echo(f"Took {counted(len(result.aliases), 'name')} out of {counted(len(result.groups), 'group')}.")


@click.command()
@with_memory
@click.argument(
    "action", type=click.Choice(("rename", "split", "remove", "supersede", "add")), required=False
)
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@click.option("--by", metavar="WHO", help="Who corrects it; default: your user name.")
@flag("--list", "listed", help="List what was corrected.")
@click.option("--undo", metavar="ID", help="Take a correction back.")
@json_option
def correct(
    url: str | None,
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
    if sum((action is not None, listed, undo is not None)) != 1:
        raise click.UsageError("Give an action, --list or --undo.")
    with open_memory(url) as memory:
        if listed:
            corrections = memory.corrections()
        elif undo is not None:
            corrections = [memory.undo_correction(undo)]
        else:
            corrections = [memory.correct(str(action), *values, by=by or _user())]
    if as_json:
        print_json({"corrections": [correction.to_dict() for correction in corrections]})
        return
    for correction in corrections:
        change = f"{one_line(correction.target)} -> {one_line(correction.value)}"
        click.echo(f"{correction.id}  {correction.action}  {change}  ({correction.by}, {correction.at[:16]})")
        for label, text in zip(("old", "new"), correction.texts, strict=False):
            click.echo(f"  {label}: {cut(one_line(text), _REASON)}")
        if correction.lapsed:
            click.echo(
                "  no longer applies, as the old text has changed or gone; take it back: gswgraph correct "
                f"--undo {correction.id}"
            )
    if not listed:
        click.echo("Taken back." if undo else f"Take it back: gswgraph correct --undo {corrections[0].id}")


def _user() -> str:
    """Return the name of the user; "" if the system knows none, as in a container."""
    with suppress(KeyError, OSError, ImportError):
        return getpass.getuser()
    return ""
