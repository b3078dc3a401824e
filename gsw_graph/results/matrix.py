"""A table in an answer: things side by side, and what each is said to be."""

from __future__ import annotations

from dataclasses import dataclass

from gsw_graph.results.answers import Citation
from gsw_graph.results.result import Result


@dataclass(frozen=True)
class Cell(Result):
    """What is said of a row under a column. text: None where nothing was found. interval: first and last day
    of a date, ISO, inclusive. number: of a measure, in the unit of the text. score: how sure, in [0, 1]."""

    text: str | None = None
    interval: tuple[str, str] | None = None
    number: float | None = None
    citation: Citation | None = None
    score: float = 0.0


@dataclass(frozen=True)
class Matrix(Result):
    """Entities by attributes: `cells[row][column]`. decided: how the rows compare, in words; None where the
    cells leave it open."""

    rows: list[str]
    columns: list[str]
    cells: list[list[Cell]]
    decided: str | None = None
