"""The command line with every verb in its place: `gswgraph` itself imports a verb when it is called, and sphinx-click asks for all at once."""

from importlib import import_module

import click

from gsw_graph.cli import VERBS, main

gswgraph = click.Group(
    "gswgraph",
    commands={verb: getattr(import_module(f"gsw_graph.cli.{verb}"), verb) for verb in VERBS},
    help=main.help,
    params=main.params,
)
