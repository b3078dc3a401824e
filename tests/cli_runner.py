"""The command line run in this process against the fake memory, and text that wants to drive a terminal."""

from __future__ import annotations

import fake_memory
import pytest
from click.testing import CliRunner

from gsw_graph.cli import main

HOSTILE = 'a\x1b[31mred\x1b]0;t\x07 \x9b2J[bold]x[/bold] :smile:\r\u202eevil\udc00"'


@pytest.fixture
def fake(monkeypatch):
    for name in ("NEO4J_URI", "GSWGRAPH_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return fake_memory.install(monkeypatch)


def run(*args, stdin=None):
    return CliRunner().invoke(main, list(args), input=stdin)


def last_call(fake):
    return next(call for call in reversed(fake.calls) if call[0] != "close")
