"""`gswgraph history`: the questions that were asked, and one of them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, kept, memory_option, open_memory
from gsw_graph.cli.text.chains import sure
from gsw_graph.cli.text.output import counted, duration, moment, money, print_json
from gsw_graph.text.safe_text import cut, one_line, short_source

if TYPE_CHECKING:
    from gsw_graph.model.results import AskedQuestion, History

SHOWN = 20  # for people
_LONG = 300  # characters of an answer in the list


@click.command()
@memory_option
@click.argument("which", required=False, metavar="[WHICH]")
@click.option(
    "--find", metavar="TEXT", default="", help="Only questions with this text in them or in their answers."
)
@click.option("-n", "--limit", type=click.IntRange(min=1), help=f"How many at most; {SHOWN} unless --json.")
@click.option(
    "--ask", "again", is_flag=True, help="Ask WHICH once more, with the strategy and the plan it had."
)
@json_option
@click.pass_obj
def history(
    url: str | None, which: str | None, find: str, limit: int | None, again: bool, as_json: bool
) -> None:
    """Show the questions that were asked, the latest first, with their answers and what these took.

    WHICH is a number of the list (1 is the latest) or the beginning of an id: that question, with what its answer used, as it was kept.

    \b
    Example:
      gswgraph history
      gswgraph history --find bridge -n 5
      gswgraph history 2
      gswgraph history 2 --ask
    """
    if which is None and again:
        raise click.UsageError("Say which question to ask again.")
    if which is not None and (find or limit):
        raise click.UsageError("--find and -n are for the list; WHICH is of the whole list.")
    with open_memory(url, models=("embedder", "llm") if again else ()) as memory:
        if which is None:
            found = memory.history(find, limit=limit or (None if as_json else SHOWN))
            print_json(found.to_dict()) if as_json else _print(found)
            return
        one = memory.asked(kept(which))
        if not again:
            print_json(one.to_dict()) if as_json else _print_one(one)
            return
        answer = memory.ask(one.question, strategy=one.strategy, plan=one.plan, past=False)
        if as_json:
            print_json(answer.to_dict())
        else:
            from gsw_graph.cli.text.answers import print_answer

            print_answer(answer)
    click.get_current_context().exit(3 if answer.abstained else 0)


def _print(found: History) -> None:
    for number, one in enumerate(found.questions, 1):
        click.echo(f"{number}. {one_line(one.question)}\n   {_answered(one)}\n   {_took(one)}")
    shown = len(found.questions)
    most = f"{shown:,} of " if shown < found.total else ""
    line = f"{most}{counted(found.total, 'question')}"
    if any(found.tokens.values()):
        line += f"; all together {_tokens(found.tokens)}, {money(found.dollars)}"
    click.echo(("\n" if shown else "") + line)


def _print_one(one: AskedQuestion) -> None:
    click.echo(
        f"{click.style(one_line(one.question), bold=True)}\n{_answered(one)}\n{_took(one)}, id {one.id}"
    )
    if one.plan:
        click.echo("\nPlan")
        for step in one.plan:
            click.echo(f"  #{step['id']}  {one_line(str(step['question']))}")
    if one.pairs:
        click.echo("\nPairs of its chains, the best chain first")
        for used in one.pairs:
            answers = one_line(", ".join(used.qa.answers)) or "no answer"
            click.echo(f"  {used.rank}, hop {used.hop}: {one_line(used.qa.question)} -> {answers}")
    if one.passages:
        click.echo("\nPassages")
        for passage in one.passages:
            place = ", ".join(filter(None, [one_line(passage.title), short_source(passage.source)]))
            click.echo(f"  {passage.rank}. {place}{'  (cited)' if passage.cited else ''}")


def _answered(one: AskedQuestion) -> str:
    if one.answer is not None:
        sureness = f"  (confidence {sure(one.confidence)})" if one.confidence is not None else ""
        return f"{cut(one_line(one.answer), _LONG)}{sureness}"
    return "not in memory" if one.abstained else "no answer, passages only"


def _took(one: AskedQuestion) -> str:
    parts = [
        moment(one.asked_at),
        one.strategy,
        duration(one.seconds),
    ]
    parts += [one.verdict] if one.verdict else []
    parts += [f"from {one.past[:8]}"] if one.past else []
    if one.model:
        parts += [one.model, _tokens(one.tokens), money(one.dollars)]
    return one_line(", ".join(parts))


def _tokens(tokens: dict[str, int]) -> str:
    return f"{tokens['in']:,} tokens in and {tokens['out']:,} out"
