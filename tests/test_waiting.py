"""What is said while somebody waits: on a terminal alone, after a moment, and gone when the wait is over."""

from __future__ import annotations

import io
import sys

from waiting import until

from gsw_graph.cli.text.output import Streamed, Waiting


def a_terminal(monkeypatch):
    """Called in a test: pytest puts its own standard error in place after fixtures."""
    found = io.StringIO()
    found.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return found


def test_a_wait_says_what_is_done_and_what_comes_next(monkeypatch):
    terminal = a_terminal(monkeypatch)
    with Waiting().begin("opening the memory") as line:
        until(lambda: "opening the memory" in terminal.getvalue())
        line.on_stage("plan", None)
        until(lambda: "plan: the language model is asked" in terminal.getvalue())
        line.on_stage("plan", "it did not answer in time;\x1b[31m try 2 follows")
        until(lambda: "asked (it did not answer in time; try 2 follows)" in terminal.getvalue())
        line.on_stage("rank", None)
        until(lambda: "search" in terminal.getvalue())
    assert terminal.getvalue().endswith("\x1b[2K"), "the line is taken away"
    assert "\x1b[31m" not in terminal.getvalue()
    shown = terminal.getvalue()
    line.stop()
    assert terminal.getvalue() == shown


def test_a_streamed_answer_takes_the_line_away_first(monkeypatch, capsys):
    terminal = a_terminal(monkeypatch)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    line = Waiting().begin("search")
    until(terminal.getvalue)
    Streamed(line).on_text("Skarholm")
    assert line._bar is None
    assert capsys.readouterr().out == "Skarholm"


def test_without_a_terminal_nothing_is_said(monkeypatch, capsys):
    with Waiting().begin("search") as line:
        assert line._bar is None
    assert capsys.readouterr().err == ""
