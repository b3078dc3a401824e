"""`gswgraph eval`: strategies measured side by side on questions with known answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.cli.options import (
    POSITIVE,
    check_unserved,
    flag,
    json_option,
    open_memory,
    with_memory,
)
from gsw_graph.cli.text.output import (
    Step,
    console,
    counted,
    left,
    print_failure,
    print_more,
    print_result,
    reporter,
)
from gsw_graph.errors import InputError
from gsw_graph.text.safe_text import cut, one_line, short_source
from gsw_graph.values import Fields

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
                type=POSITIVE,
                default=20,
                show_default=True,
                help="How many passages are asked for.",
            ),
            click.option("--limit", type=POSITIVE, help="Ask the first so many questions."),
            click.option("--sample", type=POSITIVE, help="Ask so many questions, drawn at random."),
            click.option("--seed", type=int, default=0, show_default=True, help="Of --sample."),
            click.option(
                "--at-once",
                type=POSITIVE,
                default=1,
                show_default=True,
                help="Questions asked side by side; the time of each is its own, and longer than alone.",
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
                help="paper: five passages, reasoning before a short answer, no refusal.",
            ),
            click.option("--budget", metavar="AMOUNT", help="Dollars or tokens to spend: 2.00, 500ktok."),
            click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM."),
            flag("--no-llm", help="Ask no language model, though one is set."),
            click.option(
                "--out",
                metavar="DIR",
                type=click.Path(file_okay=False),
                help="Keep what is found here; the same call goes on from there.",
            ),
            flag("--quiet", "-q", help="No progress."),
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
@with_memory
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
@flag(
    "--in-order",
    help="Questions of a conversation one after another, with memory of the earlier.",
)
@flag(
    "--without-gold",
    help="Each question without its gold passages: what is refused of what has no answer.",
)
@flag(
    "--own-context",
    help="Each question over the passages of its record alone, from `eval corpus --own-context`.",
)
@flag("--trace", help="Keep the way to each answer in trace.jsonl of --out.")
@flag(
    "--with-index",
    help="Tokens for a right answer count those of the loads too, in equal shares (gswgraph ledger).",
)
@json_option
def run(url: str | None, /, questions: str, strategy: list[Variant], as_json: bool, **options: Any) -> None:
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
    protocol, at_once = _protocol(options), options["at_once"]
    # questions asked side by side make as many calls
    overrides = {"llm": options["llm"], "concurrency": at_once if at_once > 1 else None}
    question_set = read_questions(questions).subset(options["limit"], options["sample"], options["seed"])
    protocol |= {
        name: options[name]
        for name in (
            "judge",
            "in_order",
            "without_gold",
            "own_context",
            "trace",
            "with_index",
            "budget",
            "out",
        )
    }
    with (
        going_on(options["out"]),
        reporter(options["quiet"], eval_step) as report,
        open_memory(url, models=["embedder"], **overrides) as memory,
    ):
        result = evaluate(memory, question_set, strategy, progress=report, **protocol)
    written = write(result, options["out"]) if options["out"] is not None else None
    print_result(result, as_json, lambda result: print_evaluation(result, written))
    click.get_current_context().exit(4 if result.failures else 0)


@eval.command()
@click.argument("first", type=click.Path(exists=True), metavar="A")
@click.argument("second", type=click.Path(exists=True), metavar="B")
@json_option
def compare(first: str, second: str, as_json: bool) -> None:
    """What B has more than A, question by question: two folders of `eval --out`, or their results.json. Strategies of the same name are compared, or each of A with each of B.

    \b
    Example:
      gswgraph eval compare results/before results/after
      gswgraph eval compare a/results.json b/results.json --json
    """
    from gsw_graph.evaluate import compare as comparison

    print_result(comparison(Path(first), Path(second)), as_json, print_comparison)


@eval.command()
@click.argument("path", type=click.Path(dir_okay=False), metavar="FILE")
@click.option("--size", type=POSITIVE, help="So many passages: gold ones, then distractors at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of --size.")
@flag("--own-context", help="Each passage as a document of its question alone.")
def corpus(path: str, **options: Any) -> None:
    """Print the passages that a file of questions brings along (contexts, conversations, GraphRAG-Bench's texts) as lines that `load` reads; gold passages first.

    \b
    Example:
      gswgraph eval corpus longmemeval_s.json | gswgraph load -
      gswgraph eval corpus musique.json --size 4000 > musique-4000.jsonl
    """
    from gsw_graph.evaluate import read_corpus

    for record in read_corpus(path, **options):
        click.echo(json.dumps(record))


@eval.command()
@with_memory
@click.argument("questions", type=click.Path(dir_okay=False), metavar="QUESTIONS")
@click.option(
    "--out", type=click.Path(dir_okay=False), required=True, metavar="FILE", help="Where the fit goes."
)
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

    check_unserved(url, "eval fit")
    with open_memory(url, models=["embedder"]) as memory:
        fitted, steps = fit_scores(memory, read_questions(questions))
    Path(out).write_text(json.dumps(asdict(fitted), indent=1) + "\n", encoding="utf-8")
    click.echo(f"Fitted on {steps} sub-questions. To use it: export GSWGRAPH_FIT={out}")


def _protocol(options: Fields) -> Fields:
    """Return what `evaluate` gets of the options."""
    paper = options["reader"] == "paper"
    return {
        "plans": options["plans"],
        "k": options["k"],
        "answer": not options["no_answer"],
        "evidence": options["evidence"] or ("passages" if paper else None),
        "must_answer": options["must_answer"] or paper,
        "reader": options["reader"],
        "llm": not options["no_llm"],
        "at_once": options["at_once"],
    }


# --- what people see ---

SHOWN = 20  # failures and questions listed for people
CELL = 200  # characters of a message


def print_evaluation(evaluation: Evaluation, written: Path | None) -> None:
    """Print the table of figures, the differences in the main metrics, and what a reader must know."""
    from gsw_graph.evaluate.report import figures, main_k, notes, protocol

    click.echo(one_line(protocol(evaluation)))
    columns, rows = figures(evaluation)
    _grid(columns, [[f"{text}\n{small}" if small else text for text, small in row] for row in rows])
    parts = [
        (by, part, name, figures_of)
        for by in ("by_hops", "by_type")
        for name, summary in evaluation.strategies.items()
        for part, figures_of in summary.get(by, {}).items()
        if len(summary[by]) > 1
    ]
    for by, part, name, figures_of in sorted(parts, key=lambda row: row[:2]):
        hops = f"{part} hop{'' if part == '1' else 's'}"
        click.echo(
            f"{hops if by == 'by_hops' else one_line(part)}: {_part(name, figures_of, main_k(evaluation))}"
        )
    looked_at = {f"recall@{main_k(evaluation)}", f"all_gold@{main_k(evaluation)}", "em", "f1", "lr1", "lr2"}
    _print_differences([row for row in evaluation.differences if row["metric"] in looked_at])
    _print_notes(notes(evaluation), evaluation.failures)
    if written is not None:
        click.echo(f"Written: {short_source(str(written))}")


def print_comparison(comparison: Comparison) -> None:
    """Print the differences of two evaluations, and settings that differ."""
    alone = f"{comparison.only_first:,} only in A, {comparison.only_second:,} only in B"
    click.echo(f"{counted(comparison.questions, 'question')} in both, {alone}")
    for name, (first, second) in comparison.settings.items():
        click.echo(
            f"Not the same: {name}: {cut(one_line(str(first)), 80)} / {cut(one_line(str(second)), 80)}"
        )
    _print_differences(comparison.differences)


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


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    for number, column in enumerate(columns):
        grid.add_column(Text(column), justify="right" if number else "left", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text("\n".join(one_line(line) for line in cell.split("\n"))) for cell in row))
    width = sum(
        max(len(line) for cell in (column, *(row[n] for row in rows)) for line in cell.split("\n")) + 4
        for n, column in enumerate(columns)
    )
    console(width=width).print(grid)


def _print_notes(notes: Sequence[str], failures: Sequence[dict[str, str]]) -> None:
    for note in notes[:SHOWN]:
        click.echo(f"Note: {one_line(note)}")
    print_more(notes, SHOWN, "note")
    for failure in failures[:SHOWN]:
        by = f" ({one_line(failure['strategy'])})" if failure["strategy"] else ""
        reason = cut(one_line(failure["reason"]), CELL)
        print_failure(f"Failed: {short_source(failure['question'])}{by}: {reason}")
    print_more(failures, SHOWN, err=True)


def _print_differences(differences: Sequence[Fields]) -> None:
    for row in differences:
        names = row["second"] if row["first"] == row["second"] else f"{row['second']} - {row['first']}"
        counts = f"{row['above']} won, {row['equal']} equal, {row['below']} lost"
        if row["metric"] != "ms":
            click.echo(
                f"{one_line(names)}, {row['metric']}: {_points(row['mean'], row['interval'])}, {counts}"
            )


def _points(mean: float, limits: Sequence[float]) -> str:
    mean, low, high = (round(100 * value, 1) + 0.0 for value in (mean, *limits))  # no -0.0
    return f"{mean:+.1f} points [{low:+.1f}, {high:+.1f}]"


def _part(name: str, figures: Fields, at: int) -> str:
    recall = figures["recall"].get(str(at))
    labels = {"EM": "em", "F1": "f1", "LR-1": "lr1", "LR-2": "lr2", "coverage": "coverage"}
    shown = {f"recall@{at}": recall, **{label: figures.get(name) for label, name in labels.items()}}
    texts = [f"{label} {100 * share:.1f}" for label, share in shown.items() if share is not None]
    if figures["tokens"]["total"] and figures["economy"]:
        texts.append(f"tokens/right {figures['economy']:,.0f}")
    return f"{one_line(name)} (n={figures['n']}) {', '.join(texts) or '-'}"
