"""`gswgraph load`: documents into the memory."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.options import field_option, json_option, memory_option, open_memory, settings
from gsw_graph.cli.text.output import calls, counted, duration, money, print_failure, print_json
from gsw_graph.cli.text.progress import reporter
from gsw_graph.extract import EXTRACTORS
from gsw_graph.load.loading import LoadOptions
from gsw_graph.model.documents import counted as counted_kinds
from gsw_graph.text.safe_text import one_line, short_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gsw_graph.memory import Memory
    from gsw_graph.model.results import LoadReport

SHOWN = 20  # failures listed for people


@click.command()
@memory_option
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@field_option(LoadOptions, "extractor", type=click.Choice(("auto", *EXTRACTORS)))
@click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM.")
@field_option(LoadOptions, "upgrade")
@field_option(LoadOptions, "replace")
@field_option(LoadOptions, "second_pass")
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    metavar="N",
    help="Calls of the language model at once; 8 unless GSWGRAPH_CONCURRENCY says.",
)
@field_option(LoadOptions, "budget", metavar="AMOUNT")
@field_option(LoadOptions, "batch")
@field_option(LoadOptions, "near")
@field_option(LoadOptions, "follow_links")
@field_option(LoadOptions, "dry_run")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary; failures are still listed.")
@json_option
@click.pass_obj
def load(
    url: str | None,
    /,
    paths: tuple[str, ...],
    quiet: bool,
    as_json: bool,
    llm: str | None,
    concurrency: int | None,
    **options: Any,
) -> None:
    """Load files, folders, globs, or standard input (-) into the memory.

    The format is found by looking at the content: text, Markdown, mail, PDF, HTML, Office, EPUB, JSON or JSON lines with `title` and `text`, and ready
    workspaces (ours, Panini's, OpenIE triples, propositions). CSV and code are known by their names.
    Pictures, archives and empty files are skipped, and so are links that lead out of a folder.
    What is loaded already and unchanged is left alone, so a load that was cut off is completed by running it again.

    With a language model (GSWGRAPH_LLM or --llm, OPENAI_API_KEY, OPENAI_BASE_URL) text becomes workspaces.
    Replies are kept in the user's cache, so that nothing is paid for twice.

    Exit code 4: some could not be loaded, the rest is. 1: nothing could be loaded.

    \b
    Example:
      gswgraph load report.md
      gswgraph load notes/ corpus.jsonl --json
      gswgraph load - < notes.txt
      gswgraph load notes/ --llm gpt-4.1-mini --dry-run
      gswgraph load notes/ --llm gpt-4.1-mini --budget 2.00
    """
    models = ["embedder", "llm"] if options["extractor"] in ("auto", "llm") else ["embedder"]
    with (
        _memory(url, dry_run=options["dry_run"], models=models, llm=llm, concurrency=concurrency) as memory,
        reporter(quiet) as progress,
    ):
        report = memory.load(*paths, progress=progress, **options)
    if as_json:
        print_json(report.to_dict())
    else:
        print_failures(report)
        if not quiet:
            print_skipped(report)
            print_summary(report, dry_run=options["dry_run"])
    click.get_current_context().exit(_exit_code(report))


@contextmanager
def _memory(url: str | None, *, dry_run: bool, models: list[str], **given: Any) -> Iterator[Memory]:
    """The memory to load into. Where there is none yet, a dry run takes one that goes with it."""
    from gsw_graph.engine import exists

    with ExitStack() as stack:
        if dry_run and not exists(settings(memory=url, **given)):
            url = f"{stack.enter_context(TemporaryDirectory())}/memory"
        yield stack.enter_context(open_memory(url, create=True, models=[] if dry_run else models, **given))


def _exit_code(report: LoadReport) -> int:
    found = report.documents
    if not report.failures and not found.failed:
        return 0
    return 4 if found.new + found.replaced + found.unchanged else 1


def print_skipped(report: LoadReport) -> None:
    """What was skipped, by name; those with the same reason together."""
    by_reason: dict[str, list[str]] = {}
    for skipped in report.skipped:
        if getattr(skipped, "kinds", ()):  # the summary counts them
            continue
        by_reason.setdefault(one_line(skipped.reason), []).append(short_source(skipped.source))
    for reason, sources in list(by_reason.items())[:SHOWN]:
        also = f" and {len(sources) - SHOWN:,} more (--json lists all)" if len(sources) > SHOWN else ""
        print_failure(f"Skipped: {', '.join(sources[:SHOWN])}{also}: {reason}")
    if (more := sum(map(len, list(by_reason.values())[SHOWN:]))) > 0:
        print_failure(f"... and {more:,} more; --json lists all")


def print_failures(report: LoadReport) -> None:
    """Each failure; those with the same reason together."""
    by_reason: dict[tuple[bool, str], list[str]] = {}
    for failure in report.failures:
        by_reason.setdefault((failure.part, one_line(failure.reason)), []).append(
            short_source(failure.source)
        )
    for (part, reason), sources in list(by_reason.items())[:SHOWN]:
        also = f" and {len(sources) - 1:,} more" if len(sources) > 1 else ""
        print_failure(f"{'Left out' if part else 'Failed'}: {sources[0]}{also}: {reason}")
    if (more := sum(map(len, list(by_reason.values())[SHOWN:]))) > 0:
        print_failure(f"... and {more:,} more; --json lists all")


def print_summary(report: LoadReport, *, dry_run: bool) -> None:
    """Print what a load did, or would do."""
    found = report.documents
    parts = {
        "new": found.new,
        "replaced": found.replaced,
        "unchanged": found.unchanged,
        "failed": found.failed,
    }
    if skipped := sum(not skipped.part for skipped in report.skipped):
        parts["skipped"] = skipped
    said = ", ".join(f"{number:,} {name}" for name, number in parts.items())
    click.echo(
        f"{'Would load' if dry_run else 'Documents'}: {said}; {duration(report.seconds.get('total', 0.0))}"
    )
    if written := ", ".join(
        f"{number:+,} {one_line(name)}" for name, number in report.nodes.items() if number
    ):
        click.echo(f"{'Nodes, at least' if dry_run else 'Nodes'}: {written}")
    if report.estimate is not None:
        expected = report.estimate
        click.echo(
            f"{one_line(expected.model)}: {counted(expected.calls, 'call')}, {expected.cached:,} paid for "
            "already, "
            f"about {expected.prompt_tokens:,} tokens in and {expected.completion_tokens:,} out, "
            f"{money(expected.dollars)}"
        )
    elif report.calls or report.cached:
        click.echo(
            f"Language model: {calls(report.calls, report.failed_calls)}, {report.cached:,} from the "
            f"cache, {report.tokens['in']:,} tokens in and "
            f"{report.tokens['out']:,} out, {money(report.dollars)}"
        )
    if report.left_out:
        click.echo(f"Left out: {one_line(counted_kinds(report.left_out))}")
    if report.note:
        click.echo(f"Note: {one_line(report.note)}")
    if report.faults:
        click.echo(f"Left out of its replies: {counted(len(report.faults), 'thing')}; --json lists them")
