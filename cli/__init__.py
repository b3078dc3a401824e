"""The command line: one file a topic; each command parses, calls one function of `Memory`, prints."""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from gsw_graph import __version__
from gsw_graph.cli.options import memory_option
from gsw_graph.errors import GswGraphError
from gsw_graph.text.safe_text import clean, without_password

# Of each command the module that has it, imported when it is called, and its line in `gswgraph --help`.
COMMANDS = {
    "demo": ("demo", "Try it: load an invented coast and ask, without any model."),
    "load": ("load", "Load files, folders or standard input into the memory."),
    "add": ("load", "Add a turn of a conversation."),
    "ask": ("ask", "Ask a question, or one a line of standard input."),
    "confirm": ("inspect", "Say that an answer was right, so that it is given again."),
    "reject": ("inspect", "Say that an answer was wrong, so that it is not used again."),
    "history": ("inspect", "Show what was asked, what was answered, and what that took."),
    "list": ("inspect", "List the documents of the memory."),
    "show": ("inspect", "Show a document or a passage whole, with what was found in it."),
    "serve": ("serve", "Serve the memory to others: HTTP, agents (MCP), a page."),
    "mcp": ("serve", "Serve the memory to one agent over standard input and output."),
    "browse": ("graph", "Open Neo4j Browser at the memory."),
    "eval": ("eval", "Measure strategies side by side on questions with known answers."),
    "copy": ("admin", "Copy a memory from one engine to another."),
    "dump": ("admin", "Write the whole memory as lines of JSON."),
    "restore": ("admin", "Write a dump into an empty memory."),
    "status": ("inspect", "Show what the memory holds."),
    "memories": ("inspect", "List the memories of a database."),
    "doctor": ("admin", "Look for what is wrong, and say how to repair it."),
    "merge": ("admin", "Join names that mean the same thing."),
    "unmerge": ("admin", "Take merged names apart again."),
    "correct": ("admin", "Correct a name, a fact or a passage by hand."),
    "forget": ("load", "Remove documents and all that only they supported."),
    "ledger": ("inspect", "Show what language models were asked, and what that took."),
    "cypher": ("graph", "Run a Cypher query, read-only by default."),
    "draw": ("graph", "Draw what a Cypher query returns, as an HTML file."),
    "db": ("db", "Start and stop a private Neo4j with Browser."),
}


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
        if command is None or command.name is None:
            return name, command, rest
        module, _ = self.table[command.name]
        for member in vars(import_module(f"gsw_graph.cli.{module}")).values():
            if isinstance(member, click.Command) and member.name == command.name:
                return name, member, rest
        raise LookupError(command.name)

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
            if os.environ.get("GSWGRAPH_DEBUG") == "1" or getattr(error, "errno", None) == errno.EPIPE:
                raise  # click ends quietly where the reader of a pipe has gone
            click.echo(f"Error: {clean(without_password(_message(error)))}", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            advice = (
                " The same command completes what is missing." if ctx.invoked_subcommand == "load" else ""
            )
            click.echo(f"\nInterrupted.{advice}", err=True)
            ctx.exit(130)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    return str(error)


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@memory_option
@click.version_option(__version__, prog_name="gswgraph")
def main() -> None:
    """A knowledge store: documents become a graph, questions are answered by walking it.

    A memory is a folder or a Neo4j server. Without --memory it is the one that NEO4J_URI names, else the folder .gswgraph.
    User, password and database of a server come from NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE.

    Exit codes: 0 done, 1 error, 2 usage, 3 not in memory, 4 done in part.

    \b
    Example:
      gswgraph load notes/
      gswgraph ask "Who founded the foundry?"
      gswgraph --memory bolt://localhost:7687 status
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a letter is no reason to stop
            stream.reconfigure(errors="backslashreplace")
