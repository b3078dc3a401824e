"""`gswgraph copy`, `dump` and `restore`: whole memories on the move."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, duration, print_json
from gsw_graph.cli.text.progress import EVERY
from gsw_graph.text.safe_text import short_source, without_password

if TYPE_CHECKING:
    from collections.abc import Callable

    from gsw_graph.model.results import Copied

_quiet = click.option("--quiet", "-q", is_flag=True, help="No progress.")


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
    from gsw_graph.load import moving

    _print(moving.copy(*moving.sides(source, target), on_written=_reporter(quiet)), "Copied", as_json)


@click.command()
@memory_option
@click.argument("target", metavar="FILE", type=click.Path())
@json_option
@click.pass_obj
def dump(url: str | None, target: str, as_json: bool) -> None:
    """Write all that a memory holds into a new file, a node or a relationship a line of JSON.

    \b
    Example:
      gswgraph dump memory.jsonl
    """
    with open_memory(url) as memory:
        _print(memory.dump(target), "Dumped", as_json)


@click.command()
@memory_option
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@_quiet
@json_option
@click.pass_obj
def restore(url: str | None, source: str, quiet: bool, as_json: bool) -> None:
    """Write the memory of a dump into a new folder or an empty database.

    \b
    Example:
      gswgraph --memory copy/ restore memory.jsonl
    """
    with open_memory(url, create=True) as memory:
        _print(memory.restore(source, progress=_reporter(quiet)), "Restored", as_json)


def _print(report: Copied, done: str, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
        return
    nodes, relationships = (sum(part.values()) for part in (report.nodes, report.relationships))
    what = f"{counted(nodes, 'node')} and {counted(relationships, 'relationship')}"
    target = short_source(without_password(report.target))
    click.echo(f"{done} {what} to {target}; {duration(report.seconds)}")


def _reporter(quiet: bool) -> Callable[[int], None]:
    last = time.monotonic()

    def report(written: int) -> None:
        nonlocal last
        if not quiet and time.monotonic() - last >= EVERY:
            last = time.monotonic()
            click.echo(f"{written:,} nodes and relationships", err=True)

    return report
