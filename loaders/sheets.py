"""Excel: each sheet a table whose cells say what Excel shows. Hidden rows, columns and sheets stay, and the
text says that they are hidden."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import zip_longest
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gsw_graph.loaders import slides
from gsw_graph.loaders.files import Converted, UnusableError
from gsw_graph.loaders.number_formats import shown
from gsw_graph.loaders.ooxml import Parts, is_on, kind_of, marked, packed, parse, relations, table, value
from gsw_graph.loaders.text import shifted
from gsw_graph.values import single_spaced

_MOST_CELLS = 10_000_000  # few cells far apart make a sheet of thousands of millions
_WITHOUT_VALUE = re.compile(rb"<f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>|</c>)")
_WORKBOOK = "xl/workbook.xml"
_HOLDS_TEXT = re.compile(r"xl/(?:sharedStrings|worksheets/[^/]+)\.xml")
_ROW = re.compile(rb'<(?:\w+:)?row\s[^>]*?\bhidden="(?:1|true)"[^>]*>')
_COLUMN = re.compile(rb'<(?:\w+:)?col\s[^>]*?\bhidden="(?:1|true)"[^>]*>')
_NUMBER = re.compile(rb'\b(r|min|max)="(\d{1,7})"')


def lines(parts: Parts, contents: Converted) -> Iterator[str]:
    """Yield the lines of all sheets, and of the shapes on them."""
    import openpyxl

    for name, part in parts.items():
        if _HOLDS_TEXT.match(name) and (b"strike" in part or b"vertAlign" in part):
            parts[name] = _with_marks(part)
    book = openpyxl.load_workbook(packed(parts), data_only=True, read_only=True, keep_links=False)
    formulas = None
    sheets = [data for name, data in parts.items() if "/worksheets/" in name]
    if any(map(_WITHOUT_VALUE.search, sheets)):
        formulas = openpyxl.load_workbook(packed(parts), read_only=True, keep_links=False)
    names = _parts_of_sheets(parts)
    left = _MOST_CELLS
    for sheet in book.worksheets:
        rows: list[list[str]] = []
        written = formulas[sheet.title].iter_rows(values_only=True) if formulas else iter(())
        try:
            for cells in sheet.iter_rows():
                left -= max(len(cells), 1)
                if left < 0:
                    raise UnusableError(f"more than {_MOST_CELLS:,} cells, or far fewer and far apart")
                rows.append(_row(cells, next(written, ()), contents))
        except (ValueError, KeyError, IndexError, TypeError, ElementTree.ParseError) as error:
            reason = f"{type(error).__name__}: {str(error)[:100]}"
            place = f"sheet {sheet.title!r}: what follows row {len(rows)}"
            contents.faults.append(f"{place} cannot be read ({reason})")
        filled = [row for row in rows if any(row)]
        if not filled:
            continue
        state = "" if sheet.sheet_state == "visible" else " (hidden)"
        yield f"## {sheet.title}{state}\n"
        data = parts.get(names.get(sheet.title, ""), b"")
        if hidden := "; ".join(_hidden(data, rows)):
            yield f"Hidden in the workbook: {hidden}.\n"
        yield from table(filled)
        yield ""
    for name in parts:
        if re.fullmatch(r"xl/drawings/drawing\d+\.xml", name):
            yield from slides.paragraphs(parse(parts[name]), ".//{*}txBody/{*}p")


def _row(cells: Sequence[Any], formulas: Sequence[object], contents: Converted) -> list[str]:
    """Return what the cells of a row show, or their formulas if no value was kept; such cells are counted."""
    row: list[str] = []
    for cell, formula in zip_longest(cells, formulas[: len(cells)]):
        text = shown(cell.value, cell.number_format or "General")
        if cell.value is None and formula is not None:
            contents.left_out["uncalculated formula"] += 1
            text = single_spaced(str(formula))
        elif text and cell.font is not None and cell.font.strike:
            text = f"~~{text}~~"
        row.append(text)
    return row


# --- what openpyxl does not tell ---


def _parts_of_sheets(parts: Parts) -> dict[str, str]:
    """Return the part that each sheet is in, by its name."""
    names: dict[str, str] = {}
    if _WORKBOOK not in parts:
        return names
    links = relations(parts, _WORKBOOK)
    for sheet in parse(parts[_WORKBOOK]).iterfind("{*}sheets/{*}sheet"):
        _, part = links.get(value(sheet, "id") or "", ("", ""))
        names[sheet.get("name", "")] = part
    return names


def _hidden(sheet: bytes, rows: list[list[str]]) -> Iterator[str]:
    """Yield which rows and columns of a sheet are hidden, of those that hold something."""
    used_rows: set[int] = set()
    used_columns: set[int] = set()
    for number, row in enumerate(rows, 1):
        filled = [column for column, text in enumerate(row, 1) if text]
        used_columns.update(filled)
        if filled:
            used_rows.add(number)
    hidden = used_rows.intersection(_numbers(row).get("r", 0) for row in _ROW.findall(sheet))
    if hidden:
        yield f"rows {_spans(hidden, str)}"
    hidden = set()
    for column in _COLUMN.findall(sheet):
        ends = _numbers(column)
        first, last = ends.get("min", 1), ends.get("max", 0)
        hidden.update(number for number in used_columns if first <= number <= last)
    if hidden:
        from openpyxl.utils import get_column_letter

        yield f"columns {_spans(hidden, get_column_letter)}"


def _numbers(tag: bytes) -> dict[str, int]:
    return {name.decode(): int(number) for name, number in _NUMBER.findall(tag)}


def _spans(numbers: Set[int], name: Callable[[int], str]) -> str:
    """Return numbers in order, those that follow each other as a span: 3, 5-9."""
    spans: list[str] = []
    for first in sorted(numbers):
        if first - 1 in numbers:
            continue
        last = first
        while last + 1 in numbers:
            last += 1
        spans.append(name(first) if first == last else f"{name(first)}-{name(last)}")
    return ", ".join(spans)


def _with_marks(part: bytes) -> bytes:
    """Return the texts of cells with what is struck out marked, and with powers and indexes as such."""
    root = parse(part)
    for string in root.iter():
        runs = [run for run in string if kind_of(run) == "r"]
        texts = [text for run in runs for text in run.iterfind("{*}t")]
        pieces = [(is_on(run.find("{*}rPr/{*}strike")), _raised(run)) for run in runs]
        for text in texts:
            text.text = ""
        if texts:
            texts[0].text = marked(pieces)
    return bytes(ElementTree.tostring(root, encoding="utf-8"))


def _raised(run: Element) -> str:
    """Return the text of a run, marked if it stands above or below the line."""
    text = "".join(text.text or "" for text in run.iterfind("{*}t"))
    place = value(run.find("{*}rPr/{*}vertAlign"))
    if place not in ("superscript", "subscript"):
        return text
    return shifted(text, "^" if place == "superscript" else "_")
