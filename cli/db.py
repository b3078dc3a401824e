"""`gswgraph db`: a private Neo4j with Browser."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from gsw_graph.cli.options import json_option, settings
from gsw_graph.cli.text.output import print_json
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from gsw_graph.engine.local import LocalServer

_VERSIONS = click.Choice(["5.26", "2026"])


@click.group()
def db() -> None:
    """Start and stop a private Neo4j with Browser on this machine.

    It runs in Docker where an engine answers, else from Maven Central, which needs Maven and Java 17 or 21 (5.26), 21 or 25 (2026).

    \b
    Example:
      gswgraph db start
      export NEO4J_URI=bolt://127.0.0.1:7687
      gswgraph load notes/
    """


@db.command()
@click.option(
    "--version", type=_VERSIONS, default="5.26", show_default=True, help="The version line of Neo4j."
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=7687,
    show_default=True,
    help="The port of the Bolt protocol.",
)
@click.option(
    "--http-port",
    type=click.IntRange(1, 65535),
    default=7474,
    show_default=True,
    help="The port of Neo4j Browser.",
)
@json_option
def start(version: str, port: int, http_port: int, as_json: bool) -> None:
    """Start the server and wait until it answers; where it runs already, say so.

    It goes on when this command has ended, until `gswgraph db stop`. Only this machine can reach it.

    \b
    Example:
      gswgraph db start --version 2026 --port 7688 --http-port 7475
    """
    from gsw_graph.engine import local

    server = local.start(settings(), version, port, http_port, report=lambda line: click.echo(line, err=True))
    if as_json:
        print_json(_facts(server))
        return
    click.echo(_text(server))
    click.echo(f"\nUse it:\n  export NEO4J_URI={server.url}")


@db.command()
@click.option("--version", type=_VERSIONS, help="Only this version line; without it, all.")
@json_option
def stop(version: str | None, as_json: bool) -> None:
    """Stop the server; its data stay.

    \b
    Example:
      gswgraph db stop
    """
    from gsw_graph.engine import local

    stopped = local.stop(settings(), version)
    if as_json:
        print_json({"servers": [_facts(server) for server in stopped]})
    else:
        click.echo(
            "\n".join(f"Stopped Neo4j {server.release}; its data stay in {server.home}" for server in stopped)
            or "No private Neo4j is running."
        )


@db.command()
@click.option("--version", type=_VERSIONS, help="Only this version line; without it, all.")
@json_option
def status(version: str | None, as_json: bool) -> None:
    """Show the private servers: address, version, process, and the file that holds the password.

    \b
    Example:
      gswgraph db status --json
    """
    from gsw_graph.engine import local

    servers = local.status(settings(), version)
    if as_json:
        print_json({"servers": [_facts(server) for server in servers]})
    else:
        click.echo(
            "\n\n".join(map(_text, servers))
            or "There is no private Neo4j yet. Start one with: gswgraph db start"
        )


def _facts(server: LocalServer) -> Fields:
    facts = dataclasses.asdict(server)
    return {name: str(value) if name in {"home", "password_file"} else value for name, value in facts.items()}


def _text(server: LocalServer) -> str:
    by = f"pid {server.pid}" if server.pid else server.by
    return (
        f"Neo4j {server.release} {f'is running ({by})' if server.running else 'is not running'}\n"
        f"  url       {server.url}\n  browser   {server.browser}\n"
        f"  user      {server.username}\n  password  in {server.password_file}"
    )
