"""`gswgraph ask`: ask a question, or each line of standard input."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.ask.options import EVIDENCE, AskOptions
from gsw_graph.ask.plan import load
from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.cli.options import (
    POSITIVE,
    field_option,
    flag,
    html_option,
    json_option,
    open_memory,
    print_memories,
    with_memory,
)
from gsw_graph.cli.text.answers import print_answer
from gsw_graph.cli.text.output import Streamed, Waiting, print_failure, print_json
from gsw_graph.errors import InputError
from gsw_graph.text.safe_text import one_line
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from gsw_graph.memory import Memory


def _checked(_: click.Context, __: click.Parameter, strategy: str) -> str:
    from gsw_graph.ask.retrieve.variants import parse_variant

    try:
        parse_variant(strategy)
    except InputError as error:
        raise click.BadParameter(str(error)) from error
    return strategy


class _Ask(click.Command):
    """Add the list of strategies to the end of the help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click calls it
        with formatter.section("Strategies"):
            formatter.write_dl([(strategy.name, strategy.help) for strategy in strategies().values()])


@click.command(cls=_Ask)
@with_memory
@click.argument("question", nargs=-1, metavar="[QUESTION]")
@field_option(
    AskOptions,
    "strategy",
    metavar="NAME[SETTING=VALUE]",
    callback=_checked,
    help="How passages are found, see below; with settings in brackets, as ricr[recipe=paper].",
)
@click.option(
    "--plan",
    metavar="PLAN",
    help="Sub-questions to follow: a JSON file, or the JSON itself. #1 stands for the answer to the first.",
)
@click.option(
    "--llm", metavar="MODEL", help="The language model that plans and answers; wins over GSWGRAPH_LLM."
)
@flag("--no-llm", help="Ask no language model, though one is set.")
@field_option(AskOptions, "budget", metavar="AMOUNT")
@field_option(AskOptions, "evidence", type=click.Choice(EVIDENCE))
@field_option(AskOptions, "short")
@field_option(AskOptions, "must_answer")
@field_option(AskOptions, "strict")
@field_option(AskOptions, "k", "-k", type=POSITIVE)
@field_option(AskOptions, "answer", "--no-answer", help="The evidence only: chains and passages.")
@field_option(AskOptions, "inside", "--in", multiple=True, metavar="PATH")
@field_option(AskOptions, "outside", "--not-in", multiple=True, metavar="PATH")
@field_option(AskOptions, "since", metavar="DATE")
@field_option(AskOptions, "until", metavar="DATE")
@field_option(AskOptions, "where", multiple=True, metavar="CONDITION")
@flag("--trace", help="Show how the passages were found; the JSON then has every candidate.")
@flag(
    "--show-cypher",
    help="Show each statement as it runs, on standard error, to be pasted into Neo4j Browser.",
)
@flag(
    "--browse",
    help="Then open Neo4j Browser with a query that draws what the answer is based on; of a memory in a folder a picture.",
)
@field_option(
    AskOptions,
    "question_cache",
    "--no-question-cache",
    help="Use nothing of questions that were asked before.",
)
@field_option(AskOptions, "keep", "--forget-question", help="Do not store the question in the memory.")
@html_option()
@flag("--full", help="Print passages whole, not the part of each that answers.")
@flag("--timings", help="Show where the time went; the JSON always has it.")
@json_option
def ask(
    url: str | None,
    /,
    question: tuple[str, ...],
    plan: str | None,
    llm: str | None,
    no_llm: bool,
    html: str | None,
    full: bool,
    timings: bool,
    browse: bool,
    show_cypher: bool,
    trace: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask the memory a question; passages come best first.

    With --plan the question is followed through the question-answer pairs of loaded workspaces, and the end of the best chain is the answer.
    A language model (GSWGRAPH_LLM or --llm, OPENAI_API_KEY, OPENAI_BASE_URL) makes the plan and words the answer from the evidence.
    An overview ("what is this collection about", "summarise ...", "what changed between 2019 and 2021") takes a model and up to 20,000 tokens, or --budget.

    The question cache: if a question was asked before in other words, the answer uses the same evidence again, in a fraction of the time and the tokens.
    --strategy and --plan turn this off. gswgraph confirm ID, or reject ID, says whether an answer was right.

    Without QUESTION each line of standard input that is not empty is a question, and the models stay warm. At a terminal a question may refer to earlier questions, and Ctrl-D ends.
    With --json each answer is a JSON document in one line; a question that could not be asked has `error`.

    Exit code 3: the memory does not hold the answer. `linked` and `dense` always find something in a memory that is not empty.

    \b
    Example:
      gswgraph ask "Where was the director of the Tidewater Theatre born?"
      gswgraph ask "Who founded the foundry?" --trace --timings
      gswgraph ask -k 10 --strategy dense --json "Who founded the foundry?"
      gswgraph ask "Where was the builder of the Marrow Bridge born?" --plan '["Who built the Marrow Bridge?", "Where was #1 born?"]'
      gswgraph ask "Which river flows past her birthplace?" --plan plan.json --trace
      gswgraph ask "Who founded the foundry?" --html way.html
      gswgraph ask --no-question-cache "Who founded the foundry?"
      gswgraph ask --budget 2000tok "Who founded the foundry?"
      gswgraph ask --evidence compact "Who founded the foundry?"
      gswgraph ask "Who founded the foundry?" --in notes/ --where 'author = "Grau"' --since 1901
      gswgraph ask --short "Who founded the foundry?"
      gswgraph ask "Who built the Marrow Bridge?" --browse
      gswgraph ask -k 2 --full "How do I ask for leave?"
      gswgraph ask --json < questions.txt
    """
    words = " ".join(question).strip()
    if question and not words:
        raise click.UsageError("The question is empty.")
    if plan is not None and not words:
        raise click.UsageError("A plan belongs to one question: give the question too.")
    if browse and (not words or not options["keep"] or as_json):
        raise click.UsageError("--browse draws one question that is kept: no --forget-question, no --json.")
    if html is not None and not words:
        raise click.UsageError("A picture is of one question: give the question too.")
    steps = None if plan is None else load(plan)
    if html is not None:
        from gsw_graph.explore.picture.picture import check_path

        check_path(html)  # before a question costs anything
    # A picture is drawn from the trace.
    options |= {"llm": not no_llm, "trace": trace or html is not None or browse}
    printing: Fields = {
        "timings": timings,
        "wanted": options["strategy"],
        "full": full,
    }
    needed = {"embedder": options["strategy"] != "bm25", "llm": not no_llm, "walk": True}
    models = [name for name, is_needed in needed.items() if is_needed]
    with (
        Waiting(quiet=show_cypher).begin("opening the memory") as waiting,
        open_memory(url, models=models, llm=llm, show_cypher=show_cypher) as memory,
    ):
        if not words:
            failed = _ask_lines(memory, waiting, printing, as_json=as_json, **options)
            code = 1 if failed else 0
        else:
            streamed = Streamed(waiting)
            on_text = None if as_json else streamed.on_text
            answer = memory.ask(words, plan=steps, on_text=on_text, on_stage=streamed.on_stage, **options)
            code = 3 if answer.abstained else 0
            waiting.stop()
            print_memories(memory, empty=answer.missing == "the memory is empty")
            shown = answer if trace else replace(answer, trace=None)
            if as_json:
                print_json(shown.to_dict())
            else:
                print_answer(shown, streamed=streamed.end(), embedder=memory.loaded_embedder, **printing)
        if words and html is not None:  # last, so that a failed write loses no answer
            print_failure(f"Picture: {memory.draw(answer).save(html).absolute()}")
        if browse:
            from gsw_graph.cli.graph import show_answer

            click.echo()
            show_answer(memory, answer)
    click.get_current_context().exit(code)


def _ask_lines(memory: Memory, waiting: Waiting, printing: Fields, *, as_json: bool, **options: Any) -> int:
    """Ask each line of standard input.

    Args:
        memory: The memory.
        waiting: Shows the stage of the work.
        printing: Options of `print_answer`.
        as_json: Whether to print an answer as one line of JSON.
        options: Fields of `AskOptions`.

    Returns:
        The number of questions that could not be asked.
    """
    from gsw_graph.ask.conversation import Conversation

    failed = 0
    memory.warm()
    waiting.stop()
    ask = memory.ask
    at_terminal = sys.stdin.isatty()
    if at_terminal:
        click.echo("Ask, one question a line, which may refer to the last ones; Ctrl-D ends.", err=True)
        ask = Conversation(ask).ask
    lines = (line.decode("utf-8-sig", errors="replace").strip() for line in sys.stdin.buffer)
    for question in filter(None, lines):
        if not (as_json or at_terminal):  # a terminal shows the question already
            click.echo(click.style(one_line(question), bold=True))
        streamed = Streamed(waiting)
        on_text = None if as_json else streamed.on_text
        waiting.begin("search")
        try:
            answer = ask(question, on_text=on_text, on_stage=streamed.on_stage, **options)
        except InputError as error:
            waiting.stop()
            failed += 1
            print_failure(f"Error: {error}")
            if as_json:
                print_json({"question": question, "error": str(error)}, lines=True)
            continue
        waiting.stop()
        if as_json:
            print_json(answer.to_dict(), lines=True)
        else:
            print_answer(answer, streamed=streamed.end(), embedder=memory.loaded_embedder, **printing)
            click.echo()
    return failed
