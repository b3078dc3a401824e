"""What `gswgraph eval` shows people: tables, progress, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.text.output import Step, console, counted, left, print_failure, print_more
from gsw_graph.text.safe_text import cut, one_line, short_source

if TYPE_CHECKING:
    from pathlib import Path

    from gsw_graph.evaluate.evaluation import Comparison, Evaluation

SHOWN = 20  # failures and questions listed for people
CELL = 200  # characters of a message


def print_evaluation(found: Evaluation, written: Sequence[Path]) -> None:
    """Print the table of figures, the differences in the main metrics, and what a reader must know."""
    from gsw_graph.evaluate.report import figures, main_k, notes, protocol

    click.echo(one_line(protocol(found)))
    columns, rows = figures(found)
    _grid(columns, [[f"{text}\n{small}" if small else text for text, small in row] for row in rows])
    parts = [
        (by, part, name, figures_of)
        for by in ("by_hops", "by_type")
        for name, summary in found.strategies.items()
        for part, figures_of in summary.get(by, {}).items()
        if len(summary[by]) > 1
    ]
    for by, part, name, figures_of in sorted(parts, key=lambda row: row[:2]):
        hops = f"{part} hop{'' if part == '1' else 's'}"
        click.echo(f"{hops if by == 'by_hops' else one_line(part)}: {_part(name, figures_of, main_k(found))}")
    looked_at = {f"recall@{main_k(found)}", f"all_gold@{main_k(found)}", "em", "f1", "lr1", "lr2"}
    _print_differences([one for one in found.differences if one["metric"] in looked_at])
    _print_notes(notes(found), found.failures)
    for path in written:
        click.echo(f"Written: {short_source(str(path))}")


def print_comparison(found: Comparison) -> None:
    """Print the differences of two evaluations, and settings that differ."""
    alone = f"{found.only_first:,} only in A, {found.only_second:,} only in B"
    click.echo(f"{counted(found.questions, 'question')} in both, {alone}")
    for name, (first, second) in found.settings.items():
        click.echo(
            f"Not the same: {name}: {cut(one_line(str(first)), 80)} / {cut(one_line(str(second)), 80)}"
        )
    _print_differences(found.differences)


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


def _print_differences(differences: Sequence[dict[str, Any]]) -> None:
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


def _part(name: str, one: dict[str, Any], at: int) -> str:
    recall = one["recall"].get(str(at))
    labels = {"EM": "em", "F1": "f1", "LR-1": "lr1", "LR-2": "lr2", "coverage": "coverage"}
    shown = {f"recall@{at}": recall, **{label: one.get(name) for label, name in labels.items()}}
    said = [f"{label} {100 * share:.1f}" for label, share in shown.items() if share is not None]
    if one["tokens"]["total"] and one["economy"]:
        value = one["economy"]["value"]
        said.append(f"tokens/right {'-' if value is None else f'{value:,.0f}'}")
    return f"{one_line(name)} (n={one['n']}) {', '.join(said) or '-'}"
