"""`gswgraph eval`: strategies measured side by side on questions with known answers."""

from __future__ import annotations

import json
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.evaluations import (
    eval_step,
    going_on,
    print_comparison,
    print_evaluation,
)
from gsw_graph.cli.text.output import print_result, reporter
from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.variants import Variant
    from gsw_graph.evaluate import QuestionSet


class _Group(click.Group):
    """A group that runs `run` where no other of its commands is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        misspelt = (
            args
            and get_close_matches(args[0], self.commands)
            and not Path(args[0]).suffix
            and not Path(args[0]).exists()
        )
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names and not misspelt:
            args = ["run", *args]
        return super().parse_args(ctx, args)


def _strategies(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[Variant]:
    from gsw_graph.ask.retrieve.variants import parse_variants

    try:
        every = ",".join(name for name, strategy in strategies().items() if "llm" not in strategy.needs)
        return [each for value in values for each in parse_variants(every if value == "all" else value)]
    except InputError as error:
        raise click.BadParameter(str(error)) from error


def _asking(command: Any) -> Any:
    """The options of all that asks questions."""
    for option in reversed(
        (
            click.option(
                "--plans",
                metavar="PLANS",
                help="gold, none, model, or a file; model where a language model is set, else none.",
            ),
            click.option(
                "-k",
                type=click.IntRange(min=1),
                default=20,
                show_default=True,
                help="How many passages are asked for.",
            ),
            click.option("--limit", type=click.IntRange(min=1), help="Ask the first so many questions."),
            click.option(
                "--sample", type=click.IntRange(min=1), help="Ask so many questions, drawn at random."
            ),
            click.option("--seed", type=int, default=0, show_default=True, help="Of --sample."),
            click.option(
                "--at-once",
                type=click.IntRange(min=1),
                default=1,
                show_default=True,
                help="Questions asked side by side; above 1 nothing is timed.",
            ),
            click.option("--no-answer", is_flag=True, help="Passages only."),
            click.option(
                "--evidence",
                type=click.Choice(("lines", "chains", "compact", "passages")),
                help="What the language model reads; usually what each strategy is read by.",
            ),
            click.option("--must-answer", is_flag=True, help="The language model may not refuse."),
            click.option(
                "--reader",
                type=click.Choice(("paper",)),
                help="paper: five passages whole, reasoning, a short answer, no refusal.",
            ),
            click.option("--budget", metavar="AMOUNT", help="Dollars or tokens to spend: 2.00, 500ktok."),
            click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM."),
            click.option("--no-llm", is_flag=True, help="Ask no language model, though one is set."),
            click.option(
                "--out",
                metavar="DIR",
                type=click.Path(file_okay=False),
                help="Keep what is found here; the same call goes on where it stood.",
            ),
            click.option("--quiet", "-q", is_flag=True, help="No progress."),
        )
    ):
        command = option(command)
    return command


@click.group("eval", cls=_Group)
def eval() -> None:
    """Measure strategies side by side on questions with known answers.

    `gswgraph eval QUESTIONS` is short for `gswgraph eval run QUESTIONS`.

    \b
    Example:
      gswgraph eval questions.json --strategy linked,dense
      gswgraph eval questions.json --strategy ricr --plans gold --out results/gold
      gswgraph eval compare results/none results/gold
    """


@eval.command()
@memory_option
@click.argument("questions", type=click.Path(dir_okay=False), metavar="QUESTIONS")
@click.option(
    "--strategy",
    multiple=True,
    default=("auto",),
    show_default=True,
    callback=_strategies,
    metavar="A,B[NAME=V]",
    help="Strategies with commas between, settings in brackets; can be repeated; all: each that needs no model.",
)
@_asking
@click.option(
    "--judge",
    metavar="MODEL",
    help="A language model at the same server that judges the answers too: LR-1 (strict) and LR-2 (partial credit).",
)
@click.option(
    "--in-order",
    is_flag=True,
    help="Questions of a conversation one after another, with memory of the earlier.",
)
@click.option(
    "--without-gold",
    is_flag=True,
    help="Each question without its gold passages: what is refused of what has no answer.",
)
@click.option("--trace", is_flag=True, help="Keep the way to each answer in trace.jsonl of --out.")
@json_option
@click.pass_obj
def run(url: str | None, /, questions: str, strategy: list[Variant], as_json: bool, **options: Any) -> None:
    """Ask every question with every strategy, of a memory that holds the corpus (`gswgraph load` first).

    Reads the data sets of docs/reproduce.md as they are published, and lines of our own: {"id", "question", "answers", "passages" or "sources" to be found, "plan"?, "answerable"?}.

    A setting is a constant of the strategy (linked has walk.restart); recipe=paper is the form of a strategy's paper.

    DIR gets answers.jsonl as it goes, then results.json with all there is to know, and report.html.

    Exit code 4: some records could not be read or asked, or the language model gave no plan, no answer or no verdict for them.

    \b
    Example:
      gswgraph eval questions.json
      gswgraph eval run questions.json --strategy linked,ricr,dense --plans gold -k 20 --out results/
      gswgraph eval questions.json --strategy auto,fusion --judge gpt-4.1 --out results/
      gswgraph eval questions.jsonl --strategy ricr --plans plans.json --no-llm --json
      gswgraph eval questions.json --strategy "fusion,fusion[best=4],proprag[recipe=paper,width=4]"
    """
    from gsw_graph.evaluate import evaluate, write

    how, given, asked = _how(options), _given(options), _questions(questions, options)
    how |= {name: options[name] for name in ("judge", "in_order", "without_gold", "trace", "budget", "out")}
    with (
        going_on(options["out"]),
        reporter(options["quiet"], eval_step) as report,
        open_memory(url, models=["embedder"], **given) as memory,
    ):
        result = evaluate(memory, asked, strategy, progress=report, **how)
    written = write(result, options["out"]) if options["out"] is not None else []
    print_result(result, as_json, lambda result: print_evaluation(result, written))
    click.get_current_context().exit(4 if result.failures else 0)


@eval.command()
@click.argument("first", type=click.Path(exists=True), metavar="A")
@click.argument("second", type=click.Path(exists=True), metavar="B")
@json_option
def compare(first: str, second: str, as_json: bool) -> None:
    """What B has more than A, question by question: two folders of `eval --out`, or their results.json.

    \b
    Example:
      gswgraph eval compare results/before results/after
      gswgraph eval compare a/results.json b/results.json --json
    """
    from gsw_graph.evaluate import compare as comparison

    print_result(comparison(Path(first), Path(second)), as_json, print_comparison)


@eval.command()
@click.argument("run", type=click.Path(exists=True), metavar="RUN")
@click.option("--strategy", required=True, help="Whose answers.")
def export(run: str, strategy: str) -> None:
    """Print the answers of a strategy as the evaluator of GraphRAG-Bench reads them, of a run with --trace.

    \b
    Example:
      gswgraph eval export results/novel --strategy linked > linked.json
    """
    from gsw_graph.evaluate import export_answers

    click.echo(json.dumps(export_answers(run, strategy), indent=1))


@eval.command()
@click.argument("path", type=click.Path(dir_okay=False), metavar="FILE")
@click.option(
    "--size", type=click.IntRange(min=1), help="So many passages: gold ones, then distractors at random."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of --size.")
def corpus(path: str, size: int | None, seed: int) -> None:
    """Print the passages that a file of questions brings along (contexts, conversations, GraphRAG-Bench's texts) as lines that `load` reads; gold passages first.

    \b
    Example:
      gswgraph eval corpus longmemeval_s.json | gswgraph load -
      gswgraph eval corpus musique.json --size 4000 > musique-4000.jsonl
    """
    from gsw_graph.evaluate import read_corpus

    for record in read_corpus(path, size, seed):
        click.echo(json.dumps(record))


@eval.command()
@memory_option
@click.argument("questions", type=click.Path(dir_okay=False), metavar="QUESTIONS")
@click.option(
    "--out", type=click.Path(dir_okay=False), required=True, metavar="FILE", help="Where the fit goes."
)
@click.pass_obj
def fit(url: str | None, /, questions: str, out: str) -> None:
    """Fit the scores of pairs and the confidence of chains to the models of a memory.

    QUESTIONS have gold plans whose steps have answers, as those of MuSiQue; the memory holds the workspaces of
    their passages. GSWGRAPH_FIT=FILE then uses the fit.

    \b
    Example:
      gswgraph eval fit questions.json --out fit.json
    """
    from gsw_graph.evaluate import read_questions
    from gsw_graph.evaluate.fit import fit_scores

    with open_memory(url, models=["embedder"]) as memory:
        fitted, steps = fit_scores(memory, read_questions(questions))
    Path(out).write_text(json.dumps(asdict(fitted), indent=1) + "\n", encoding="utf-8")
    click.echo(f"Fitted on {steps} sub-questions. To use it: export GSWGRAPH_FIT={out}")


def _how(options: dict[str, Any]) -> dict[str, Any]:
    """Return what `evaluate` gets of the options."""
    paper = options["reader"] == "paper"
    return {
        "plans": options["plans"],
        "k": options["k"],
        "answer": not options["no_answer"],
        "evidence": options["evidence"] or ("passages" if paper else None),
        "must_answer": options["must_answer"] or paper,
        "llm": not options["no_llm"],
        "at_once": options["at_once"],
    }


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the settings of the memory get of the options: questions asked side by side make as many calls."""
    return {"llm": options["llm"], "concurrency": options["at_once"] if options["at_once"] > 1 else None}


def _questions(path: str, options: dict[str, Any]) -> QuestionSet:
    from gsw_graph.evaluate import read_questions

    return read_questions(path).subset(options["limit"], options["sample"], options["seed"])
