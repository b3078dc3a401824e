"""`gswgraph eval`: strategies measured side by side on questions with known answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.cli.options import (
    Url,
    check_unserved,
    count,
    flag,
    json_option,
    llm_option,
    memory_option,
    no_llm_option,
    open_memory,
    quiet_option,
)
from gsw_graph.cli.text.output import (
    Step,
    left,
    print_failure,
    print_grid,
    print_items,
    print_more,
    print_record,
    print_result,
    reporter,
)
from gsw_graph.errors import InputError
from gsw_graph.model.results import Table
from gsw_graph.text.safe_text import cut, one_line, short_source

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.variants import Variant
    from gsw_graph.evaluate.evaluation import Comparison, Evaluation


class _Group(click.Group):
    """A group that runs `run` where no other of its commands is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


def _strategies(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> list[Variant]:
    from gsw_graph.ask.retrieve.variants import parse_variants

    without_model = [name for name, strategy in strategies().items() if "llm" not in strategy.needs]
    variants = []
    for value in values:
        try:
            variants += parse_variants(",".join(without_model) if value == "all" else value)
        except InputError as error:
            raise click.BadParameter(str(error)) from error
    return variants


# Options of whatever asks questions.
_ASKING = (
    click.option(
        "--plans",
        metavar="PLANS",
        help="gold, none, model, or a file; model where a language model is set, else none.",
    ),
    count("-k", default=20, show_default=True, help="How many passages are asked for."),
    count("--limit", help="Ask the first so many questions."),
    count("--sample", help="Ask so many questions, drawn at random."),
    click.option("--seed", type=int, default=0, show_default=True, help="Of --sample."),
    count(
        "--at-once",
        default=1,
        show_default=True,
        help="Questions asked side by side; above 1 nothing is timed.",
    ),
    flag("--no-answer", help="Passages only."),
    click.option(
        "--evidence",
        type=click.Choice(("lines", "chains", "compact", "passages")),
        help="What the language model reads; usually what each strategy is read by.",
    ),
    flag("--must-answer", help="The language model may not refuse."),
    click.option(
        "--reader",
        type=click.Choice(("paper",)),
        help="paper: five passages whole, reasoning, a short answer, no refusal.",
    ),
    click.option("--budget", metavar="AMOUNT", help="Dollars or tokens to spend: 2.00, 500ktok."),
    llm_option,
    no_llm_option,
    click.option(
        "--out",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Keep what is found here; the same call goes on from there.",
    ),
    quiet_option,
)


def _asking(command: Any) -> Any:
    for option in reversed(_ASKING):
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
@flag("--in-order", help="Questions of a conversation one after another, with memory of the earlier.")
@flag(
    "--without-gold", help="Each question without its gold passages: what is refused of what has no answer."
)
@flag("--trace", help="Keep the way to each answer in trace.jsonl of --out.")
@json_option
@click.pass_obj
def run(url: Url, /, questions: str, strategy: list[Variant], as_json: bool, **options: Any) -> None:
    """Ask every question with every strategy, of a memory that holds the corpus (`gswgraph load` first).

    Reads the data sets of docs/reproduce.md as they are published, and lines of our own: {"id", "question", "answers", "passages" or "sources" to be found, "plan"?, "answerable"?}.

    A setting is a constant of the strategy (linked has walk.restart); recipe=paper is the form of a strategy's paper.

    DIR gets answers.jsonl as it goes, then results.json with all there is to know.

    Exit code 4: some records could not be read or asked, or the language model gave no plan, no answer or no verdict for them.

    \b
    Example:
      gswgraph eval questions.json
      gswgraph eval run questions.json --strategy linked,ricr,dense --plans gold -k 20 --out results/
      gswgraph eval questions.json --strategy auto,fusion --judge gpt-4.1 --out results/
      gswgraph eval questions.jsonl --strategy ricr --plans plans.json --no-llm --json
      gswgraph eval questions.json --strategy "fusion,fusion[best=4],proprag[recipe=paper,width=4]"
    """
    from gsw_graph.evaluate import evaluate, read_questions, write

    check_unserved(url, "eval")
    limits = (options.pop("limit"), options.pop("sample"), options.pop("seed"))
    question_set = read_questions(questions).subset(*limits)
    quiet = options.pop("quiet")
    out = options["out"]
    llm = options["llm"]
    concurrency = options["at_once"]  # questions asked side by side make as many calls
    if concurrency == 1:
        concurrency = None
    with (
        going_on(out),
        reporter(quiet, eval_step) as report,
        open_memory(url, models=["embedder"], llm=llm, concurrency=concurrency) as memory,
    ):
        result = evaluate(memory, question_set, strategy, progress=report, **_protocol(options))
    written = None if out is None else write(result, out)
    print_result(result, as_json, partial(print_evaluation, written=written))
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
@click.argument("path", type=click.Path(dir_okay=False), metavar="FILE")
@count("--size", help="So many passages: gold ones, then distractors at random.")
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
def fit(url: Url, /, questions: str, out: str) -> None:
    """Fit the scores of pairs and the confidence of chains to the models of a memory.

    QUESTIONS have gold plans whose steps have answers, as those of MuSiQue; the memory holds the workspaces of
    their passages. GSWGRAPH_FIT=FILE then uses the fit.

    \b
    Example:
      gswgraph eval fit questions.json --out fit.json
    """
    from gsw_graph.evaluate import read_questions
    from gsw_graph.evaluate.fit import fit_scores

    check_unserved(url, "eval fit")
    with open_memory(url, models=["embedder"]) as memory:
        fitted, steps = fit_scores(memory, read_questions(questions))
    Path(out).write_text(json.dumps(asdict(fitted), indent=1) + "\n", encoding="utf-8")
    click.echo(f"Fitted on {steps} sub-questions. To use it: export GSWGRAPH_FIT={out}")


def _protocol(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `evaluate`, from those of the command."""
    protocol = dict(options)
    if protocol.pop("reader") == "paper":
        protocol["must_answer"] = True
        protocol["evidence"] = options["evidence"] or "passages"
    protocol["answer"] = not protocol.pop("no_answer")
    protocol["llm"] = not protocol.pop("no_llm")
    return protocol


# --- what people see ---

SHOWN = 20  # failures and notes listed for people
CELL = 200  # characters of a message
MAIN = ("recall", "all_gold", "em", "f1", "lr1", "lr2")  # metrics whose differences people see
PARTS = ("n", "recall", "em", "f1", "lr1", "lr2", "coverage")  # figures of a part of the questions


def print_evaluation(evaluation: Evaluation, written: Path | None) -> None:
    """Print the table of figures, the differences in the main metrics, and what a reader must know."""
    from gsw_graph.evaluate.report import figures, main_k, notes, protocol

    click.echo(one_line(protocol(evaluation)))
    columns, cells = figures(evaluation)
    rows = []
    for row in cells:
        texts = [f"{text} ({small})" if small else text for text, small in row]
        rows.append(dict(zip(columns, texts, strict=True)))
    print_grid(Table(columns, rows), full=True)
    _print_parts(evaluation)
    at = str(main_k(evaluation))
    differences = []
    for difference in evaluation.differences:
        metric, _, k = difference["metric"].partition("@")
        if metric in MAIN and k in ("", at):
            differences.append(difference)
    print_items(differences)
    for note in notes(evaluation)[:SHOWN]:
        click.echo(f"Note: {one_line(note)}")
    failures = evaluation.failures
    for failure in failures[:SHOWN]:
        by = f" ({one_line(failure['strategy'])})" if failure["strategy"] else ""
        reason = cut(one_line(failure["reason"]), CELL)
        print_failure(f"Failed: {short_source(failure['question'])}{by}: {reason}")
    print_more(len(failures) - SHOWN, err=True)
    if written is not None:
        click.echo(f"Written: {short_source(str(written))}")


def _print_parts(evaluation: Evaluation) -> None:
    """Print the figures of each strategy by hops and by type, if there are several."""
    for by in ("by_hops", "by_type"):
        rows = []
        for strategy, summary in evaluation.strategies.items():
            parts = summary.get(by, {})
            for part, part_figures in parts.items() if len(parts) > 1 else ():
                row = {by: part, "strategy": strategy}
                rows.append(row | {name: part_figures.get(name) for name in PARTS})
        rows.sort(key=lambda row: str(row[by]))
        print_items(rows)


def print_comparison(comparison: Comparison) -> None:
    """Print the differences of two evaluations, and settings that differ."""
    fields = comparison.to_dict()
    del fields["differences"]
    print_record(fields)
    print_items(comparison.differences)


def eval_step(done: int, total: int, seconds: float) -> Step:
    """Return how far an evaluation is."""
    return Step(f"asked {done:,} of {total:,}{left(done, total, seconds)}", done, total)


@contextmanager
def going_on(out: str | None) -> Iterator[None]:
    """Print at Ctrl-C where what was asked is stored."""
    try:
        yield
    except KeyboardInterrupt:
        if out is not None:
            place = short_source(out)
            click.echo(f"\nWhat was asked is stored in {place}: the same call goes on from there.", err=True)
        raise
