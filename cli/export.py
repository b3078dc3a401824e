"""`gswgraph export`: the memory as files."""

from __future__ import annotations

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, print_json
from gsw_graph.cli.text.safe_text import short_source


@click.command()
@memory_option
@click.argument("folder", type=click.Path())
@json_option
@click.pass_obj
def export(url: str | None, folder: str, as_json: bool) -> None:
    """Write the memory as files in the shape that Panini reads.

    FOLDER must be new or empty.

    networks/ has the workspaces, networks_raw/ the same with their texts, corpus.json the texts. `gswgraph load FOLDER/networks_raw` reads them again,
    each passage as a document.
    Propositions have no place in this shape and stay behind.

    \b
    Example:
      gswgraph export panini/
      gswgraph export panini/ --json
    """
    with open_memory(url) as memory:
        found = memory.export(folder)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(
            f"Exported {counted(found.documents, 'document')} in {counted(found.files, 'file')} to "
            f"{short_source(found.folder)}"
        )
