"""`gswgraph ask`: a question, or many at a prompt."""

from __future__ import annotations

from typing import Any

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.output import print_json
from gsw_graph.plan import load
from gsw_graph.retrieve.strategies import STRATEGIES


class _Ask(click.Command):
    """Says at the end of its help what the strategies are."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click calls it
        with formatter.section("Strategies"):
            formatter.write_dl([(one.name, one.help) for one in STRATEGIES.values()])


@click.command(cls=_Ask)
@memory_option
@click.argument("question", nargs=-1, metavar="[QUESTION]")
@click.option("--strategy", type=click.Choice(list(STRATEGIES)), default="auto", show_default=True, help="How passages are found; see below.")
@click.option("--plan", metavar="PLAN", help="Sub-questions to follow: a JSON file, or the JSON itself. #1 stands for the answer to the first.")
@click.option("--llm", metavar="MODEL", help="The language model that plans and answers; wins over GSWGRAPH_LLM.")
@click.option("--no-llm", is_flag=True, help="Ask no language model, though one is set.")
@click.option("-k", type=click.IntRange(min=1), default=5, show_default=True, help="How many passages.")
@click.option("--no-answer", is_flag=True, help="The evidence only: chains and passages.")
@click.option("--trace", is_flag=True, help="Show how the passages were found, and every candidate of a chain.")
@click.option("--forget-question", is_flag=True, help="Do not keep the question in the memory.")
@click.option("--timings", is_flag=True, help="Show where the time went; the JSON always has it.")
@json_option
@click.pass_obj
def ask(url: str | None, /, question: tuple[str, ...], plan: str | None, llm: str | None, no_llm: bool, timings: bool, as_json: bool, **options: Any) -> None:
    """Ask the memory a question; passages come best first.

    With --plan the question is followed through the question-answer pairs of loaded workspaces, and what the best chain of them ends in is the answer.
    With a language model (GSWGRAPH_LLM or --llm, OPENAI_API_KEY, OPENAI_BASE_URL) it makes the plan and words the answer from what was found.

    Without QUESTION it is a prompt that keeps the models warm: one question a line, an empty line, Ctrl-D or Ctrl-C ends.
    In a pipe every line that is not empty is a question; with --json each answer is a JSON document in one line, one that could not be asked has `error`.

    Exit code 3: the memory does not hold the answer. `linked` and `dense` always find something in a memory that is not empty.

    \b
    Example:
      gswgraph ask "Where was the director of the Tidewater Theatre born?"
      gswgraph ask "Who founded the foundry?" --trace --timings
      gswgraph ask -k 10 --strategy dense --json "Who founded the foundry?"
      gswgraph ask "Where was the builder of the Marrow Bridge born?" --plan '["Who built the Marrow Bridge?", "Where was #1 born?"]'
      gswgraph ask "Which river flows past her birthplace?" --plan plan.json --trace
      gswgraph ask --json < questions.txt
    """
    words = " ".join(question).strip()
    if question and not words:
        raise click.UsageError("The question is empty.")
    if plan is not None and not words:
        raise click.UsageError("A plan belongs to one question: give the question too.")
    steps = None if plan is None else load(plan)
    how = {
        "strategy": options["strategy"],
        "k": options["k"],
        "answer": not options["no_answer"],
        "trace": options["trace"],
        "llm": not no_llm,
        "keep": not options["forget_question"],
    }
    models = [name for name, needed in (("embedder", options["strategy"] != "bm25"), ("llm", not no_llm)) if needed]
    with open_memory(url, models=models, llm=llm) as memory:
        if not words:
            from gsw_graph.cli.prompt import run

            failed = run(memory, timings=timings, as_json=as_json, **how)
            code = 1 if failed else 0
        elif as_json:
            answer = memory.ask(words, plan=steps, **how)
            code = 3 if answer.abstained else 0
            print_json(answer.to_dict())
        else:
            from gsw_graph.cli.answer_text import print_answer
            from gsw_graph.cli.streaming import Streamed

            streamed = Streamed()
            answer = memory.ask(words, plan=steps, on_text=streamed.on_text, **how)
            code = 3 if answer.abstained else 0
            print_answer(answer, timings=timings, streamed=streamed.end())
    click.get_current_context().exit(code)
