"""`gswgraph list`: the documents of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import counted, print_json, print_pairs
from gsw_graph.text.safe_text import short_source

if TYPE_CHECKING:
    from gsw_graph.model.results import StoredDocument

SHOWN = 50  # for people


@click.command("list")
@memory_option
@click.argument("text", nargs=-1, metavar="[TEXT]")
@click.option(
    "--extractor", metavar="NAME", help="Those that this extractor read, as `status` and this list name it."
)
@click.option("--loader", metavar="NAME", help="Those of a format: markdown, pdf, corpus and so on.")
@click.option(
    "--unfinished",
    is_flag=True,
    help="Those whose load was cut off, or with passages that could not be read.",
)
@click.option("-n", "--limit", type=click.IntRange(min=1), help=f"How many at most; {SHOWN} unless --json.")
@json_option
@click.pass_obj
def list(url: str | None, /, text: tuple[str, ...], limit: int | None, as_json: bool, **filters: Any) -> None:
    """List the documents of the memory: all, or those with TEXT in their source or title, or in the folder TEXT.

    \b
    Example:
      gswgraph list
      gswgraph list notes/ --unfinished
      gswgraph list lantern expedition -n 10
      gswgraph list --extractor rules --json
    """
    most = limit or (None if as_json else SHOWN)
    with open_memory(url) as memory:
        found = memory.documents(" ".join(text), **filters, limit=most)
    if as_json:
        print_json(found.to_dict())
        return
    print_pairs(
        (short_source(document.source), f"{document.title or '(no title)'}, {about(document)}")
        for document in found.documents
    )
    more = "" if found.total == len(found.documents) else f"{len(found.documents):,} of "
    click.echo(f"{more}{counted(found.total, 'document')}{'; -n shows more' if more else ''}")


def about(document: StoredDocument) -> str:
    """What is known of a document beside its source and title, in one line."""
    reader = document.extractor + (f" ({document.model})" if document.model else "")
    parts = [counted(document.passages, "passage"), reader, document.loaded_at[:10]]
    if document.status != "ready":
        parts.append(f"cut off while {document.status}; load it again")
    if document.unread:
        parts.append(f"{counted(len(document.unread), 'passage')} not read; the next load asks again")
    return ", ".join(parts)
