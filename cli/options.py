"""What several verbs share: the options --memory and --json, and how a memory is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.memory import Memory


def _keep(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        if not value.strip():
            raise click.BadParameter("give a folder or a url")
        ctx.obj = value


memory_option = click.option(
    "--memory",
    metavar="URL",
    expose_value=False,
    is_eager=True,
    callback=_keep,
    help="A folder, or the bolt:// or neo4j:// url of a server; wins over NEO4J_URI. May stand before or after the verb.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on standard output.")


def settings() -> Settings:
    """The settings of the environment. InputError: one of them cannot be read."""
    from gsw_graph.config import Settings

    return Settings.from_env()


def open_memory(url: str | None) -> Memory:
    """The memory at `url`, else the one of the environment."""
    from gsw_graph.memory import Memory

    return Memory.open(url, settings=settings())
