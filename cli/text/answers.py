"""An answer for people: what is said and how sure that is, what it is based on, the passages best first, and how they were found."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.text.output import console, moment, print_record
from gsw_graph.explore.notebook import answer_line, citation_lines, compares, conflict_lines
from gsw_graph.explore.places import Found, Line, find, section_line, shown_text
from gsw_graph.text.safe_text import clean, cut, one_line, short_source

if TYPE_CHECKING:
    from rich.console import Console

    from gsw_graph.model.results import Answer, Chain, Hop, Step, Trace
    from gsw_graph.models.embed.embedder import Embedder

FIRST = 6  # lines of the first passage
LINES = 4  # of another
MOST = 8  # entries of a list of a trace; the JSON has all
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
    streamed: str = "",
    wanted: str = "auto",
    embedder: Embedder | None = None,
    full: bool = False,
) -> None:
    """Print all of an answer that people want to see; the JSON has more.

    Args:
        answer: What `Memory.ask` returned.
        timings: Show where the time went.
        streamed: What was printed in this line already, the answer or what came in its place.
        wanted: The strategy that was asked for; that another took its place is shown in any case.
        embedder: Helps to find the sentences that answer.
        full: Print passages whole.
    """
    screen = console()
    is_printed = bool(streamed) and streamed == answer.answer
    if is_printed:
        _print_first_line(screen, answer, is_printed)
    elif streamed:
        click.echo()
    if answer.note:
        click.echo(f"Note: {one_line(answer.note)}\n")
    if not is_printed:
        _print_first_line(screen, answer, is_printed)
    _print_cached(answer)
    for number, citation in enumerate(answer.citations, 1):
        for line in citation_lines(number, citation, max(screen.width, 20)):
            screen.print(line, soft_wrap=True)
    if answer.citations:
        click.echo()
    for line in conflict_lines(answer):
        click.echo(f"{line}\n")
    _print_chains(answer)
    if answer.passages and answer.chains:
        click.echo("Passages:")
    _print_passages(screen, answer, {} if full else find(answer, embedder))
    if answer.trace is not None:
        _print_trace(answer, answer.trace)
    has_model = answer.models.get("llm") is not None
    if not (answer.abstained or answer.answer is not None or has_model or answer.chains):
        click.echo(f"\n{NOT_ANSWERS}")
    if answer.why and not timings and (answer.trace is not None or wanted != "auto"):
        click.echo(f"\nStrategy: {one_line(answer.strategy)}, as {one_line(answer.why)}")
    if answer.id and answer.answer is not None:
        id_ = answer.id[:ID]
        click.echo(f"\nWas it right? gswgraph confirm {id_}, or gswgraph reject {id_}")
    if timings:
        _print_timings(answer)


def _print_timings(answer: Answer) -> None:
    """Print what an answer took: seconds and round trips; with a language model also tokens and money."""
    fields = answer.to_dict()
    names = ["seconds", "round_trips", "strategy", "why"]
    if answer.models.get("llm"):
        names += ["models", "tokens", "calls", "failed_calls", "dollars"]
    click.echo()
    print_record({name: fields[name] for name in names})


def _print_first_line(screen: Console, answer: Answer, is_printed: bool) -> None:
    """Print the answer and how sure it is, or why there is none. is_printed: the answer itself is there."""
    from rich.text import Text

    if answer.answer is not None:
        text = one_line(answer.answer)
        rest = answer_line(answer).removeprefix(text)
        screen.print(Text.assemble(("" if is_printed else text, "bold"), f"{rest}\n"), soft_wrap=True)
    elif answer.abstained:
        click.echo(answer_line(answer))
        if answer.chains or answer.passages:
            click.echo("What is nearest:\n")
    elif compares(answer):
        click.echo(f"{answer_line(answer)} What they found:\n")


def _print_cached(answer: Answer) -> None:
    """Print which earlier question an answer comes from, and what of it was used."""
    cached = answer.cached
    if cached is not None:
        use = USED[cached.used].format(when=moment(cached.asked_at))
        verdict = "confirmed" if cached.confirmed else "not confirmed"
        pair = f"{one_line(cached.question)} -> {one_line(cached.answer)}"
        click.echo(f"{use} ({verdict}): {pair}  [{cached.id[:ID]}]\n")


def _print_passages(screen: Console, answer: Answer, found: Mapping[str, Found]) -> None:
    """Print what answers of each passage, or a passage whole if nothing was looked for."""
    from rich.text import Text

    for rank, passage in enumerate(answer.passages, 1):
        title = one_line(passage.title) or "(no title)"
        screen.print(Text(f"{rank}. {title}", style="bold"), soft_wrap=True)
        place = short_source(passage.source)
        if passage.at:
            time = passage.at[:16].replace("T", " ")
            place = f"{place}, {one_line(time)}"
        screen.print(Text(f"   {place}", style="dim"), soft_wrap=True)
        if passage.id in found:
            most = FIRST if rank == 1 else LINES
            heading, lines = found[passage.id].excerpt(most, screen.width - 4)
        else:
            heading = ""
            lines = [Line(line) for line in clean(shown_text(passage)).split("\n")]
        if section := section_line(passage, heading):
            lines.insert(0, Line(section, is_heading=True))
        for line in lines:
            style = "dim" if line.is_heading else ""
            screen.print(Text(f"   {line.text}".rstrip(), style=style), soft_wrap=True)


def _print_trace(answer: Answer, trace: Trace) -> None:
    """Print how the passages were found: the plan of the language model, as `--plan` takes it, the fields of
    the trace with the first entries of long lists, and the strongest path to each passage."""
    if answer.plan_source == "llm" and answer.plan:
        plan = json.dumps(answer.plan, ensure_ascii=False)
        click.echo(f"\nPlan of the language model:\n  --plan {shlex.quote(plan)}")
    fields = trace.to_dict()
    for name in ("seeds", "fact_paths", "runs"):
        fields[name] = fields[name][:MOST]
    click.echo()
    print_record(fields, hidden=("paths", "exchanges", "candidates", "id", "passage", "passages"))
    if trace.paths:
        click.echo("Strongest paths:")
        for rank, passage in enumerate(answer.passages, 1):
            click.echo(f"{rank}. {draw(trace.paths.get(passage.id, []))}")


def draw(path: Iterable[Step]) -> str:
    """Return `question -> [Name] -> "Passage title"`."""
    steps = []
    for step in path:
        label = one_line(step.label)
        steps.append(f"[{label}]" if step.kind == "name" else f'"{label}"')
    return " -> ".join(["question", *steps]) if steps else "no path"


_WORDS = 200  # characters of a question or an answer


def _print_chains(answer: Answer) -> None:
    """Print the best chain; of a plan with several ends, the best to each."""
    best: dict[int, Chain] = {}  # by the last step
    for chain in answer.chains:
        best.setdefault(chain.hops[-1].step, chain)
    ends = list(best) if answer.answer is not None else sorted(best)
    for chain in map(best.__getitem__, ends):
        click.echo("Nearest chain:" if answer.abstained else f"Chain, score {chain.score:.2f} of 1:")
        for hop in chain.hops:
            click.echo(f"{hop.step}. {_hop(hop)}")
        click.echo()


def _hop(hop: Hop) -> str:
    questions = [_short(hop.question), _short(hop.concrete_question)]
    asked = " -> ".join(dict.fromkeys(questions))
    return f"{asked} -> {_short(hop.answer)}  {hop.score:.2f} ({one_line(', '.join(hop.via))})"


def _short(text: str) -> str:
    return cut(one_line(text), _WORDS)
