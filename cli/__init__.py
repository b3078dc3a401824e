"""The command line: one file a topic; each command parses, calls one function of `Memory`, prints."""

from __future__ import annotations

import io
import sys

import click

from gsw_graph import __version__
from gsw_graph.cli.lazy import LazyGroup
from gsw_graph.cli.options import memory_option

# Of each command the module that has it, imported when it is called, and its line in `gswgraph --help`.
COMMANDS = {
    "demo": ("demo", "Try it: load an invented coast and ask, without any model."),
    "load": ("load", "Load files, folders or standard input into the memory."),
    "ask": ("ask", "Ask a question, or many at a prompt."),
    "confirm": ("look", "Say that an answer was right, so that it is given again."),
    "reject": ("look", "Say that an answer was wrong, so that it is not used again."),
    "history": ("look", "Show what was asked, what was answered, and what that took."),
    "list": ("look", "List the documents of the memory."),
    "show": ("look", "Show a document or a passage whole, with what was found in it."),
    "serve": ("serve", "Serve the memory to others: HTTP, agents (MCP), a page."),
    "mcp": ("serve", "Serve the memory to one agent over standard input and output."),
    "browse": ("graph", "Open Neo4j Browser at the memory."),
    "eval": ("eval", "Measure strategies side by side on questions with known answers."),
    "copy": ("admin", "Copy a memory from one engine to another."),
    "dump": ("admin", "Write the whole memory as lines of JSON."),
    "restore": ("admin", "Write a dump into an empty memory."),
    "status": ("look", "Show what the memory holds."),
    "memories": ("look", "List the memories of a database."),
    "doctor": ("admin", "Look for what is wrong, and say how to repair it."),
    "bulk": ("load", "Write documents as Parquet files that neo4j-admin imports."),
    "merge": ("admin", "Join names that mean the same thing."),
    "unmerge": ("admin", "Take merged names apart again."),
    "forget": ("load", "Remove documents and all that only they supported."),
    "ledger": ("look", "Show what language models were asked, and what that took."),
    "cypher": ("graph", "Run a Cypher query, read-only by default."),
    "draw": ("graph", "Draw what a Cypher query returns, as an HTML file."),
    "db": ("db", "Start and stop a private Neo4j with Browser."),
    "completion": ("admin", "Print the completion script of a shell."),
}


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
