"""An answer for people: the passages best first, and how they were found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.output import console, counted, duration
from gsw_graph.cli.safe_text import one_line, short_source

if TYPE_CHECKING:
    from rich.console import Console

    from gsw_graph.results import Answer, RankedPassage, Step, Trace

LINES = 3  # of the text of a passage
SEEDS = 8  # of a walk; the JSON has all


def print_answer(answer: Answer, *, timings: bool = False) -> None:
    """All of an answer that people want to see; the JSON has more."""
    if answer.abstained:
        click.echo("Not in memory.")
    elif answer.answer is not None:
        click.echo(f"{one_line(answer.answer)}\n")
    screen = console()
    for rank, passage in enumerate(answer.passages, 1):
        _print_passage(screen, rank, passage)
    if answer.trace is not None:
        _print_trace(answer.trace, answer.passages)
    if timings:
        steps = ", ".join(f"{one_line(name)} {duration(seconds)}" for name, seconds in answer.seconds.items())
        click.echo(f"\nTime: {steps or 'not measured'}; {counted(answer.round_trips, 'round trip')}; strategy {one_line(answer.strategy)}")


def _print_passage(screen: Console, rank: int, passage: RankedPassage) -> None:
    from rich.text import Text

    head = Text.assemble((f"{rank}. ", "bold"), (one_line(passage.title) or "(no title)", "bold"), f"  {passage.score:.4g}")
    screen.print(head, soft_wrap=True)
    screen.print(Text(f"   {short_source(passage.source)}", style="dim"), soft_wrap=True)
    for text in excerpt(screen, passage.text.removeprefix(f"{passage.title}\n"), screen.width - 4):
        screen.print(f"   {text}", soft_wrap=True)


def excerpt(screen: Console, text: str, width: int) -> list[str]:
    """The first lines of a text, broken between words at `width` cells, an ellipsis last where more follows."""
    from rich.text import Text

    width = max(width, 20)
    beginning = one_line(text[: width * (LINES + 2) * 2])
    lines = [line.plain.rstrip() for line in Text(beginning).wrap(screen, width)]
    if len(lines) <= LINES:
        return lines
    last = Text(lines[LINES - 1]).wrap(screen, width - 2)[0]
    return [*lines[: LINES - 1], f"{last.plain.rstrip()} …"]


def _print_trace(trace: Trace, passages: Iterable[RankedPassage]) -> None:
    linked = "; ".join(f'"{one_line(link["text"])}" is {one_line(link["concept"])}' for link in trace.linked)
    seeds = ", ".join(f"{one_line(seed['concept'])} {seed['weight']:.2f}" for seed in trace.seeds[:SEEDS])
    more = f", and {len(trace.seeds) - SEEDS} more" if len(trace.seeds) > SEEDS else ""
    click.echo(f"\nNames linked: {linked or 'none'}")
    click.echo(f"Seeds: {seeds or 'none'}{more}")
    click.echo(f"Walked: {one_line(trace.walked)}, {counted(trace.passages_walked, 'passage')}")
    click.echo("Strongest paths:")
    for rank, passage in enumerate(passages, 1):
        click.echo(f"{rank}. {draw(trace.paths.get(passage.id, []))}")


def draw(path: Iterable[Step]) -> str:
    """`question -> [Name] -> "Passage title"`."""
    steps = [f"[{one_line(step.label)}]" if step.kind == "name" else f'"{one_line(step.label)}"' for step in path]
    return " -> ".join(["question", *steps]) if steps else "no path"
