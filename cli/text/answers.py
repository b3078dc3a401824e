"""An answer for people: what is said and how sure that is, what it is based on, the passages best first, and how they were found."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.text.output import calls, console, counted, duration, moment, money
from gsw_graph.explore.full_text import Lines, marked_text, note_of, short_and_full
from gsw_graph.explore.notebook import (
    answer_line,
    compares,
    conflict_lines,
    missing_lines,
    origin,
    title_and_source,
)
from gsw_graph.explore.places import Found, Line, find, section_line, shown_text
from gsw_graph.text.safe_text import clean, cut, one_line, short_source
from gsw_graph.text.words import terms
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from gsw_graph.model.results import (
        AgentStep,
        Answer,
        Chain,
        Citation,
        Hop,
        HopTrace,
        RankedPassage,
        Step,
        Trace,
    )
    from gsw_graph.models.embed.embedder import Embedder

FIRST = 6  # lines of the first passage
LINES = 4  # of another, or of a citation
SEEDS = 8  # of a walk; the JSON has all
PATHS = 5  # of propositions; the JSON has all
FACT = 120  # characters of a proposition
ID = 8  # letters of an id that people see; more where they ask for the JSON
_WORD = re.compile(r"[^\W_]+")
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
        streamed: What was printed already, the answer or what came in its place.
        wanted: The strategy that was asked for; that another took its place is shown in any case.
        embedder: Helps to find the sentences that answer.
        full: Print passages whole.
    """
    screen = console()
    trace = answer.trace
    text = answer.text or answer.answer or ""
    whole = {one_line(text), one_line(f"{answer.answer} {text}")}
    is_printed = bool(streamed) and one_line(streamed) in whole
    if is_printed:
        _print_said(screen, answer, is_printed)
    elif streamed:
        click.echo()
    if answer.note:
        click.echo(f"Note: {one_line(answer.note)}\n")
    if not is_printed:
        _print_said(screen, answer, is_printed)
    for line in missing_lines(answer):
        click.echo(f"{line}\n")
    _print_cached(answer)
    for number, citation in enumerate(answer.citations, 1):
        _print_citation(screen, number, citation)
    if answer.citations:
        click.echo()
    for line in conflict_lines(answer):
        click.echo(f"{line}\n")
    if trace is not None and trace.hops:
        if answer.plan_source == "llm" and answer.plan:
            _print_plan(answer.plan)
        _print_way(trace.hops)
        click.echo()
    if trace is not None and trace.steps:
        _print_steps(screen, answer)
    _print_chains(answer)
    if answer.passages and answer.chains:
        click.echo("Passages:")
    _print_passages(screen, answer, {} if full else find(answer, embedder))
    if trace is not None and trace.reranker:
        click.echo(f"\nReranked by {one_line(trace.reranker)}")
    if trace is not None and trace.walked is not None:
        _print_walk(trace, trace.walked, answer.passages)
    has_model = answer.models.get("llm") is not None
    if not (answer.abstained or answer.answer is not None or has_model or answer.chains):
        click.echo(f"\n{NOT_ANSWERS}")
    strategy = one_line(answer.strategy) + (f", as {one_line(answer.why)}" if answer.why else "")
    if answer.why and not timings and (trace is not None or wanted != "auto"):
        click.echo(f"\nStrategy: {strategy}")
    if answer.id and answer.answer is not None:
        id_ = answer.id[:ID]
        click.echo(f"\nWas it right? gswgraph confirm {id_}, or gswgraph reject {id_}")
    if timings:
        _print_timings(answer, strategy)


def _print_timings(answer: Answer, strategy: str) -> None:
    steps = ", ".join(
        f"{one_line(name)} {duration(seconds)}" for name, seconds in answer.seconds.items() if seconds
    )
    trips = counted(answer.round_trips, "round trip")
    click.echo(f"\nTime: {steps or 'not measured'}; {trips}; strategy {strategy}")
    if model := answer.models.get("llm"):
        tokens = ", ".join(
            f"{answer.tokens.get(name, 0):,} {name}" for name in ("in", "out", "evidence", "prompt")
        )
        failures = f"; {calls(answer.calls, answer.failed_calls)}" if answer.failed_calls else ""
        click.echo(f"Tokens: {tokens}{failures}; {one_line(model)}, {money(answer.dollars)}")


def _print_said(screen: Console, answer: Answer, is_printed: bool) -> None:
    """Print the answer, how sure it is and where it is from, or why there is none. is_printed: the answer
    itself is there."""
    from rich.text import Text

    short, text = short_and_full(answer)
    if text:
        _print_full(screen, answer, short, is_printed)
    elif answer.answer is not None:
        rest = answer_line(answer).removeprefix(short)
        screen.print(Text.assemble(("" if is_printed else short, "bold"), f"{rest}\n"), soft_wrap=True)
    elif answer.abstained:
        click.echo(answer_line(answer))
        if answer.chains or answer.passages:
            click.echo("What is nearest:\n")
    elif compares(answer):
        click.echo(f"{answer_line(answer)} What they found:\n")


def _print_full(screen: Console, answer: Answer, short: str, is_printed: bool) -> None:
    """Print the short answer, the text in full, and where it is from; of a text that is there the notes on its
    statements."""
    if is_printed:
        click.echo()
        for statement in filter(note_of, answer.statements):
            click.echo(f"\n{_short(statement.text)} ({note_of(statement)})")
    else:
        if short:
            click.secho(f"{short}\n", bold=True)
        click.echo(Lines(screen.width).add(marked_text(answer)))
    click.echo(f"\n({origin(answer)})\n")


def _print_cached(answer: Answer) -> None:
    """Print which earlier question an answer comes from, and what of it was used."""
    if (cached := answer.cached) is not None:
        use = USED[cached.used].format(when=moment(cached.asked_at))
        verdict = "confirmed" if cached.confirmed else "not confirmed"
        pair = f"{one_line(cached.question)} -> {one_line(cached.answer)}"
        click.echo(f"{use} ({verdict}): {pair}  [{cached.id[:ID]}]\n")


def _print_citation(screen: Console, number: int, citation: Citation) -> None:
    from rich.text import Text

    first, *rest = excerpt(f'"{citation.text.strip()}"', screen.width - 4)
    for start, text in ((f"[{number}]", first), *(("   ", text) for text in rest)):
        screen.print(f"{start} {text}", soft_wrap=True)
    screen.print(Text(f"    {title_and_source(citation)}", style="dim"), soft_wrap=True)


def _print_passages(screen: Console, answer: Answer, found: Mapping[str, Found]) -> None:
    """Print what answers of each passage, or a passage whole if nothing was looked for; passages that follow
    each other in a document stand below one head."""
    from rich.text import Text

    asked = terms(answer.question) if screen.is_terminal else frozenset()
    document = ""
    for rank, passage in enumerate(answer.passages, 1):
        number, margin = f"{rank}. ", "   "
        time = one_line(passage.at[:16].replace("T", " ")) if passage.at else ""
        is_same = passage.document == document
        document = passage.document
        if not is_same:
            head = f"{number}{one_line(passage.title) or '(no title)'}"
            screen.print(Text(head, style="bold"), soft_wrap=True)
            place = ", ".join(filter(None, [short_source(passage.source), time]))
            screen.print(Text(f"{margin}{place}", style="dim"), soft_wrap=True)
        else:
            margin += " " * len(number)
        if passage.id in found:
            most = FIRST if rank == 1 else LINES
            heading, lines = found[passage.id].excerpt(most, screen.width - len(margin) - 1)
        else:
            heading, lines = "", list(map(Line, clean(shown_text(passage)).split("\n")))
        about = filter(None, [section_line(passage, heading), time if is_same else ""])
        if where := ", ".join(about):
            lines.insert(0, Line(where, is_heading=True))
        for place_in, line in enumerate(lines):
            start = f"   {number}" if is_same and place_in == 0 else margin
            text = Text(f"{start}{line.text}".rstrip(), style="dim" if line.is_heading else "")
            mark(text, asked)
            screen.print(text, soft_wrap=True)


def mark(text: Text, asked: frozenset[str]) -> None:
    """Make the words of a question bold."""
    for word in _WORD.finditer(text.plain):
        if asked and not asked.isdisjoint(terms(word[0])):
            text.stylize("bold", *word.span())


def excerpt(text: str, width: int) -> list[str]:
    """Return the first lines of a text, broken between words, an ellipsis last where more follows."""
    return textwrap.wrap(one_line(text), max(width, 20), max_lines=LINES, placeholder=" …")


def _print_walk(trace: Trace, walked: str, passages: Iterable[RankedPassage]) -> None:
    linked = "; ".join(f'"{one_line(link["text"])}" is {one_line(link["concept"])}' for link in trace.linked)
    seeds = ", ".join(f"{one_line(seed['concept'])} {seed['weight']:.2f}" for seed in trace.seeds[:SEEDS])
    more = f", and {len(trace.seeds) - SEEDS} more" if len(trace.seeds) > SEEDS else ""
    click.echo(f"\nNames linked: {linked or 'none'}")
    click.echo(f"Seeds: {seeds or 'none'}{more}")
    click.echo(f"Walked: {one_line(walked)}, {counted(trace.passages_walked, 'passage')}")
    if trace.specificity is not None:
        click.echo(
            f"The names distinguish passages by {trace.specificity:.2f}: so much weighs the walk in the order, "
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
    """Return `question -> [Name] -> "Passage title"`."""
    steps = [
        f"[{one_line(step.label)}]" if step.kind == "name" else f'"{one_line(step.label)}"' for step in path
    ]
    return " -> ".join(["question", *steps]) if steps else "no path"


_WORDS = 200  # characters of a question or an answer


def _print_chains(answer: Answer) -> None:
    """Print the best chain; of a plan with several ends, the best to each."""
    ends: dict[int, Chain] = {}
    for chain in answer.chains:
        ends.setdefault(chain.hops[-1].step, chain)
    for _, chain in ends.items() if answer.answer is not None else sorted(ends.items()):
        click.echo("Nearest chain:" if answer.abstained else f"Chain, score {chain.score:.2f} of 1:")
        for hop in chain.hops:
            click.echo(f"{hop.step}. {_hop(hop)}")
        click.echo()


def _print_plan(plan: Sequence[Fields]) -> None:
    """Print a plan that the language model made, as it can be edited and given back with --plan."""
    click.echo("Plan of the language model:")
    for step in plan:
        click.echo(
            f"  #{step['id']}  "
            f"{_short(str(step['question']))}{'' if step.get('retrieve', True) else '  (compares)'}"
        )
    click.echo(f"  --plan {shlex.quote(json.dumps(plan, ensure_ascii=False))}")


def _print_way(hops: Iterable[HopTrace]) -> None:
    """Print hop by hop what was asked, and how many of the candidates were kept."""
    for hop in hops:
        kept = [candidate for candidate in hop.candidates if candidate.fate == "kept"]
        best = f", the best: {_short(', '.join(kept[0].qa.answers))}" if kept and kept[0].qa.answers else ""
        instead = "; nothing was found, so the whole question was asked" if hop.fallback else ""
        went = f"{len(kept):,} of {counted(len(hop.candidates), 'candidate')} kept{best}{instead}"
        click.echo(f"Step {hop.step} asked: {_short(hop.concrete_question)}  ({went})")


def _hop(hop: Hop) -> str:
    questions = dict.fromkeys([_short(hop.question), _short(hop.concrete_question)])
    return (
        f"{' -> '.join(questions)} -> {_short(hop.answer)}  {hop.score:.2f} ({one_line(', '.join(hop.via))})"
    )


def _short(text: str) -> str:
    return cut(one_line(text), _WORDS)


_LONG = 300  # characters of what was asked or found; the JSON has all


def _print_steps(screen: Console, answer: Answer) -> None:
    """Print the steps of a trace, those of an agent together, in the order of their first steps."""
    from rich.text import Text

    steps = answer.trace.steps if answer.trace is not None else []
    click.echo(f"{one_line(answer.strategy)}: {_sum(steps)}")
    for agent in dict.fromkeys(step.agent for step in steps):
        own = [step for step in steps if step.agent == agent]
        screen.print(Text(f"  {one_line(agent)}  ({_sum(own)})", "bold"), soft_wrap=True)
        for step in own:
            outcome = f"failed: {step.failed}" if step.failed is not None else step.outcome
            costs = [
                *step.statements,
                *([_tokens(step.tokens)] if step.tokens else []),
                duration(step.seconds),
            ]
            for line in filter(None, (f"{step.stage}: {step.task}", outcome, "; ".join(costs))):
                click.echo(f"    {cut(one_line(line), _LONG)}")
    click.echo()


def _sum(steps: list[AgentStep]) -> str:
    tokens = {name: sum(step.tokens.get(name, 0) for step in steps) for name in ("in", "out")}
    requests = sum(1 for step in steps if step.tokens)
    calls = f", {counted(requests, 'call')}, {_tokens(tokens)}" if requests else ""
    return f"{counted(len(steps), 'step')}{calls}"


def _tokens(tokens: dict[str, int]) -> str:
    return f"{tokens.get('in', 0):,} tokens in, {tokens.get('out', 0):,} out"
