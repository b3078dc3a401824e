"""The group of all verbs: imports a verb when it is called, and turns expected errors into one line and an
exit code."""

from __future__ import annotations

import errno
import os
from importlib import import_module
from typing import Any

import click

from gsw_graph.errors import GswGraphError
from gsw_graph.text.safe_text import clean, without_password

# Verbs that share the file of another.
_FILES = {"unmerge": "merge", "dump": "copy", "restore": "copy"}


class LazyGroup(click.Group):
    """A group whose verbs are known by name and short help only, until one is resolved."""

    def __init__(self, *args: Any, verbs: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands = {name: click.Command(name, help=text) for name, text in verbs.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The verbs in the order of use rather than of the alphabet."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The real command in place of its stand-in."""
        name, found, rest = super().resolve_command(ctx, args)
        if found is not None and found.name is not None:
            found = getattr(import_module(f"gsw_graph.cli.{_FILES.get(found.name, found.name)}"), found.name)
        return name, found, rest

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click's; on Windows arguments stay as typed: `$name` in Cypher is no variable, and the
        loaders expand globs."""
        kwargs.setdefault("windows_expand_args", False)
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; with GSWGRAPH_DEBUG=1 errors keep their stack trace."""
        try:
            return super().invoke(ctx)
        except (GswGraphError, OSError) as error:
            if os.environ.get("GSWGRAPH_DEBUG") == "1" or _is_closed_pipe(error):
                raise  # click ends quietly where the reader of a pipe has gone
            click.echo(f"Error: {clean(without_password(_said(error)))}", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            note = (
                "Interrupted. The same command completes what is missing."
                if ctx.invoked_subcommand == "load"
                else "Interrupted."
            )
            click.echo(f"\n{note}", err=True)
            ctx.exit(130)


def _is_closed_pipe(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    return str(error)
