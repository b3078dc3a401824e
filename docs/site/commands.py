"""The command line with every verb in its place: `gswgraph` itself imports a verb when it is called, and sphinx-click asks for all at once."""

import click

from gsw_graph.cli import COMMANDS, main

_CONTEXT = click.Context(main)

gswgraph = click.Group(
    "gswgraph",
    commands={verb: main.resolve_command(_CONTEXT, [verb])[1] for verb in COMMANDS},
    help=main.help,
    params=main.params,
)
