"""`gswgraph bulk`: a corpus as files that neo4j-admin imports."""

from __future__ import annotations

import shlex
from functools import cache
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.load import print_failures, print_skipped
from gsw_graph.cli.options import json_option, settings
from gsw_graph.cli.text.output import counted, duration, print_failure, print_json
from gsw_graph.cli.text.progress import reporter
from gsw_graph.cli.text.safe_text import one_line, short_source
from gsw_graph.extract import EXTRACTORS

if TYPE_CHECKING:
    from gsw_graph.results import BulkReport, Checked


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@click.option("--out", metavar="DIR", type=click.Path(), help="Where the files go: a new or an empty folder.")
@click.option(
    "--check", is_flag=True, help="Read sets of files back (PATH is a DIR) and say what is wrong with them."
)
@click.option(
    "--extractor",
    type=click.Choice(("auto", *EXTRACTORS)),
    default="auto",
    show_default=True,
    help="As of load.",
)
@click.option(
    "--ray",
    "address",
    metavar="ADDRESS",
    help="On the Ray cluster that this machine is a node of: auto, or HOST:PORT. local: one of this machine alone. Needs the extra `ray`.",
)
@click.option("--follow-links", is_flag=True, help="As of load.")
@click.option("--quiet", "-q", is_flag=True, help="No progress and no summary; failures are still listed.")
@json_option
def bulk(
    paths: tuple[str, ...],
    out: str | None,
    check: bool,
    extractor: str,
    address: str | None,
    follow_links: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write a corpus as the files of `neo4j-admin database import full`, without an engine: the way to load millions of passages.

    PATH as of load. The files hold the same as a load would write; `gswgraph db import DIR` (the private Neo4j) or DIR/import.sh imports them into a Neo4j that does not
    run, and `gswgraph doctor --mend` makes the indexes after it has started. Needs the extra `bulk` (pyarrow). DIR may be a url that fsspec reaches, such as s3://BUCKET/FOLDER.

    With --ray the nodes of a cluster read, extract, embed and write; they must see PATH and DIR. A language model is asked from here, within one limit.

    Exit code 4: some could not be read, the rest is written. 1: nothing could be read. With --check, 1: faults were found.

    \b
    Example:
      gswgraph bulk corpus.jsonl --out files/
      gswgraph bulk /shared/corpus --out s3://bucket/files --ray auto
      gswgraph bulk files/ --check --json
    """
    if check == bool(out):
        raise click.UsageError("Give either --out DIR or --check.")
    if check:
        from gsw_graph.moving.checking import check as read_back

        found = [read_back(path) for path in paths]
        if as_json:
            print_json([one.to_dict() for one in found])
        else:
            for one in found:
                _print_checked(one)
        click.get_current_context().exit(1 if any(one.faults for one in found) else 0)
    from gsw_graph.inference.embed.embedder import Embedder

    chosen = settings()
    with reporter(quiet) as progress:
        if address is not None:
            from gsw_graph.moving import cluster

            report = cluster.bulk(
                paths,
                str(out),
                chosen,
                Embedder.load,
                address=address,
                extractor=extractor,
                follow_links=follow_links,
                progress=progress,
            )
        else:
            from gsw_graph.moving import bulk as here

            report = here.bulk(
                paths,
                str(out),
                chosen,
                cache(lambda: Embedder.load(chosen)),
                extractor=extractor,
                follow_links=follow_links,
                progress=progress,
            )
    if as_json:
        print_json(report.to_dict())
    else:
        print_failures(report)
        if not quiet:
            print_skipped(report)
            _print(report)
    taken = report.documents.new
    click.get_current_context().exit(
        0 if not report.failures and not report.documents.failed else 4 if taken else 1
    )


def _print(report: BulkReport) -> None:
    what = f"{counted(report.documents.new, 'document')}, {counted(sum(report.nodes.values()), 'node')}"
    what += f" and {counted(sum(report.relationships.values()), 'relationship')}"
    click.echo(f"Wrote {what} to {short_source(report.folder)}; {duration(report.seconds['total'])}")
    if "://" in report.folder:
        click.echo("Copy them to a disk of the Neo4j server, and import them there: sh import.sh")
    else:
        folder = shlex.quote(short_source(report.folder))
        click.echo(f"Import them: gswgraph db import {folder}, or sh {folder}/import.sh for another Neo4j")
    click.echo("Then start the server, and: gswgraph doctor --mend")


def _print_checked(found: Checked) -> None:
    nodes, relationships = (sum(part.values()) for part in (found.nodes, found.relationships))
    for fault in found.faults:
        print_failure(f"Fault: {one_line(fault)}")
    state = f"{counted(len(found.faults), 'fault')}" if found.faults else "sound"
    what = f"{counted(nodes, 'node')} and {counted(relationships, 'relationship')}"
    click.echo(f"{short_source(found.folder)}: {what}, {state}")
