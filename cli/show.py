"""`gswgraph show`: a document or a passage whole, with what was found in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.list import about
from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import print_json
from gsw_graph.text.safe_text import clean, one_line, short_source

if TYPE_CHECKING:
    from gsw_graph.model.results import FoundEntity, Shown, WholePassage


@click.command()
@memory_option
@click.argument("name", nargs=-1, required=True)
@click.option(
    "-p", "--passage", metavar="N", type=click.IntRange(min=1), help="Only this passage, counted from 1."
)
@json_option
@click.pass_obj
def show(url: str | None, name: tuple[str, ...], passage: int | None, as_json: bool) -> None:
    """Show a document whole, with what was found in it: names, questions with their answers, propositions.

    NAME is a source or file, a title, or an id; with the id of a passage that passage is shown alone.

    \b
    Example:
      gswgraph show examples/corpus/port_aldous.md
      gswgraph show Marrow Bridge
      gswgraph show notes.md -p 3 --json
    """
    with open_memory(url) as memory:
        found = memory.show(" ".join(name), passage)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)


def _print(found: Shown) -> None:
    click.echo(click.style(one_line(found.document.title) or "(no title)", bold=True))
    click.echo(f"{short_source(found.document.source)}\n{one_line(about(found.document))}")
    for passage in found.passages:
        title = "" if passage.title in ("", found.document.title) else f"  {one_line(passage.title)}"
        click.echo(f"\n{click.style(f'Passage {passage.position + 1}{title}', bold=True)}  {passage.id}")
        click.echo(clean(passage.text).rstrip())
        lines = [*_inside(passage)]
        if lines:
            click.echo()
        for line in lines:
            click.echo(line)


def _inside(passage: WholePassage) -> Iterator[str]:
    """What was found in a passage, line by line."""
    if passage.entities:
        yield "Names"
        yield from (f"  {_named(entity)}" for entity in passage.entities)
    if passage.names:
        yield f"Names that rules found\n  {one_line('; '.join(passage.names))}"
    if passage.phrases:
        yield "Questions and answers"
    for phrase in passage.phrases:
        yield f"  {one_line(phrase.phrase)}"
        for pair in phrase.pairs:
            yield f"    {one_line(pair.question)} -> {one_line(', '.join(pair.answers)) or 'no answer'}"
    if passage.propositions:
        yield "Propositions"
        yield from (f"  {one_line(fact.text)}" for fact in passage.propositions)


def _named(entity: FoundEntity) -> str:
    roles = "; ".join(
        f"{role}: {', '.join(states)}" if states else role for role, states in entity.roles.items()
    )
    days = None if entity.from_ is None else " to ".join(dict.fromkeys((entity.from_, str(entity.to))))
    notes = ", ".join(filter(None, ["the title" if entity.title else "", roles, days]))
    return one_line(entity.name) + (f"  ({one_line(notes)})" if notes else "")
