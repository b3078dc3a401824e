"""`gswgraph export`: the memory as files."""

from __future__ import annotations

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, print_json
from gsw_graph.text.safe_text import short_source


@click.command()
@memory_option
@click.argument("target", type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(("panini", "graphml")),
    default="panini",
    show_default=True,
    help="The shape of the files.",
)
@json_option
@click.pass_obj
def export(url: str | None, target: str, format_: str, as_json: bool) -> None:
    """Write the memory as files that others read.

    panini: workspaces as Panini's evaluation reads them, into a folder: networks/ has the workspaces, networks_raw/ the same with their texts, corpus.json the
    texts. `gswgraph load TARGET/networks_raw` reads them again, each passage as a document. Propositions have no place in this shape and stay behind.

    graphml: one file for networkx, Gephi and the like, without vectors. All there is, vectors too: gswgraph dump.

    TARGET must be new; a folder may be empty.

    \b
    Example:
      gswgraph export panini/
      gswgraph export memory.graphml --format graphml
      gswgraph export panini/ --json
    """
    with open_memory(url) as memory:
        found = memory.export(target, format_)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(
            f"Exported {counted(found.documents, 'document')} in {counted(found.files, 'file')} to "
            f"{short_source(found.folder)}"
        )
