"""Commands that change what is loaded: load, add and forget."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.options import (
    Url,
    count,
    field_option,
    field_options,
    flag,
    llm_option,
    memory_command,
    open_memory,
    settings,
)
from gsw_graph.cli.text.output import (
    Step,
    counted,
    duration,
    left,
    print_failure,
    print_json,
    print_more,
    print_record,
    print_result,
    reporter,
)
from gsw_graph.errors import GswGraphError
from gsw_graph.extract import BY_MODEL, EXTRACTORS
from gsw_graph.load.options import LoadOptions
from gsw_graph.model.documents import Skipped
from gsw_graph.text.safe_text import clean, cut, one_line, short_source, without_password

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gsw_graph.memory import Memory, Progress
    from gsw_graph.model.documents import Failure
    from gsw_graph.model.results import Forgotten, LoadReport

SHOWN = 20  # kinds of failures, and documents that are gone, listed for people
NAMED = 3  # of each kind
_DETAIL = re.compile(r"0x\w+|\d+|'[^']*'")
PROBLEM = 80  # characters of the last failure
# Fields of a report that people see below the counts of documents.
SUMMARY = (
    *("described", "skipped", "nodes", "left_out", "forgotten", "note"),
    *("calls", "failed_calls", "cached", "tokens", "dollars", "estimate", "faults"),
)


@memory_command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@field_option(LoadOptions, "extractor", type=click.Choice(("auto", *EXTRACTORS)))
@llm_option
@field_options(LoadOptions, "upgrade", "replace", "second_pass")
@count(
    "--concurrency",
    metavar="N",
    help="Calls of the language model at once; 8 unless GSWGRAPH_CONCURRENCY says.",
)
@field_option(LoadOptions, "budget", metavar="AMOUNT")
@field_options(LoadOptions, "batch", "near")
@field_option(LoadOptions, "meta", metavar="KEY=VALUE", multiple=True)
@field_options(LoadOptions, "follow_links", "dry_run")
@flag("--allow-private", help="Fetch addresses of this machine and of private networks too.")
@flag("--forget-gone", help="Forget documents that are no longer in the folders, after naming them.")
@flag("--watch", help="Go on loading what changes in the folders; Ctrl-C ends it.")
@flag("--quiet", "-q", help="No progress and no summary; failures are still listed.")
@flag("--verbose", "-v", help="Name every file that failed or was skipped.")
def load(
    url: Url,
    /,
    paths: tuple[str, ...],
    quiet: bool,
    verbose: bool,
    as_json: bool,
    llm: str | None,
    concurrency: int | None,
    allow_private: bool,
    forget_gone: bool,
    watch: bool,
    **options: Any,
) -> None:
    """Load files, folders, globs, http(s):// addresses, or standard input (-) into the memory.

    The format is found by looking at the content: text, Markdown, mail, PDF, HTML, Office, JSON or JSON lines with `title` and `text`, and ready
    workspaces (ours, Panini's, OpenIE triples, propositions). CSV and code are known by their names.
    Pictures, archives and empty files are skipped, and so are links that lead out of a folder and what its .gitignore leaves out.
    What is loaded already and unchanged is left alone, so a load that was cut off is completed by running it again.

    With a language model (GSWGRAPH_LLM or --llm, OPENAI_API_KEY, OPENAI_BASE_URL) text becomes workspaces.
    Replies are kept in the user's cache, so that nothing is paid for twice.

    Exit code 4: some could not be loaded, the rest is. 1: nothing could be loaded.

    \b
    Example:
      gswgraph load report.md
      gswgraph load notes/ corpus.jsonl --json
      gswgraph load - < notes.txt
      gswgraph load https://example.com/handbook.pdf
      gswgraph load notes/ --forget-gone --watch
      gswgraph load notes/ --llm gpt-4.1-mini --dry-run
      gswgraph load notes/ --llm gpt-4.1-mini --budget 2.00
    """
    models = ["embedder"]
    if options["extractor"] in ("auto", *BY_MODEL):
        models.append("llm")
    dry_run = options["dry_run"]
    folders = _folders(paths, forget_gone=forget_gone, watch=watch)

    def load_once(names: Sequence[str]) -> LoadReport:
        with _memory(url, dry_run=dry_run, models=models, llm=llm, concurrency=concurrency) as memory:
            gone = memory.forget(*folders, gone=True, dry_run=True).forgotten if forget_gone else []
            shown = gone if verbose else gone[:SHOWN]
            for source in shown:
                print_failure(f"Gone: {short_source(source)}")
            print_more(len(gone) - len(shown), err=True)
            with reporter(quiet, load_step) as progress:
                report = memory.load(*names, progress=progress, allow_private=allow_private, **options)
            if gone and not dry_run:
                memory.forget(*folders, gone=True)
        report = replace(report, forgotten=gone)
        if as_json:
            print_json(report.to_dict(), lines=watch)
        else:
            _print_report(report, quiet=quiet, dry_run=dry_run, verbose=verbose)
        return report

    if watch:
        changes = _changes(folders, url or settings().memory)
        _watch(folders, changes, load_once, forget_gone=forget_gone, follow_links=options["follow_links"])
    else:
        click.get_current_context().exit(_exit_code(load_once(paths)))


def _folders(paths: Sequence[str], *, forget_gone: bool, watch: bool) -> list[str]:
    """Return the folders among what is loaded. Raises UsageError where an option lacks them."""
    from gsw_graph.loaders.address import is_address

    if not (forget_gone or watch):
        return []
    others: list[str] = []
    folders: list[str] = []
    for path in paths:
        is_other = path == "-" or is_address(path) or Path(path).is_file()
        (others if is_other else folders).append(path)
    if watch and others:
        raise click.UsageError(f"--watch is for folders, and this is none: {one_line(others[0])}")
    if not folders:
        raise click.UsageError("--forget-gone is for folders, and none is named.")
    return folders


def _watch(
    folders: Sequence[str],
    changes: Iterator[set[str]],
    load_once: Callable[[Sequence[str]], object],
    *,
    forget_gone: bool,
    follow_links: bool,
) -> None:
    """Load folders, then what changes in them, until Ctrl-C. The memory is opened for each load alone, so that
    other commands can have it; what could not be loaded is tried again."""
    from gsw_graph.loaders import paths

    roots = {str(Path(folder).absolute()) for folder in folders}
    pending = set(roots)
    print_failure(f"Watching {', '.join(map(one_line, folders))}; Ctrl-C ends it.")
    for changed in changes:
        pending |= changed
        names = folders
        is_whole = any(path in roots or path.endswith(".gitignore") for path in pending)
        if not is_whole:
            files = paths(folders, follow_links=follow_links)[0] if pending else []
            names = [file for file in files if not pending.isdisjoint(_above(file))]
        try:
            if names or (pending and forget_gone):
                load_once(names)
            pending.clear()
        except GswGraphError as error:
            if not pending.isdisjoint(roots):
                raise
            if changed:
                print_failure(f"Error: {error}; it is tried again")


def _above(file: str) -> list[str]:
    """Return the path of a file and the folders above it."""
    path = Path(file).absolute()
    return [str(path), *map(str, path.parents)]


def _changes(folders: Sequence[str], memory: str) -> Iterator[set[str]]:
    """Yield every second the paths that changed, until Ctrl-C; what happens in the memory does not count."""
    import watchfiles

    from gsw_graph.config import expanded
    from gsw_graph.engine import split_address

    own = str(expanded(split_address(memory)[0]).absolute())
    kept = watchfiles.DefaultFilter(ignore_dirs=(".git",), ignore_paths=[own])
    with suppress(KeyboardInterrupt):
        for found in watchfiles.watch(*folders, watch_filter=kept, rust_timeout=1000, yield_on_timeout=True):
            yield {str(Path(path).absolute()) for _, path in found}


def _print_report(report: LoadReport, *, quiet: bool, dry_run: bool, verbose: bool) -> None:
    listed = list(report.failures)
    if verbose or not quiet:
        listed += [item for item in report.skipped if verbose or not _is_counted(item)]
    if verbose:
        for failure in listed:
            print_failure(f"{_label(failure)}: {short_source(failure.source)}: {one_line(failure.reason)}")
    else:
        _print_by_reason(listed)
    if not quiet:
        print_summary(report, dry_run=dry_run)


def _is_counted(item: Failure) -> bool:
    """Tell whether the summary counts an item by its kind."""
    return item.part and isinstance(item, Skipped) and bool(item.kinds)


def _label(failure: Failure) -> str:
    if isinstance(failure, Skipped):
        return "Skipped"
    return "Left out" if failure.part else "Failed"


def _print_by_reason(failures: list[Failure]) -> None:
    """Print a line for each kind of failure: reasons that differ in places and numbers are of one kind."""
    by_kind: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        kind = _DETAIL.sub("", one_line(failure.reason))
        by_kind.setdefault((_label(failure), kind), []).append(failure)
    shown = 0
    for (label, _), alike in list(by_kind.items())[:SHOWN]:
        sources = ", ".join(short_source(failure.source) for failure in alike[:NAMED])
        if len(alike) > NAMED:
            sources += f" and {len(alike) - NAMED:,} more"
        print_failure(f"{label}: {sources}: {one_line(alike[0].reason)}")
        shown += len(alike)
    print_more(len(failures) - shown, err=True)


def _exit_code(report: LoadReport) -> int:
    counts = report.documents
    if not (report.failures or counts.failed):
        return 0
    return 4 if counts.new + counts.replaced + counts.unchanged else 1


@contextmanager
def _memory(url: Url, *, dry_run: bool, models: list[str], **overrides: Any) -> Iterator[Memory]:
    """Open the memory to load into. Where there is none yet, a dry run takes one that goes with it."""
    from gsw_graph.engine import exists

    with ExitStack() as stack:
        if dry_run and not exists(settings(memory=url, **overrides)):
            url = f"{stack.enter_context(TemporaryDirectory())}/memory"
        yield stack.enter_context(
            open_memory(url, create=True, models=[] if dry_run else models, **overrides)
        )


def load_step(progress: Progress, seconds: float) -> Step:
    """Return `loading: 12 documents, 340 passages of 1,000, written: 85, about 8 s left`. The passages are those
    of the slowest part: a language model, or without one embedding."""
    total = "" if progress.total is None else f" of {progress.total:,}"
    if progress.stage == "waiting":
        return Step(
            f"waiting for the batch: {progress.passages:,}{total} requests done; Ctrl-C leaves it at the server, "
            "the same command goes on"
        )
    passages = max(progress.passages, progress.answered or 0)
    documents = counted(progress.documents, "document")
    text = f"{progress.stage}: {documents}, {counted(passages, 'passage')}{total}"
    for name in ("written", "replies", "failed_calls", "failed"):
        if number := getattr(progress, name):
            text += f", {name.replace('_', ' ')}: {number:,}"
    if progress.problem:
        text += f" (last: {cut(one_line(progress.problem), PROBLEM)})"
    if progress.stage != "loading":
        return Step(text, passages)
    return Step(text + left(passages, progress.total, seconds), passages, progress.total)


def print_summary(report: LoadReport, *, dry_run: bool) -> None:
    """Print what a load did, or would do."""
    documents = asdict(report.documents)
    counts = ", ".join(f"{documents[name]:,} {name}" for name in ("new", "replaced", "unchanged", "failed"))
    took = duration(report.seconds.get("total", 0.0))
    click.echo(f"{'Would load' if dry_run else 'Documents'}: {counts}; {took}")
    fields = report.to_dict()
    if not report.calls:
        del fields["tokens"]
    fields["described"] = report.documents.described
    fields["skipped"] = sum(not item.part for item in report.skipped)
    for name in ("forgotten", "faults"):
        fields[name] = len(fields[name])
    print_record({name: fields.get(name) or None for name in SUMMARY})


@memory_command()
@click.argument("text", nargs=-1, required=True)
@click.option("--speaker", default="", help="Who said it.")
@click.option("--session", default="conversation", show_default=True, help="The conversation, by its name.")
@click.option("--at", metavar="DATE", help="When, as ISO writes it: 2026-03-09T14:00; else now.")
def add(url: Url, /, text: tuple[str, ...], as_json: bool, **turn: str | None) -> None:
    """Add a turn of a conversation behind those of its session; the next question finds it.

    \b
    Example:
      gswgraph add "I moved to Port Aldous in May." --speaker Ana
      gswgraph add --session "call of Monday" --at 2026-03-09T14:00 "The ferry is late."
    """
    with open_memory(url, create=True, models=["embedder"]) as memory:
        passage = memory.add(" ".join(text), **turn)  # type: ignore[arg-type]
    if as_json:
        print_json({"passage": passage})
    else:
        click.echo(f"Added as passage {passage}")


@memory_command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@flag("--all", "everything", help="Forget every document.")
@flag("--yes", "-y", help="Do not ask whether --all, or more than one document, is meant.")
def forget(url: Url, sources: tuple[str, ...], everything: bool, yes: bool, as_json: bool) -> None:
    """Remove documents and all that only they supported. Questions whose answers cite them are forgotten too; other questions stay, unless --all.

    SOURCE is a source as `ask` and `load` show it, a file, or a folder with a slash at its end (notes/). More than one document is asked for, unless --yes.

    Exit code 4: some sources are unknown, the rest is forgotten. 1: all are unknown.

    \b
    Example:
      gswgraph forget report.md
      gswgraph forget notes/ old.txt --json
      gswgraph forget --all
    """
    if everything == bool(sources):
        raise click.UsageError("Give either sources or --all.")
    if everything and not yes:
        place = clean(without_password(url or settings().memory))
        click.confirm(f"Forget every document of {place}?", abort=True, err=True)
    if any(not source.strip() for source in sources):
        raise click.UsageError("An empty name means no document (an unset variable?). All documents: --all.")
    with open_memory(url) as memory:
        if not everything and not yes:
            meant = memory.forget(*sources, dry_run=True).forgotten
            if len(meant) > 1:
                click.confirm(f"Forget {counted(len(meant), 'document')}?", abort=True, err=True)
        result = memory.forget(*sources, everything=everything)
    print_result(result, as_json, _print_forgotten)
    code = 4 if result.forgotten else 1
    click.get_current_context().exit(code if result.unknown else 0)


def _print_forgotten(result: Forgotten) -> None:
    for source in result.unknown:
        shown = short_source(source)
        if number := result.folders.get(source):
            documents = counted(number, "document")
            shown += f", a folder of {documents}; a folder ends with a slash: {shown}/"
        print_failure(f"Unknown: {shown}")
    forgotten = counted(len(result.forgotten), "document")
    if result.questions:
        forgotten += f" and {counted(result.questions, 'question')} answered from them"
    click.echo(f"Forgot {forgotten}.")
