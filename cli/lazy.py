"""The group of all commands: imports a command when it is called, and turns expected errors into one line and an
exit code."""

from __future__ import annotations

import errno
import os
from importlib import import_module
from typing import Any

import click

from gsw_graph.errors import GswGraphError
from gsw_graph.text.safe_text import clean, without_password


def load_command(module: str, name: str) -> click.Command:
    """Import a module of the command line and return its command of that name."""
    members = vars(import_module(f"gsw_graph.cli.{module}")).values()
    return next(member for member in members if isinstance(member, click.Command) and member.name == name)


class LazyGroup(click.Group):
    """A group whose commands are known by name and short help only, until one is resolved."""

    def __init__(self, *args: Any, table: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        self.commands = {name: click.Command(name, help=text) for name, (_, text) in table.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands in the order of use rather than of the alphabet."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the real command in place of its stand-in."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and command.name is not None:
            command = load_command(self.table[command.name][0], command.name)
        return name, command, rest

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run as click does; on Windows arguments stay as typed: `$name` in Cypher is no variable, and the
        loaders expand globs."""
        kwargs.setdefault("windows_expand_args", False)
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with GSWGRAPH_DEBUG=1 errors keep their stack trace."""
        try:
            return super().invoke(ctx)
        except (GswGraphError, OSError) as error:
            if os.environ.get("GSWGRAPH_DEBUG") == "1" or _is_closed_pipe(error):
                raise  # click ends quietly where the reader of a pipe has gone
            click.echo(f"Error: {clean(without_password(_message(error)))}", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            advice = (
                " The same command completes what is missing." if ctx.invoked_subcommand == "load" else ""
            )
            click.echo(f"\nInterrupted.{advice}", err=True)
            ctx.exit(130)


def _is_closed_pipe(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    return str(error)
