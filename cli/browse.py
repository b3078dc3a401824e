"""`gswgraph browse`: the memory in Neo4j Browser."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import print_failure, print_json
from gsw_graph.errors import EngineError
from gsw_graph.explore.browser import open_page

if TYPE_CHECKING:
    from gsw_graph.memory import Memory
    from gsw_graph.model.results import Answer


@click.command()
@memory_option
@json_option
@click.pass_obj
def browse(url: str | None, /, as_json: bool) -> None:
    """Open Neo4j Browser at the memory: server and user filled in, a first query in the editor.

    A memory in a folder has no Browser: there it is a picture in an HTML file, opened.
    `gswgraph db open` shows the password of a private server.

    \b
    Example:
      gswgraph --memory bolt://127.0.0.1:7687 browse
    """
    with open_memory(url) as memory:
        if as_json:
            print_json({"address": memory.browser()})
        elif _on_server(memory):
            _show(
                memory.browser(), "the blue arrow beside the query draws what brings the documents together"
            )
        else:
            from gsw_graph.explore.browser import overview

            if not memory.status().nodes.get("Concept"):
                raise EngineError("the memory holds no names yet", hint="gswgraph load FILES")
            _show_picture(memory, overview())


def show_answer(memory: Memory, answer: Answer) -> None:
    """Open what draws an answer: Neo4j Browser, or a picture of a memory that has none."""
    if not _on_server(memory):
        _show_picture(memory, answer)
    elif answer.id is None:
        print_failure("Neo4j Browser draws what is kept, and this question could not be kept.")
    else:
        then = "the blue arrow beside the query draws what the answer stands on"
        _show(memory.browser(answer.id), then)


def _on_server(memory: Memory) -> bool:
    return "://" in memory.settings.memory


def _show(address: str, then: str) -> None:
    """Open an address of Browser, and say what is left to do there."""
    opened = open_page(address)
    click.echo(f"Neo4j Browser is open: log in, and {then}." if opened else _by_hand(address, then))


def _show_picture(memory: Memory, what: Answer | str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="gswgraph-"))  # of the user alone
    path = memory.draw(what).save(folder / "picture.html")
    opened = open_page(path.as_uri())
    click.echo(f"The picture is {'open' if opened else 'here'}: {path}")
    click.echo(
        "A memory in a folder has no Neo4j Browser. To have it there, load the documents into a server:\n"
        "  gswgraph db start\n"
        "  gswgraph --memory bolt://127.0.0.1:7687 load FILES"
    )


def _by_hand(address: str, then: str) -> str:
    return f"Open Neo4j Browser, log in, and {then}:\n  {address}"
