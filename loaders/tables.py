"""Tables of a page as plain rows: cells over several rows keep the columns below in place, and tables that
only lay out a page, as those of mails do, become its text."""

from __future__ import annotations

from typing import Any

_CELLS = ["td", "th"]
_SECTIONS = ["thead", "tbody", "tfoot"]
_BLOCKS = ["p", "div", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "table", "pre"]
_WIDEST, _HIGHEST = 1000, 65534  # as browsers have it


def straighten(table: Any, soup: Any) -> None:
    """Make a table rows of the same columns, or the text of the page if it lays out a page.

    Args:
        table: A table; one within it comes later.
        soup: The page that holds it.
    """
    if table.name != "table" or table.parent is None:
        return  # a table within another, which was written as text
    rows = _own(table, "tr")
    if _is_layout(table, rows):
        for tag in (table, *_own(table, _SECTIONS), *rows, *_own(table, _CELLS)):
            tag.name = "div"
        return
    for inner in table("table"):
        if inner.parent is not None:
            inner.replace_with(_written(inner))
    _fill(rows, soup)


def _own(table: Any, names: str | list[str]) -> list[Any]:
    """Return the tags of a table that belong to no table within it."""
    return [tag for tag in table(names) if tag.find_parent("table") is table]


def _is_layout(table: Any, rows: list[Any]) -> bool:
    """Return whether a table has no columns of its own: all is below each other, or in tables within."""
    widest = 0
    for row in rows:
        texts = [cell.get_text(strip=True) for cell in row(_CELLS, recursive=False)]
        widest = max(widest, len(list(filter(None, texts))))
    if widest < 2:
        return table.find(_BLOCKS) is not None
    within = sum(len(tag.get_text(strip=True)) for tag in _own(table, "table"))
    return within * 2 > len(table.get_text(strip=True))


def _written(table: Any) -> str:
    """Return a table that is in a cell of another as text."""
    rows = []
    for row in table("tr"):
        cells = [cell.get_text(" ", strip=True) for cell in row(_CELLS, recursive=False)]
        rows.append(", ".join(filter(None, cells)))
    return "; ".join(filter(None, rows))


def _fill(rows: list[Any], soup: Any) -> None:
    """Put empty cells below those that go over several rows."""
    section = None
    hanging: dict[int, tuple[int, int]] = {}  # rows to go and width, by column
    for row in rows:
        if row.parent is not section:
            section, hanging = row.parent, {}
        cells = row(_CELLS, recursive=False)
        name = cells[0].name if cells else "td"
        below = {column: (left - 1, width) for column, (left, width) in hanging.items() if left > 1}
        column = 0
        for cell in cells:
            while column in hanging:
                width = hanging[column][1]
                cell.insert_before(soup.new_tag(name, colspan=str(width)))
                column += width
            width = _span(cell, "colspan", _WIDEST)
            height = _span(cell, "rowspan", _HIGHEST)
            if height > 1:
                below[column] = height - 1, width
            column += width
        while column in hanging:
            width = hanging[column][1]
            row.append(soup.new_tag(name, colspan=str(width)))
            column += width
        hanging = below


def _span(cell: Any, name: str, most: int) -> int:
    """Return over how many columns or rows a cell goes; 0 rows are all that follow."""
    written = str(cell.get(name) or 1)
    number = min(int(written), most) if written.isdecimal() else 1
    if number == 0:
        return most if name == "rowspan" else 1
    return number
