"""`gswgraph load`: documents into the memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.output import duration, print_failure, print_json
from gsw_graph.cli.progress import reporter
from gsw_graph.cli.safe_text import one_line, short_source

if TYPE_CHECKING:
    from gsw_graph.results import LoadReport

EXTRACTORS = ("rules", "none")
SHOWN = 20  # failures listed for people


@click.command()
@memory_option
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@click.option("--extractor", type=click.Choice(EXTRACTORS), default="rules", show_default=True, help="What finds names (no model needed).")
@click.option("--replace", is_flag=True, help="Load documents again though their content is unchanged.")
@click.option("--dry-run", is_flag=True, help="Say what would be loaded; write nothing.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary; failures are still listed.")
@json_option
@click.pass_obj
def load(url: str | None, paths: tuple[str, ...], extractor: str, replace: bool, dry_run: bool, quiet: bool, as_json: bool) -> None:
    """Load files, folders, globs, or standard input (-) into the memory.

    The format is found by looking at the content: text, Markdown, JSON or JSON lines with `title` and `text`, and ready workspaces
    (ours, Panini's, OpenIE triples, propositions).
    What is loaded already and unchanged is left alone, so a load that was cut off is completed by running it again.

    Exit code 4: some could not be loaded, the rest is. 1: nothing could be loaded.

    \b
    Example:
      gswgraph load report.md
      gswgraph load notes/ corpus.jsonl --json
      gswgraph load - < notes.txt
      gswgraph load notes/ --dry-run
    """
    stdin = sys.stdin.buffer if "-" in paths else None
    with open_memory(url) as memory, reporter(quiet) as progress:
        report = memory.load(*paths, extractor=extractor, replace=replace, dry_run=dry_run, stdin=stdin, progress=progress)
    if as_json:
        print_json(report.to_dict())
    else:
        _print_failures(report)
        if not quiet:
            _print_summary(report, dry_run)
    click.get_current_context().exit(_exit_code(report))


def _exit_code(report: LoadReport) -> int:
    found = report.documents
    if not report.failures and not found.failed:
        return 0
    return 4 if found.new + found.replaced + found.unchanged else 1


def _print_failures(report: LoadReport) -> None:
    for failure in report.failures[:SHOWN]:
        print_failure(f"{'Left out' if failure.part else 'Failed'}: {short_source(failure.source)}: {one_line(failure.reason)}")
    if (more := len(report.failures) - SHOWN) > 0:
        print_failure(f"... and {more:,} more; --json lists all")


def _print_summary(report: LoadReport, dry_run: bool) -> None:
    found = report.documents
    parts = {"new": found.new, "replaced": found.replaced, "unchanged": found.unchanged, "failed": found.failed}
    said = ", ".join(f"{number:,} {name}" for name, number in parts.items())
    click.echo(f"{'Would load' if dry_run else 'Documents'}: {said}; {duration(report.seconds.get('total', 0.0))}")
    if written := ", ".join(f"{number:+,} {one_line(name)}" for name, number in report.nodes.items() if number):
        click.echo(f"Nodes: {written}")
