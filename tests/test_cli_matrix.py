"""A matrix as people see it: a table whose cells point to the citations, and no text of a document taken for markup."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract import HOSTILE
from rich.console import Console

from gsw_graph.cli.text.matrix import print_matrix
from gsw_graph.results import Answer, Cell, Citation, Matrix

FIRST = Citation("p1", "d1", "Alpha Mill", "a.txt", "Alpha Mill was founded in 1790.")
CELLS = [[Cell("1790", ("1790-01-01", "1790-12-31"), None, FIRST, 0.9)], [Cell()]]
ANSWER = Answer(
    question="q",
    strategy="matrix",
    answer=None,
    answer_source="none",
    abstained=False,
    confidence=None,
    citations=[FIRST],
    passages=[],
    chains=[],
    plan=None,
    round_trips=0,
    seconds={"total": 0.0},
    tokens={"in": 0, "out": 0, "evidence": 0, "prompt": 0},
    models={"embedder": None, "reranker": None, "llm": None},
)


def printed(matrix):
    screen = Console(width=80, force_terminal=False)
    with screen.capture() as shown:
        print_matrix(screen, replace(ANSWER, matrix=matrix))
    return shown.get()


def test_cells_point_to_their_citations():
    text = printed(Matrix(["Alpha Mill", "Beta Mill"], ["founded"], CELLS))
    lines = [line.split() for line in text.splitlines() if line.strip()]
    assert lines == [["founded"], ["Alpha", "Mill", "1790", "[1]"], ["Beta", "Mill", "-"], "The cells leave it open.".split()]


def test_what_follows_is_said():
    assert "1790 is earlier than 1834" in printed(Matrix(["A", "B"], ["founded"], CELLS, "1790 is earlier than 1834"))


def test_without_a_matrix_nothing_is_printed():
    assert printed(None) == ""
    assert printed(Matrix([], [], [])) == ""


@pytest.mark.parametrize("text", [*HOSTILE, "[bold red]x[/]", "\x1b[2J\x1b[31mred", "[link=file:///etc/passwd]y[/link]"])
def test_hostile_cells_are_text(text):
    shown = printed(Matrix([text], [text], [[Cell(text, None, None, FIRST, 0.5)]], text))
    assert "\x1b" not in shown
    if text.startswith("[bold"):
        assert "[bold red]x[/]" in shown


def test_python_shows_it_too():
    answer = replace(ANSWER, matrix=Matrix(["Alpha Mill", "Beta <b>Mill"], ["founded"], CELLS, "1790 is earlier"))
    assert "\nAlpha Mill: founded 1790 [1]\nBeta <b>Mill: founded -\n1790 is earlier\n" in f"{answer}\n"
    assert "<li>Alpha Mill: founded 1790 [1]</li><li>Beta &lt;b&gt;Mill: founded -</li>" in answer._repr_html_()
