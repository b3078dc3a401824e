"""What `gswgraph eval` shows people: tables, progress, and how to go on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.text.output import console, counted, print_failure
from gsw_graph.text.safe_text import cut, one_line, short_source

if TYPE_CHECKING:
    from pathlib import Path

    from gsw_graph.evaluate import Estimate
    from gsw_graph.evaluate.evaluation import Comparison, Evaluation
    from gsw_graph.evaluate.tune import Tuning

EVERY = 10.0  # seconds between lines of progress
SHOWN = 20  # failures and questions listed for people
CELL = 200  # characters of a message


def print_evaluation(found: Evaluation, written: Sequence[Path]) -> None:
    """The table of figures, the differences in what is looked at first, and what a reader must know."""
    from gsw_graph.evaluate.report import figures, main_k, notes, protocol

    click.echo(one_line(protocol(found)))
    columns, rows = figures(found)
    _grid(columns, [[f"{text}\n{small}" if small else text for text, small in row] for row in rows])
    for by in ("by_hops", "by_type"):
        for part in dict.fromkeys(part for one in found.strategies.values() for part in one.get(by, {})):
            for name, one in found.strategies.items():
                if len(one[by]) > 1 and part in one[by]:
                    title = _hops(part) if by == "by_hops" else one_line(part)
                    click.echo(f"{title}: {_part(name, one[by][part], main_k(found))}")
    looked_at = {f"recall@{main_k(found)}", f"all_gold@{main_k(found)}", "em", "f1", "lr1", "lr2"}
    _print_differences([one for one in found.differences if one["metric"] in looked_at])
    _print_notes(notes(found), found.failures)
    for path in written:
        click.echo(f"Written: {short_source(str(path))}")


def print_estimate(guess: Estimate, at_once: int) -> None:
    """Print what an evaluation will take."""
    cost = "price not known" if guess.dollars is None else f"${guess.dollars:,.2f}"
    click.echo(
        f"{counted(guess.questions, 'question')}: about {guess.calls:,} calls, {guess.tokens['in']:,} + "
        f"{guess.tokens['out']:,} tokens (in + out), {cost}, {guess.hours:,.1f} hours with {at_once} at once"
    )
    measured = ", ".join(map(one_line, guess.measured)) or "nothing: typical figures"
    click.echo(f"By what was asked of {measured}. --limit 10 --out DIR asks a few first.")


def print_datasets(listed: Sequence[dict[str, Any]]) -> None:
    """Print the table of data sets."""
    columns = ("name", "questions", "passages", "licence", "load $", "ask $", "where")
    _grid(columns, [[str(each[column]) for column in columns] for each in listed])


def print_comparison(found: Comparison) -> None:
    """The differences of two evaluations, what was set otherwise, and the questions that were won and
    lost."""
    alone = ", ".join(
        f"{number:,} only in {name}"
        for name, number in (("A", found.only_first), ("B", found.only_second))
        if number
    )
    click.echo(f"{counted(found.questions, 'question')} in both{f', {alone}' if alone else ''}")
    for name, (first, second) in found.settings.items():
        click.echo(
            f"Not the same: {name}: {cut(one_line(str(first)), 80)} / {cut(one_line(str(second)), 80)}"
        )
    _print_differences(found.differences)
    for word, questions in (("Won", found.won), ("Lost", found.lost)):
        for label, keys in questions.items():
            if "recall@5" in label or label.endswith(" f1"):
                shown = ", ".join(one_line(key) for key in keys[:SHOWN])
                click.echo(
                    f"{word}, {one_line(label)}: "
                    f"{shown}{f' and {len(keys) - SHOWN:,} more' if len(keys) > SHOWN else ''}"
                )


def print_tuning(found: Tuning) -> None:
    """The held-out figure first: the fitted one flatters."""
    low, high = found.held_out_interval
    gain = found.gain
    settings = found.settings
    click.echo(
        f"{found.metric}, {counted(found.questions, 'question')}, {found.folds} folds dealt "
        f"{found.repeats} times"
    )
    memory = f"{counted(settings['memory']['nodes']['Passage'], 'passage')} on {settings['memory']['engine']}"
    asked = (
        f"k={settings['k']}, plans: {settings['plans']}, language "
        "model: "
        f"{one_line(str(settings['llm'] or 'none'))}"
    )
    click.echo(f"{asked}, {memory}, gswgraph {settings['versions']['gswgraph']}")
    click.echo(
        f"Held out:  {100 * found.held_out:.1f} [{100 * low:.1f}, {100 * high:.1f}]  what choosing among "
        "these settings gives on questions not seen"
    )
    click.echo(
        f"As it is:  {100 * found.usual:.1f}  held out minus this: {_points(gain['mean'], gain['interval'])}"
    )
    click.echo(f"Fitted:    {100 * found.fitted:.1f}  the best settings on the questions they were chosen by")
    click.echo(f"Best:      {_settings(found.best)}\n")
    rows = sorted(found.tried, key=lambda one: (-one["mean"], -one["chosen"]))
    cells = []
    for one in rows:
        low, high = one["interval"]
        cells.append(
            [
                _settings(one["settings"]),
                f"{100 * one['mean']:.1f} [{100 * low:.1f}, {100 * high:.1f}]",
                f"{100 * one['chosen']:.0f}%",
            ]
        )
    _grid(["settings", found.metric, "chosen in"], cells)
    _print_notes(found.notes, found.failures)


def print_question(question: dict[str, Any]) -> None:
    """Print a question of an evaluation with what each strategy returned."""
    click.echo(f"{one_line(question['question'])} ({one_line(question['key'])})")
    gold = " | ".join(map(one_line, question["answers"])) or "not in the corpus"
    click.echo(f"Gold: {gold}; {counted(question['gold'], 'gold passage')}")
    for name, row in question["strategies"].items():
        click.echo(f"{one_line(name)}: {_row(row)}")


def changed(
    first: Evaluation, second: Evaluation, by_label: dict[str, list[str]], metric: str
) -> list[dict[str, Any]]:
    """The questions that a comparison counts as won or as lost by a metric, with both rows."""
    before, after = ({item["key"]: item for item in each.questions} for each in (first, second))
    found = []
    for label, keys in by_label.items():
        strategies, _, name = label.rpartition(" ")
        if name != metric:
            continue
        a, _, b = strategies.partition(" -> ")
        found += [
            {
                "strategies": strategies,
                "key": key,
                "question": before[key]["question"],
                "answers": before[key]["answers"],
                "a": before[key]["strategies"][a],
                "b": after[key]["strategies"][b or a],
            }
            for key in keys
        ]
    return found


def print_diff(won: list[dict[str, Any]], lost: list[dict[str, Any]], questions: int, metric: str) -> None:
    """Print the questions that the second won and lost by a metric, with both rows."""
    for word, changes in (("Won", won), ("Lost", lost)):
        for one in changes:
            click.echo(
                f"{word}, {one_line(one['strategies'])}: {one_line(one['question'])} ({one_line(one['key'])})"
            )
            click.echo(f"  gold: {' | '.join(map(one_line, one['answers'])) or '-'}")
            click.echo(f"  A: {_row(one['a'])}")
            click.echo(f"  B: {_row(one['b'])}")
    click.echo(f"{metric}: {len(won):,} won, {len(lost):,} lost of {counted(questions, 'question')}")


def _row(row: dict[str, Any]) -> str:
    if row["error"]:
        return f"failed: {cut(one_line(row['error']), CELL)}"
    answer = "not in memory" if row["answer"] is None else cut(one_line(row["answer"]), CELL)
    scores = [f"{name} {row[name]:.2f}" for name in ("em", "f1", "lr1", "lr2") if row.get(name) is not None]
    ranks = ", ".join("-" if rank is None else str(rank) for rank in row["ranks"])
    return "; ".join([answer, *scores, *([f"gold at {ranks}"] if ranks else [])])


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """What to give `evaluate` as `progress`: a bar on a terminal, elsewhere a line now and then."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        with Progress(
            BarColumn(30),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console(stderr=True),
            transient=True,
            redirect_stdout=False,
        ) as bar:
            task = bar.add_task("asking", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield _line_now_and_then()


def _line_now_and_then(clock: Callable[[], float] = time.monotonic) -> Callable[[int, int], None]:
    """Return what prints a line each `EVERY` seconds."""
    last = clock()

    def report(done: int, total: int) -> None:
        nonlocal last
        if clock() - last >= EVERY and done < total:
            last = clock()
            click.echo(f"asked {done:,} of {total:,}", err=True)

    return report


@contextmanager
def going_on(out: str | None) -> Iterator[None]:
    """Says on Ctrl-C that what was asked is kept."""
    try:
        yield
    except KeyboardInterrupt:
        if out is not None:
            click.echo(
                f"\nWhat was asked is kept in {short_source(out)}: the same call goes on from there.",
                err=True,
            )
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
    if (more := len(notes) - SHOWN) > 0:
        click.echo(f"Note: {more:,} more; --json lists all")
    for failure in failures[:SHOWN]:
        print_failure(
            f"Failed: {short_source(failure['question'])}{_by(failure)}: "
            f"{cut(one_line(failure['reason']), CELL)}"
        )
    if (more := len(failures) - SHOWN) > 0:
        print_failure(f"... and {more:,} more; --json lists all")


def _by(failure: dict[str, str]) -> str:
    return f" ({one_line(failure['strategy'])})" if failure["strategy"] else ""


def _print_differences(differences: Sequence[dict[str, Any]]) -> None:
    for one in differences:
        names = one["second"] if one["first"] == one["second"] else f"{one['second']} - {one['first']}"
        share = one["metric"] != "ms"
        said = (
            _points(one["mean"], one["interval"])
            if share
            else f"{one['mean']:+.1f} ms [{one['interval'][0]:+.1f}, {one['interval'][1]:+.1f}]"
        )
        more, less = ("won", "lost") if share else ("slower", "faster")
        click.echo(
            f"{one_line(names)}, {one['metric']}: {said}, {one['above']} {more}, {one['equal']} equal, "
            f"{one['below']} {less}"
        )


def _points(mean: float, limits: Sequence[float]) -> str:
    mean, low, high = (round(100 * value, 1) + 0.0 for value in (mean, *limits))  # no -0.0
    return f"{mean:+.1f} points [{low:+.1f}, {high:+.1f}]"


def _hops(hops: str) -> str:
    return "hops not known" if hops == "?" else f"{hops} hop{'' if hops == '1' else 's'}"


def _part(name: str, one: dict[str, Any], at: int) -> str:
    recall = one["recall"].get(str(at))
    labels = {"EM": "em", "F1": "f1", "LR-1": "lr1", "LR-2": "lr2", "coverage": "coverage"}
    shown = {f"recall@{at}": recall, **{label: one.get(name) for label, name in labels.items()}}
    said = [f"{label} {100 * share:.1f}" for label, share in shown.items() if share is not None]
    if one["tokens"]["total"] and one["economy"]:
        value = one["economy"]["value"]
        said.append(f"tokens/right {'-' if value is None else f'{value:,.0f}'}")
    return f"{one_line(name)} (n={one['n']}) {', '.join(said) or '-'}"


def _settings(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
