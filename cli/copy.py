"""`gswgraph copy`: a memory from one engine to another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option
from gsw_graph.cli.text.output import counted, duration, print_json
from gsw_graph.cli.text.progress import EVERY
from gsw_graph.cli.text.safe_text import short_source, without_password

if TYPE_CHECKING:
    from collections.abc import Callable

    from gsw_graph.moving.copying import Moved


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@json_option
def copy(source: str, target: str, quiet: bool, as_json: bool) -> None:
    """Copy a memory with all that is in it: documents, vectors, questions, indexes.

    FROM and TO are folders or bolt:// or neo4j:// urls. TO must be new or empty. A copy that was cut off goes on when it is run again; until it is complete
    nothing reads it. At the end both sides are compared by a hash of every id, property, vector and relationship.

    User, password and database come from NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE; where both sides are servers, those of FROM from
    NEO4J_FROM_USERNAME, NEO4J_FROM_PASSWORD and NEO4J_FROM_DATABASE.

    \b
    Example:
      gswgraph copy .gswgraph bolt://localhost:7687
      gswgraph copy neo4j://server:7687 backup/ --json
    """
    from gsw_graph.moving import copy as run
    from gsw_graph.moving import sides

    found = run(*sides(source, target), progress=(lambda _: None) if quiet else _reporter())
    if as_json:
        print_json(found.to_dict())
        return
    nodes, relationships = (sum(part.values()) for part in (found.nodes, found.relationships))
    what = f"{counted(nodes, 'node')} and {counted(relationships, 'relationship')}"
    place = short_source(without_password(found.target))
    done = f"Copied {what} to" if found.copied else f"Nothing was missing: {what} in"
    click.echo(f"{done} {place}; {duration(found.seconds)}")
    click.echo(f"Both sides are equal: {found.hash}")
    if found.left:
        click.echo(f"Left behind, as they are not gswgraph's: {counted(found.left, 'node')} or relationships")


def _reporter() -> Callable[[Moved], None]:
    last = time.monotonic()

    def report(moved: Moved) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            click.echo(f"{moved.stage}: {moved.done:,} of {moved.total:,} nodes and relationships", err=True)

    return report
