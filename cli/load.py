"""Commands that change what is loaded: load, add and forget."""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.options import (
    POSITIVE,
    field_option,
    flag,
    json_option,
    open_memory,
    settings,
    with_memory,
)
from gsw_graph.cli.text.output import (
    Step,
    calls,
    counted,
    duration,
    left,
    money,
    print_failure,
    print_json,
    print_more,
    print_result,
    reporter,
)
from gsw_graph.config import expanded
from gsw_graph.errors import GswGraphError
from gsw_graph.extract import BY_MODEL, EXTRACTORS
from gsw_graph.load.options import LoadOptions
from gsw_graph.model.documents import Skipped
from gsw_graph.model.documents import counted as counted_kinds
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


@click.command()
@with_memory
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@field_option(LoadOptions, "extractor", type=click.Choice(("auto", *EXTRACTORS)))
@click.option("--llm", metavar="MODEL", help="The language model; wins over GSWGRAPH_LLM.")
@field_option(LoadOptions, "upgrade")
@field_option(LoadOptions, "replace")
@field_option(LoadOptions, "second_pass")
@click.option(
    "--concurrency",
    type=POSITIVE,
    metavar="N",
    help="Calls of the language model at once; 8 unless GSWGRAPH_CONCURRENCY says.",
)
@field_option(LoadOptions, "budget", metavar="AMOUNT")
@field_option(LoadOptions, "batch")
@field_option(LoadOptions, "near")
@field_option(LoadOptions, "meta", metavar="KEY=VALUE", multiple=True)
@field_option(LoadOptions, "follow_links")
@field_option(LoadOptions, "part", metavar="N/COUNT")
@click.option(
    "--ray",
    is_flag=False,
    flag_value="",
    metavar="[ADDRESS]",
    help="Load by the workers of a Ray cluster into a Neo4j server; without an address Ray runs on this machine.",
)
@field_option(LoadOptions, "dry_run")
@flag("--allow-private", help="Fetch addresses of this machine and of private networks too.")
@flag(
    "--forget-gone",
    help="Forget documents that are no longer in the folders, after naming them.",
)
@flag("--watch", help="Go on loading what changes in the folders; Ctrl-C ends it.")
@flag("--quiet", "-q", help="No progress and no summary; failures are still listed.")
@flag("--verbose", "-v", help="Name every file that failed or was skipped.")
@json_option
def load(
    url: str | None,
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
    ray: str | None,
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
      gswgraph load corpus/ --memory bolt://graph:7687 --part 3/8
    """
    models = ["embedder", "llm"] if options["extractor"] in ("auto", *BY_MODEL) else ["embedder"]
    dry_run = options["dry_run"]
    folders = _folders(paths, forget_gone=forget_gone, watch=watch)
    show = partial(_print_report, quiet=quiet, dry_run=dry_run, verbose=verbose)

    def load_once(names: Sequence[str]) -> LoadReport:
        with _memory(url, dry_run=dry_run, models=models, llm=llm, concurrency=concurrency) as memory:
            gone = memory.forget(*folders, gone=True, dry_run=True).forgotten if forget_gone else []
            shown = gone if verbose else gone[:SHOWN]
            for source in shown:
                print_failure(f"Gone: {short_source(source)}")
            print_more(gone, len(shown), err=True)
            with reporter(quiet, load_step) as progress:
                if ray is not None and not dry_run:
                    with redirect_stdout(sys.stderr):  # Ray prints what happens to its workers
                        report = memory.load_by_workers(*names, address=ray, progress=progress, **options)
                else:
                    report = memory.load(*names, progress=progress, allow_private=allow_private, **options)
            if gone and not dry_run:
                memory.forget(*folders, gone=True)
        report = replace(report, forgotten=gone)
        print_json(report.to_dict(), lines=watch) if as_json else show(report)
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
    others = [path for path in paths if path == "-" or is_address(path) or Path(path).is_file()]
    folders = [path for path in paths if path not in others]
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
        all_of_them = any(path in roots or path.endswith(".gitignore") for path in pending)
        if not all_of_them:
            files = paths(folders, follow_links=follow_links)[0] if pending else []
            names = [file for file in files if not pending.isdisjoint(map(str, _above(file)))]
        try:
            if names or (pending and forget_gone):
                load_once(names)
            pending.clear()
        except GswGraphError as error:
            if not pending.isdisjoint(roots):
                raise
            if changed:
                print_failure(f"Error: {error}; it is tried again")


def _above(file: str) -> list[Path]:
    """Return the path of a file and the folders above it."""
    path = Path(file).absolute()
    return [path, *path.parents]


def _changes(folders: Sequence[str], memory: str) -> Iterator[set[str]]:
    """Yield every second the paths that changed, until Ctrl-C; what happens in the memory does not count."""
    import watchfiles

    from gsw_graph.engine.address import split_address

    own = str(expanded(split_address(memory)[0]).absolute())
    kept = watchfiles.DefaultFilter(ignore_dirs=(".git",), ignore_paths=[own])
    with suppress(KeyboardInterrupt):
        for found in watchfiles.watch(*folders, watch_filter=kept, rust_timeout=1000, yield_on_timeout=True):
            yield {str(Path(path).absolute()) for _, path in found}


def _print_report(report: LoadReport, *, quiet: bool, dry_run: bool, verbose: bool) -> None:
    if verbose:
        for failure in (*report.failures, *report.skipped):
            print_failure(f"{_label(failure)}: {short_source(failure.source)}: {one_line(failure.reason)}")
    else:
        _print_by_reason(report.failures)
        _print_by_reason([] if quiet else _without_kinds(report.skipped))
    if not quiet:
        print_summary(report, dry_run=dry_run)


def _label(failure: Failure) -> str:
    if isinstance(failure, Skipped):
        return "Skipped"
    return "Left out" if failure.part else "Failed"


def _without_kinds(skipped: list[Failure]) -> list[Failure]:
    """Print what has no text in one line, and return what else is named; parts with kinds are counted in the
    summary."""
    kinds: Counter[str] = Counter()
    with_kinds = [item for item in skipped if isinstance(item, Skipped) and item.kinds]
    textless = [item for item in with_kinds if not item.part]
    for item in textless:
        kinds.update(dict(item.kinds))
    if textless:
        counts = counted_kinds(dict(kinds.most_common()))
        print_failure(f"{counts} skipped (they have no text): {_first([item.source for item in textless])}")
    return [item for item in skipped if item not in with_kinds]


def _first(sources: list[str]) -> str:
    """Return the first names of some sources, and how many more there are."""
    more = f" and {len(sources) - NAMED:,} more" if len(sources) > NAMED else ""
    return ", ".join(map(short_source, sources[:NAMED])) + more


def _exit_code(report: LoadReport) -> int:
    counts = report.documents
    loaded = counts.new + counts.replaced + counts.unchanged
    return 0 if not (report.failures or counts.failed) else 4 if loaded else 1


@contextmanager
def _memory(url: str | None, *, dry_run: bool, models: list[str], **overrides: Any) -> Iterator[Memory]:
    """Open the memory to load into. Where there is none yet, a dry run takes one that goes with it."""
    from gsw_graph.engine.opening import exists

    with ExitStack() as stack:
        if dry_run and not exists(settings(memory=url, **overrides)):
            url = f"{stack.enter_context(TemporaryDirectory())}/memory"
        yield stack.enter_context(
            open_memory(url, create=True, models=[] if dry_run else models, **overrides)
        )


def load_step(progress: Progress, seconds: float) -> Step:
    """Return `loading: 12 documents, 340 passages of 1,000, 85 passages/s, about 8 s left`; a rate only while
    loading. The passages are those of the slowest part: a language model where there is one, else embedding.
    """
    of = f" of {progress.total:,}" if progress.total is not None else ""
    if progress.stage == "waiting":
        return Step(
            f"waiting for the batch: {progress.passages:,}{of} requests done; Ctrl-C leaves it at the server, the same command goes on"
        )
    passages = max(progress.passages, progress.answered or 0)
    text = f"{progress.stage}: {counted(progress.documents, 'document')}, {counted(passages, 'passage')}{of}"
    loading = progress.stage == "loading"
    if loading and progress.written is not None and progress.written < passages:
        text += f", {progress.written:,} written"
    if progress.answered is not None:
        text += (
            f", {progress.replies:,} {'reply' if progress.replies == 1 else 'replies'} of the language model"
        )
        text += f", {counted(progress.failed_calls, 'call')} failed" if progress.failed_calls else ""
    text += f", {progress.failed:,} failed" if progress.failed else ""
    if progress.problem:
        text += f" (last: {cut(one_line(progress.problem), PROBLEM)})"
    if loading and passages and seconds > 0:
        rate = passages / seconds
        text += f", {rate:,.{0 if rate >= 10 else 1}f} passages/s{left(passages, progress.total, seconds)}"
    return Step(text, passages, progress.total if loading else None)


def _print_by_reason(failures: list[Failure]) -> None:
    """Print a line for each kind of failure: reasons that differ in places and numbers are of one kind."""
    by_kind: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        kind = _DETAIL.sub("", one_line(failure.reason))
        by_kind.setdefault((_label(failure), kind), []).append(failure)
    for (label, _), alike in list(by_kind.items())[:SHOWN]:
        sources = [failure.source for failure in alike]
        print_failure(f"{label}: {_first(sources)}: {one_line(alike[0].reason)}")
    print_more([*chain(*list(by_kind.values())[SHOWN:])], 0, err=True)


def print_summary(report: LoadReport, *, dry_run: bool) -> None:
    """Print what a load did, or would do."""
    parts = {name: getattr(report.documents, name) for name in ("new", "replaced", "unchanged", "failed")}
    if skipped := sum(not skipped.part for skipped in report.skipped):
        parts["skipped"] = skipped
    counts = ", ".join(f"{number:,} {name}" for name, number in parts.items())
    if described := report.documents.described:
        counts = counts.replace(" unchanged", f" unchanged (metadata of {described:,} changed)")
    click.echo(
        f"{'Would load' if dry_run else 'Documents'}: {counts}; {duration(report.seconds.get('total', 0.0))}"
    )
    if written := ", ".join(
        f"{number:+,} {one_line(name)}" for name, number in report.nodes.items() if number
    ):
        click.echo(f"{'Nodes, at least' if dry_run else 'Nodes'}: {written}")
    if report.estimate is not None:
        expected = report.estimate
        click.echo(
            f"{one_line(expected.model)}: {counted(expected.calls, 'call')}, {expected.cached:,} paid for already, "
            f"about {expected.prompt_tokens:,} tokens in and {expected.completion_tokens:,} out, "
            f"{money(expected.dollars)}"
        )
    elif report.calls or report.cached:
        click.echo(
            f"Language model: {calls(report.calls, report.failed_calls)}, {report.cached:,} from the "
            f"cache, {report.tokens['in']:,} tokens in and "
            f"{report.tokens['out']:,} out, {money(report.dollars)}"
        )
    if report.forgotten:
        click.echo(f"{'Would forget' if dry_run else 'Forgot'}: {counted(len(report.forgotten), 'document')}")
    if report.left_out:
        click.echo(f"Left out: {one_line(counted_kinds(report.left_out))}")
    if report.note:
        click.echo(f"Note: {one_line(report.note)}")
    if report.faults:
        click.echo(f"Left out of its replies: {counted(len(report.faults), 'thing')}; --json lists them")


@click.command()
@with_memory
@click.argument("text", nargs=-1, required=True)
@click.option("--speaker", default="", help="Who said it.")
@click.option("--session", default="conversation", show_default=True, help="The conversation, by its name.")
@click.option("--at", metavar="DATE", help="When, as ISO writes it: 2026-03-09T14:00; else now.")
@json_option
def add(url: str | None, /, text: tuple[str, ...], as_json: bool, **turn: str | None) -> None:
    """Add a turn of a conversation behind those of its session; the next question finds it.

    \b
    Example:
      gswgraph add "I moved to Port Aldous in May." --speaker Ana
      gswgraph add --session "call of Monday" --at 2026-03-09T14:00 "The ferry is late."
    """
    with open_memory(url, create=True, models=["embedder"]) as memory:
        passage = memory.add(" ".join(text), **turn)  # type: ignore[arg-type]
    print_json({"passage": passage}) if as_json else click.echo(f"Added as passage {passage}")


@click.command()
@with_memory
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@flag("--all", "everything", help="Forget every document.")
@flag("--yes", "-y", help="Do not ask whether --all, or more than one document, is meant.")
@json_option
def forget(url: str | None, sources: tuple[str, ...], everything: bool, yes: bool, as_json: bool) -> None:
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
    click.get_current_context().exit(0 if not result.unknown else 4 if result.forgotten else 1)


def _print_forgotten(result: Forgotten) -> None:
    for source in result.unknown:
        shown = short_source(source)
        if number := result.folders.get(source):
            shown = (
                f"{shown}, a folder of {counted(number, 'document')}; a folder ends with a slash: {shown}/"
            )
        print_failure(f"Unknown: {shown}")
    questions = f" and {counted(result.questions, 'question')} answered from them" if result.questions else ""
    click.echo(f"Forgot {counted(len(result.forgotten), 'document')}{questions}.")
