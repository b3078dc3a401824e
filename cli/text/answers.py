"""An answer for people: what is said and how sure that is, what it stands on, the passages best first, and
how they were found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.text.agents import print_steps
from gsw_graph.cli.text.chains import (
    compares,
    print_candidates,
    print_chains,
    print_plan,
    print_way,
    sure,
    why_not,
)
from gsw_graph.cli.text.output import calls, console, counted, duration, moment, money
from gsw_graph.explore.notebook import SOURCES, conflict_lines
from gsw_graph.text.safe_text import cut, one_line, short_source

if TYPE_CHECKING:
    from rich.console import Console

    from gsw_graph.model.results import Answer, Citation, RankedPassage, Step, Trace

LINES = 4  # of the text of a passage
SEEDS = 8  # of a walk; the JSON has all
PATHS = 5  # of propositions; the JSON has all
FACT = 120  # characters of a proposition
ID = 8  # letters of an id that people see; more where they ask for the JSON
USED = {
    "answer": "As asked on {when}",
    "evidence": "Read from what an answer of {when} cites",
}
NOT_ANSWERS = (
    "Passages, not an answer: for one, name a language model (--llm), or follow a --plan in workspaces."
)


def print_answer(
    answer: Answer,
    *,
    timings: bool = False,
    candidates: bool = False,
    streamed: str = "",
    wanted: str = "auto",
) -> None:
    """All of an answer that people want to see; the JSON has more. `candidates`: of each hop, where it was
    traced. `streamed`: what stands in this line already, the answer or what came in its place. `wanted`: the
    strategy that was asked for; that another took its place is said in any case."""
    screen = console()
    stands = bool(streamed) and streamed == answer.answer
    if stands:
        _print_said(screen, answer, stands)
    elif streamed:
        click.echo()
    if answer.note:
        click.echo(f"Note: {one_line(answer.note)}\n")
    if not stands:
        _print_said(screen, answer, stands)
    _print_past(answer)
    for number, citation in enumerate(answer.citations, 1):
        _print_citation(screen, number, citation)
    if answer.citations:
        click.echo()
    for line in conflict_lines(answer):
        click.echo(f"{line}\n")
    if answer.trace is not None and answer.trace.asked:
        if answer.plan_source == "llm" and answer.plan:
            print_plan(answer.plan)
        print_way(answer.trace.asked)
        click.echo()
    if answer.trace is not None and answer.trace.steps:
        print_steps(screen, answer)
    print_chains(answer)
    if answer.passages and answer.chains:
        click.echo("Passages:")
    for rank, passage in enumerate(answer.passages, 1):
        _print_passage(screen, rank, passage)
    if answer.trace is not None and answer.trace.walked is not None:
        _print_walk(answer.trace, answer.trace.walked, answer.passages)
    if answer.trace is not None and candidates:
        print_candidates(answer.trace.asked)
    if (
        not answer.abstained
        and answer.answer is None
        and answer.models.get("llm") is None
        and not answer.chains
    ):
        click.echo(f"\n{NOT_ANSWERS}")
    if answer.why and not timings and (answer.trace is not None or wanted != "auto"):
        click.echo(f"\nStrategy: {_strategy(answer)}")
    if answer.id and answer.answer is not None:
        id_ = answer.id[:ID]
        click.echo(f"\nWas it right? gswgraph confirm {id_}, or gswgraph reject {id_}")
    if timings:
        steps = ", ".join(
            f"{one_line(name)} {duration(seconds)}" for name, seconds in answer.seconds.items() if seconds
        )
        click.echo(
            f"\nTime: {steps or 'not measured'}; {counted(answer.round_trips, 'round trip')}; "
            f"strategy {_strategy(answer)}"
        )
        if answer.models.get("llm"):
            tokens = ", ".join(
                f"{answer.tokens.get(name, 0):,} {name}" for name in ("in", "out", "evidence", "prompt")
            )
            asked = f"; {calls(answer.calls, answer.failed_calls)}" if answer.failed_calls else ""
            click.echo(
                f"Tokens: {tokens}{asked}; {one_line(str(answer.models['llm']))}, {money(answer.dollars)}"
            )


def _strategy(answer: Answer) -> str:
    return one_line(answer.strategy) + (f", as {one_line(answer.why)}" if answer.why else "")


def _print_said(screen: Console, answer: Answer, stands: bool) -> None:
    from rich.text import Text

    if answer.answer is not None:
        how = [] if answer.confidence is None else [f"confidence {sure(answer.confidence)}"]
        how += ["inferred"] if answer.inferred else []
        how.append(
            f"from the model {one_line(str(answer.models.get('llm')))}"
            if answer.answer_source == "llm"
            else SOURCES.get(answer.answer_source, "read off a chain")
        )
        screen.print(
            Text.assemble(("" if stands else one_line(answer.answer), "bold"), f"  ({', '.join(how)})\n"),
            soft_wrap=True,
        )
    elif answer.abstained:
        click.echo(f"Not in memory: {why_not(answer)}.")
        if answer.chains or answer.passages:
            click.echo("What is nearest:\n")
    elif compares(answer):
        click.echo(
            "No answer: the last step of the plan compares what the others found, and that takes a "
            "language model. What they found:\n"
        )


def _print_past(answer: Answer) -> None:
    """Which earlier question an answer comes from, and what of it was used."""
    if (past := answer.past) is None:
        return
    when = moment(past.asked_at)
    said = "confirmed" if past.confirmed else "not confirmed"
    what = USED[past.used].format(when=when)
    click.echo(f"{what} ({said}): {one_line(past.question)} -> {one_line(past.answer)}  [{past.id[:ID]}]\n")


def _print_citation(screen: Console, number: int, citation: Citation) -> None:
    from rich.text import Text

    first, *rest = excerpt(screen, f'"{citation.text.strip()}"', screen.width - 4)
    for start, text in ((f"[{number}]", first), *(("   ", text) for text in rest)):
        screen.print(f"{start} {text}", soft_wrap=True)
    place = ", ".join(filter(None, [one_line(citation.title), short_source(citation.source)]))
    screen.print(Text(f"    {place}", style="dim"), soft_wrap=True)


def _print_passage(screen: Console, rank: int, passage: RankedPassage) -> None:
    from rich.text import Text

    head = Text.assemble((f"{rank}. ", "bold"), (one_line(passage.title) or "(no title)", "bold"))
    screen.print(head, soft_wrap=True)
    screen.print(Text(f"   {short_source(passage.source)}", style="dim"), soft_wrap=True)
    for text in excerpt(screen, passage.text.removeprefix(f"{passage.title}\n"), screen.width - 4):
        screen.print(Text(f"   {text}"), soft_wrap=True)


def excerpt(screen: Console, text: str, width: int) -> list[str]:
    """The first lines of a text, broken between words at `width` cells, an ellipsis last where more
    follows."""
    from rich.text import Text

    width = max(width, 20)
    beginning = one_line(text[: width * (LINES + 2) * 2])
    lines = [line.plain.rstrip() for line in Text(beginning).wrap(screen, width)]
    if len(lines) <= LINES:
        return lines
    last = Text(lines[LINES - 1]).wrap(screen, width - 2)[0]
    return [*lines[: LINES - 1], f"{last.plain.rstrip()} …"]


def _print_walk(trace: Trace, walked: str, passages: Iterable[RankedPassage]) -> None:
    linked = "; ".join(f'"{one_line(link["text"])}" is {one_line(link["concept"])}' for link in trace.linked)
    seeds = ", ".join(f"{one_line(seed['concept'])} {seed['weight']:.2f}" for seed in trace.seeds[:SEEDS])
    more = f", and {len(trace.seeds) - SEEDS} more" if len(trace.seeds) > SEEDS else ""
    click.echo(f"\nNames linked: {linked or 'none'}")
    click.echo(f"Seeds: {seeds or 'none'}{more}")
    click.echo(f"Walked: {one_line(walked)}, {counted(trace.passages_walked, 'passage')}")
    if trace.specificity is not None:
        click.echo(
            f"The names tell passages apart by {trace.specificity:.2f}: so much weighs the walk in the order, "
            f"and words and vectors {1 - trace.specificity:.2f}"
        )
    if trace.bridges:
        click.echo(f"The second walk starts from: {'; '.join(map(one_line, trace.bridges))}")
    if trace.fact_paths:
        click.echo("Best paths of propositions:")
        for path in trace.fact_paths[:PATHS]:
            click.echo(
                f"  {path.score:.2f}  "
                f"{' -> '.join(cut(one_line(fact.text), FACT) for fact in path.propositions)}"
            )
    if trace.runs:
        click.echo("Best runs:")
        for run in trace.runs[:PATHS]:
            edges = "; ".join(f"{edge.subject} {edge.relation} {edge.object}" for edge in run.edges)
            click.echo(f"  {run.score:.2f}  {run.channel}: {cut(one_line(edges), FACT)}")
    if trace.paths:
        click.echo("Strongest paths:")
        for rank, passage in enumerate(passages, 1):
            click.echo(f"{rank}. {draw(trace.paths.get(passage.id, []))}")


def draw(path: Iterable[Step]) -> str:
    """`question -> [Name] -> "Passage title"`."""
    steps = [
        f"[{one_line(step.label)}]" if step.kind == "name" else f'"{one_line(step.label)}"' for step in path
    ]
    return " -> ".join(["question", *steps]) if steps else "no path"
