"""Options that several commands share, and how a memory is opened."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

import click

from gsw_graph.errors import EngineError, InputError
from gsw_graph.values import Fields, without_none

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gsw_graph.config import Settings
    from gsw_graph.memory import Memory


POSITIVE = click.IntRange(min=1)


def flag(*names: str, help: str) -> Callable[[Any], Any]:
    """Return an option that is given or not."""
    return click.option(*names, is_flag=True, help=help)


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
    help="A folder, or the bolt:// or neo4j:// url of a server; wins over NEO4J_URI. May be given before or "
    "after the command.",
)


def with_memory(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option --memory, and what it names as the first argument."""
    return memory_option(click.pass_obj(command))


json_option = flag("--json", "as_json", help="Print one JSON document on standard output.")


def field_option(options: type, name: str, *flags: str, **how: Any) -> Callable[[Any], Any]:
    """Return the option of a command that gives a field of `AskOptions` or `LoadOptions`.

    Args:
        options: The class of the field, which has its default and, unless `help` is given, its description.
        name: The field; a flag whose default is True is for `--no-...`, and gives False.
        flags: How it is typed; default: the field's name.
        how: Further arguments of `click.option`.
    """
    field = next(field for field in fields(options) if field.name == name)
    arguments = {"help": field.metadata["description"], **how}
    if isinstance(field.default, bool):
        default = field.default
        arguments |= {"is_flag": True, "callback": lambda _ctx, _param, value: value != default}
    else:
        arguments |= {"default": field.default, "show_default": field.default not in (None, ())}
    return click.option(*(flags or (f"--{name.replace('_', '-')}",)), name, **arguments)


def html_option(*, required: bool = False) -> Callable[[Any], Any]:
    """Return the option of a command that writes a picture."""
    return click.option(
        "--html",
        required=required,
        metavar="FILE",
        help="Write the picture to this file: HTML that needs no network.",
    )


def settings(**overrides: Any) -> Settings:
    """Return the settings of the environment, and what options gave instead. Raises InputError."""
    from gsw_graph.config import Settings

    return replace(Settings.from_env(), **without_none(overrides))


def open_memory(
    url: str | None,
    *,
    create: bool = False,
    models: Collection[str] = (),
    show_cypher: bool = False,
    **overrides: Any,
) -> Memory:
    """Open the memory at `url`, else the one of the environment; one in a folder that a server has open is
    asked through it.

    Args:
        url: A folder or an address.
        create: Make a folder where there is none.
        models: Those that the command will need.
        show_cypher: Print each statement as it runs.
        overrides: Settings that options gave.
    """
    from gsw_graph.cli.text.output import print_failure
    from gsw_graph.memory import Memory

    used = settings(**overrides)
    if served := _served(url or used.memory, used, overrides, show_cypher=show_cypher):
        return served
    return Memory.open(
        url,
        settings=used,
        create=create,
        models=models,
        tracer=print_failure if show_cypher else None,
    )


def check_unserved(url: str | None, command: str) -> None:
    """Raise EngineError where a server has the memory open at `url`, else the one of the environment, which a
    command needs for itself."""
    from gsw_graph.engine.embedded_folder import RunningServer

    if running := RunningServer.find(url or settings().memory):
        raise EngineError(
            f"a server has this memory open, and gswgraph {command} needs it for itself",
            where=running.address,
            hint=f"End the server (Ctrl-C where it runs), run gswgraph {command}, and start it again",
        )


def print_memories(memory: Memory, *, empty: bool) -> None:
    """Name the memories of the database on standard error where the one that was opened is empty."""
    from gsw_graph.cli.text.output import print_failure

    if empty and (names := [stored.name for stored in memory.memories() if stored.name]):
        print_failure(f"This database has memories: {', '.join(names)} (?memory=NAME behind its address)")


def _served(place: str, used: Settings, overrides: Fields, *, show_cypher: bool) -> Memory | None:
    """Return the memory of its server, None where no server has it open. Raises InputError where options ask
    for what only the process does that has it open."""
    from gsw_graph.engine.embedded_folder import RunningServer

    running = RunningServer.find(place)
    if running is None:
        return None
    from gsw_graph.serve.client import RemoteMemory

    memory = RemoteMemory(running, replace(used, memory=place))
    options = without_none(overrides)
    if options.get("llm") == memory.model():
        options.pop("llm", None)
    if show_cypher or options:
        memory.close()
        option = next(iter(options), "show_cypher").replace("_", "-")
        raise InputError(
            f"--{option} does not go through a server",
            where=running.address,
            hint="End the server, or leave the option out: the server's own models and settings count",
        )
    return cast("Memory", memory)  # the methods that commands call; others raise EngineError
