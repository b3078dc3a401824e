"""What was compared, as a table: a row a thing, a column an attribute, each cell with the citation it
stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.cli.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from gsw_graph.results import Answer, Cell, Citation

CELL = 60  # characters; the JSON has all


def print_matrix(screen: Console, answer: Answer) -> None:
    """The matrix of an answer, where it has one; a cell that was not found shows a dash."""
    from rich.table import Table
    from rich.text import Text

    found = answer.matrix
    if found is None or not found.rows:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for column in found.columns:
        table.add_column(Text(cut(one_line(column), CELL)))
    for row, cells in zip(found.rows, found.cells, strict=True):
        shown = [Text(_shown(cell, answer.citations)) for cell in cells]
        table.add_row(Text(cut(one_line(row), CELL), style="bold"), *shown)
    screen.print(table)
    screen.print(Text(one_line(found.decided) if found.decided else "The cells leave it open.", style="dim"))
    screen.print()


def matrix_lines(answer: Answer) -> list[str]:
    """The same as lines, for where there is no table: `Gull Rock Light: lit 1 March 1884 [1]`, and what
    follows."""
    found = answer.matrix
    if found is None or not found.rows:
        return []
    lines = [
        f"{one_line(row)}: "
        + ", ".join(
            f"{one_line(column)} {_shown(cell, answer.citations)}"
            for column, cell in zip(found.columns, cells, strict=True)
        )
        for row, cells in zip(found.rows, found.cells, strict=True)
    ]
    return [*lines, one_line(found.decided) if found.decided else "The cells leave it open."]


def _shown(cell: Cell, citations: list[Citation]) -> str:
    if cell.text is None:
        return "-"
    number = f" [{citations.index(cell.citation) + 1}]" if cell.citation in citations else ""
    return f"{cut(one_line(cell.text), CELL)}{number}"
