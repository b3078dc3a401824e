"""The command line: one file a command; each parses, calls one function of `Memory`, prints."""

from __future__ import annotations

import io
import sys

import click

from gsw_graph import __version__
from gsw_graph.cli.lazy import LazyGroup
from gsw_graph.cli.options import memory_option

# A verb is the module and the function of that name, imported when it is called; its line here stands in
# `gswgraph --help`.
VERBS = {
    "demo": "Try it: load an invented coast and ask, without any model.",
    "load": "Load files, folders or standard input into the memory.",
    "ask": "Ask a question, or many at a prompt.",
    "confirm": "Say that an answer was right, so that it is given again.",
    "reject": "Say that an answer was wrong, so that it is not used again.",
    "history": "Show what was asked, what was answered, and what that took.",
    "list": "List the documents of the memory.",
    "show": "Show a document or a passage whole, with what was found in it.",
    "serve": "Serve the memory to others: HTTP, agents (MCP), a page.",
    "mcp": "Serve the memory to one agent over standard input and output.",
    "browse": "Open Neo4j Browser at the memory.",
    "eval": "Measure strategies side by side on questions with known answers.",
    "export": "Write the memory as files that others read.",
    "copy": "Copy a memory from one engine to another.",
    "dump": "Write the whole memory as lines of JSON.",
    "restore": "Write a dump into an empty memory.",
    "lint": "List what is wrong with ready workspaces.",
    "status": "Show what the memory holds.",
    "doctor": "Look for what is wrong, and say how to mend it.",
    "merge": "Join names that mean the same thing.",
    "unmerge": "Take merged names apart again.",
    "forget": "Remove documents and all that only they supported.",
    "runs": "Show or build the runs that `ask --strategy pruned` searches.",
    "ledger": "Show what language models were asked, and what that took.",
    "cypher": "Run a Cypher query, read-only by default.",
    "draw": "Draw what a Cypher query returns, as an HTML file.",
    "db": "Start and stop a private Neo4j with Browser.",
    "completion": "Print the completion script of a shell.",
}


@click.group(cls=LazyGroup, verbs=VERBS, context_settings={"help_option_names": ["-h", "--help"]})
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
