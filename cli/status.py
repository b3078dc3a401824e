"""`gswgraph status`: what the memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, print_json, print_pairs
from gsw_graph.text.safe_text import one_line, short_source

if TYPE_CHECKING:
    from gsw_graph.model.results import Status

SHOWN = 20  # unfinished documents listed for people


@click.command()
@memory_option
@json_option
@click.pass_obj
def status(url: str | None, as_json: bool) -> None:
    """Show what the memory holds: engine, embedding model, nodes and relationships.

    \b
    Example:
      gswgraph status
      gswgraph --memory bolt://localhost:7687 status --json
    """
    with open_memory(url) as memory:
        found = memory.status()
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)


def _print(found: Status) -> None:
    indexed = None if found.indexed is None else "yes" if found.indexed else "no"
    embedder = found.embedder and f"{found.embedder} ({found.dimension} dimensions)"
    print_pairs(
        [
            ("memory", found.memory),
            ("engine", f"{found.engine} {found.engine_version}"),
            ("schema", found.schema),
            ("embedder", embedder),
            ("created", found.created),
            ("version", found.version),
            ("indexed", indexed),
        ]
    )
    for title, numbers in (("Nodes", found.nodes), ("Relationships", found.relationships)):
        if any(numbers.values()):
            click.echo(f"\n{title}")
            print_pairs(((name, f"{number:,}") for name, number in numbers.items()), indent="  ")
    if judged := {name: number for name, number in found.questions.items() if name != "kept" and number}:
        click.echo("\nQuestions")
        print_pairs(((name, f"{number:,}") for name, number in judged.items()), indent="  ")
    if len(found.extractors) > 1 or any("(" in name for name in found.extractors):
        click.echo("\nDocuments by extractor")
        print_pairs(
            ((one_line(name), f"{number:,}") for name, number in found.extractors.items()), indent="  "
        )
    if not any(found.nodes.values()):
        click.echo("\nNothing is loaded yet. Load something: gswgraph load PATH")
    if found.unread:
        passages = sum(map(len, found.unread.values()))
        click.echo(
            f"\nNo language model could read {counted(passages, 'passage')}; the next load of the same "
            "file asks again:"
        )
        for source, places in list(found.unread.items())[:SHOWN]:
            said = ", ".join(map(str, places[:SHOWN])) + (
                f" and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
            )
            click.echo(f"  {short_source(source)}, passage{'s' * (len(places) > 1)} {said}")
        if (more := len(found.unread) - SHOWN) > 0:
            click.echo(f"  ... and {counted(more, 'document')} more; --json lists all")
    elif found.unfinished:
        click.echo(f"\nThe load of {len(found.unfinished):,} was cut off; load again to complete:")
        for source in found.unfinished[:SHOWN]:
            click.echo(f"  {short_source(source)}")
        if (more := len(found.unfinished) - SHOWN) > 0:
            click.echo(f"  ... and {more:,} more; --json lists all")
