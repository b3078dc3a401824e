"""`gswgraph lint`: what is wrong with ready workspaces."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from gsw_graph.cli.options import json_option
from gsw_graph.cli.text.output import counted, print_failure, print_json
from gsw_graph.text.safe_text import one_line, short_source

if TYPE_CHECKING:
    from gsw_graph.extract.lint import Issue
    from gsw_graph.model.documents import Document, Failure, Workspace

SHOWN = 20  # faults of one kind, and failures, that are listed for people


class _Row(NamedTuple):
    """A fault as it is printed, with the file and the source it is in; `one` where its document is one
    passage."""

    file: str
    source: str
    fault: Issue
    one: bool


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@json_option
def lint(paths: tuple[str, ...], as_json: bool) -> None:
    """List what is wrong with ready workspaces: files, folders, globs, or standard input (-).

    Reads ours and Panini's, OpenIE triples and propositions; no memory and no model is needed. What cannot be read of them is listed too.

    Exit code 4: there are faults, or some that cannot be read. 1: nothing could be read. 0: there are none.

    \b
    Example:
      gswgraph lint workspaces.jsonl
      gswgraph lint networks_raw/ --json
    """
    from gsw_graph.errors import InputError
    from gsw_graph.extract.lint import KINDS
    from gsw_graph.extract.lint import lint as issues_of
    from gsw_graph.model.documents import Failure, Skipped, Workspace

    rows: list[_Row] = []  # what is printed and no more: files may be larger than the memory
    failures: list[Failure] = []
    kinds: Counter[str] = Counter()
    workspaces = failed = 0
    for file, item in _items(paths):
        if isinstance(item, Skipped):
            continue
        if isinstance(item, Failure):
            failed += 1
            if as_json or failed <= SHOWN:
                failures.append(item)
        elif isinstance(item, Workspace):
            workspaces += 1
            for fault in issues_of(item):
                kinds[fault.kind] += 1
                if as_json or kinds[fault.kind] <= SHOWN:
                    rows.append(_Row(file, item.source, fault, len(item.document.passages) == 1))
    if not workspaces and not failed:
        raise InputError(
            "there are no ready workspaces",
            where=", ".join(paths),
            hint="Plain documents have nothing to look at before a model has read them",
        )
    if as_json:
        faults = [
            {
                "file": row.file,
                "source": row.source,
                **{name: getattr(row.fault, name) for name in ("passage", "kind", "subject", "message")},
            }
            for row in rows
        ]
        listed = [{"source": failure.source, "reason": failure.reason} for failure in failures]
        print_json({"workspaces": workspaces, "kinds": dict(kinds), "faults": faults, "failures": listed})
    else:
        _print(rows, kinds, failures, failed)
        click.echo(f"{counted(kinds.total(), 'fault')} in {counted(workspaces, 'workspace')}")
        width = max((len(kind) for kind in kinds), default=0)
        for kind in sorted(kinds, key=list(KINDS).index):
            click.echo(f"  {kind:<{width}} {kinds[kind]:>7,}  {KINDS[kind]}")
    click.get_current_context().exit(4 if workspaces and (kinds or failed) else 1 if failed else 0)


def _items(paths: tuple[str, ...]) -> Iterator[tuple[str, Document | Workspace | Failure]]:
    """What the files hold, each with the name of its file."""
    from gsw_graph.loaders import read
    from gsw_graph.loaders.files import expand, walk
    from gsw_graph.model.documents import Failure

    names, missing = expand(list(paths))
    yield from ((failure.source, failure) for failure in missing)
    seen: set[Path] = set()
    for name, root in names.items():
        for path in (None,) if name == "-" else walk(Path(name), seen, root):
            if isinstance(path, Failure):
                yield path.source, path
            else:
                file = path.as_posix() if path else "-"
                yield from (
                    (file, item) for item in read([file], stdin=sys.stdin.buffer if path is None else None)
                )


def _print(rows: list[_Row], kinds: Counter[str], failures: list[Failure], failed: int) -> None:
    for failure in failures:
        print_failure(f"Cannot be read: {short_source(failure.source)}: {one_line(failure.reason)}")
    if (more := failed - SHOWN) > 0:
        print_failure(f"... and {more:,} more; --json lists all")
    for row in rows:
        fault, place = (
            row.fault,
            short_source(row.source) + ("" if row.one else f", passage {row.fault.passage + 1}"),
        )
        click.echo(
            f"{short_source(row.file)}: {place}: {fault.kind}: {one_line(fault.subject)}: "
            f"{one_line(fault.message)}"
        )
    for kind, number in kinds.items():
        if number > SHOWN:
            click.echo(f"... and {number - SHOWN:,} more of {kind}; --json lists all")
