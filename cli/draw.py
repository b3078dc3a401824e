"""`gswgraph draw`: what a query returns, as a picture."""

from __future__ import annotations

from typing import Any, BinaryIO

import click

from gsw_graph.cli.cypher import parameters_option, query_of
from gsw_graph.cli.options import html_option, json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, print_json


@click.command()
@memory_option
@click.argument("query", required=False)
@click.option(
    "--file",
    "-f",
    type=click.File("rb"),
    metavar="FILE",
    help="Read the query from a file, or - for standard input.",
)
@html_option(required=True)
@parameters_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="End the query after that long; 0, the default: never.",
)
@json_option
@click.pass_obj
def draw(
    url: str | None,
    query: str | None,
    file: BinaryIO | None,
    html: str,
    parameters: dict[str, Any],
    timeout: float | None,
    as_json: bool,
) -> None:
    """Draw the nodes, relationships and paths that a Cypher query returns: one HTML file that needs no network.

    Each name stands once, over all documents. Dates, numbers and common words join nothing.
    A click shows what a node is, and of a node or an arrow the passage behind it.

    \b
    Example:
      gswgraph draw 'MATCH way = (:QAPair)-[:ANSWERED_BY]->(:Entity) RETURN way LIMIT 25' --html pairs.html
      gswgraph draw 'MATCH way = (c:Concept {id: $id})<-[:REFERS_TO]-()-[:IN]->() RETURN way' -p id=vellmouth --html vellmouth.html
    """
    from gsw_graph.explore.picture.page import check

    text = query_of(query, file)
    check(html)
    with open_memory(url) as memory:
        picture = memory.draw(text, timeout=timeout or None, **parameters)
    path = str(picture.save(html).absolute())
    if as_json:
        print_json(
            {"html": path, "nodes": len(picture.nodes), "edges": len(picture.edges), "notes": picture.notes}
        )
    else:
        drawn = f"{counted(len(picture.nodes), 'node')} and {counted(len(picture.edges), 'edge')}"
        click.echo("\n".join([f"{drawn} drawn: {path}", *picture.notes]))
