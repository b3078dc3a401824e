"""`gswgraph browse`: the memory in Neo4j Browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import print_failure, print_json

if TYPE_CHECKING:
    from gsw_graph.memory import Memory


@click.command()
@memory_option
@click.option("--tour", is_flag=True, help="Serve a guided tour of the memory to Browser until Ctrl-C.")
@json_option
@click.pass_obj
def browse(url: str | None, /, tour: bool, as_json: bool) -> None:
    """Open Neo4j Browser at the memory: server and user filled in, a first query in the editor.

    With --tour it opens a guide of this memory: what is loaded, what brings documents together, what answers stand on, and the analyses; with our colours and captions, and saved queries to import.
    The guide is served to this machine only.
    `gswgraph db open` puts the password of a private server on the clipboard.

    \b
    Example:
      gswgraph --memory bolt://127.0.0.1:7687 browse
      gswgraph --memory bolt://127.0.0.1:7687 browse --tour
    """
    with open_memory(url) as memory:
        if tour:
            _serve(memory, as_json=as_json)
        elif as_json:
            print_json({"address": memory.browser()})
        else:
            show(memory.browser(), "the blue arrow beside the query draws what brings the documents together")


def show(address: str, then: str) -> None:
    """Open an address of Browser, and say what is left to do there."""
    from gsw_graph.browser.opening import open_page

    opened = open_page(address)
    click.echo(f"Neo4j Browser is open: log in, and {then}." if opened else _by_hand(address, then))


def _by_hand(address: str, then: str) -> str:
    return f"Open Neo4j Browser, log in, and {then}:\n  {address}"


def _serve(memory: Memory, *, as_json: bool) -> None:
    from gsw_graph.browser.opening import open_page

    with memory.tour() as server:
        if as_json:
            print_json({"address": server.guide, "files": server.address})
        else:
            opened = open_page(server.guide)
            then = "the tour stands above the login"
            click.echo(
                f"Neo4j Browser is open: log in, and {then}." if opened else _by_hand(server.guide, then)
            )
            click.echo("The tour is served until Ctrl-C.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            for failure in server.failures:
                print_failure(f"The guide could not be made: {failure}")
