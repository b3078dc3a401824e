"""The rows of an Excel sheet, where one bad cell is one fault: openpyxl itself refuses the whole workbook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import ParseError

_MOST_FAULTS = 10_000


def rows(book: Any, sheet: Any, faults: list[str]) -> Iterator[tuple[object, ...]]:
    """The values of each row that is written down; `faults` gets the cells and rows that cannot be read."""
    from openpyxl.worksheet._reader import WorkSheetParser

    def fault(what: str, error: Exception) -> None:
        if len(faults) < _MOST_FAULTS:
            faults.append(
                f"sheet {sheet.title!r}: {what} cannot be read ({type(error).__name__}: {str(error)[:100]})"
            )

    class Tolerant(WorkSheetParser):  # type: ignore[misc]
        def parse_cell(self, element: Any) -> Any:
            before = self.col_counter
            try:
                return super().parse_cell(element)
            except Exception as error:  # a number that is none, a text that is not in its table
                if self.col_counter == before:  # its place is what is wrong with it
                    self.col_counter += 1
                place = element.get("r") or f"row {self.row_counter}, column {self.col_counter}"
                fault(f"the cell {str(place)[:40]}", error)
                return {
                    "row": self.row_counter,
                    "column": self.col_counter,
                    "value": None,
                    "data_type": "n",
                    "style_id": 0,
                }

        def parse_row(self, row: Any) -> Any:
            try:
                return super().parse_row(row)
            except (ValueError, OverflowError) as error:
                fault(f"the row after {self.row_counter}", error)
                return self.row_counter, []

    try:
        with sheet._get_source() as source:
            formats = {"date_formats": book._date_formats, "timedelta_formats": book._timedelta_formats}
            for _, cells in Tolerant(
                source, sheet._shared_strings, data_only=True, epoch=book.epoch, **formats
            ).parse():
                yield (
                    sheet._get_row(
                        cells, max_col=max((cell["column"] for cell in cells), default=0), values_only=True
                    )
                    if cells
                    else ()
                )
    except (ParseError, KeyError) as error:
        fault("what follows", error)
