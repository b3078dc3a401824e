"""PDF to text with PDFium, which browsers read hostile files with: no scripts run, no links are followed.

PDFium gives the characters of a page in the order in which they were written, and where they stand. The order
is kept, unless a page has columns or was written out of order.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from typing import Any

from gsw_graph.loaders.files import Converted, UnusableError
from gsw_graph.loaders.text import join_lines, subscript, superscript

# PDFium is not made for several threads.
_LOCK = threading.Lock()
# What PDFium gives for the hyphen at a line end of a word that goes on in the next line.
_HYPHEN = re.compile("(?:\x02|\ufffe)(?:\r\n)?")
_PASSWORD = 4
_WORD = re.compile(r"[^\s\x02\ufffe]+")
_DIGIT = re.compile(r"\d")
_LONGEST = 100  # characters of a word that may have superscripts
# Of superscripts and subscripts, as shares of the font: their height at most, and how far from the line.
_SMALL, _RAISED, _LOWERED = 0.87, 0.15, 0.03
# The least of a column: lines, characters of a line, and the share of lines that go on with a small letter.
# Cells of a table have less.
_LEAST_LINES, _LEAST_CHARACTERS, _LEAST_GOING_ON = 3, 12, 0.15
_MOST_ACROSS = 0.5  # lines across the columns, such as headings, for each line within
_MOST_EDGES = 30  # left edges that may be those of a column
_MOST_UPWARDS = 0.45  # of the steps from line to line
# How often writing turns from a column to the other where both are written whole, and lines below each other
# in a column, for each turn, where it goes line by line.
_FEW_TURNS, _STACKED = 4, 0.4
_MOST_OBJECTS = 2000  # of a page, which are looked at for pictures


@dataclass(slots=True)
class _Run:
    """Words of one line without a wide gap between them. x0 to x1 from left to right, y: the middle of its
    height."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    hyphen: bool = False  # its last word goes on in the next line

    def same_line(self, y: float, size: float) -> bool:
        return abs(self.y - y) < max(self.size, size) / 2


def read_pdf(data: bytes, contents: Converted) -> None:
    """Read a PDF: its pages on lines of their own, and the title that its properties give it, where its first
    page shows it too. Raises UnusableError."""
    import pypdfium2

    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            locked = getattr(error, "err_code", None) == _PASSWORD
            raise UnusableError(
                "locked with a password: save it without one" if locked else "a broken PDF file"
            ) from error
        pages: list[str] = []
        try:
            for page in document:
                pages.append(_page_text(page.get_textpage()))
                _count(page, contents.left_out)
                page.close()
            described = {name: document.get_metadata_value(name) or "" for name in ("Title", *_ABOUT)}
        except pypdfium2.PdfiumError as error:
            raise UnusableError(
                f"a broken PDF file: page {len(pages) + 1} of {len(document)} cannot be read"
            ) from error
        finally:
            document.close()
    if not any(pages):
        raise UnusableError(
            f"a PDF file of {len(pages)} pages without text, as scans are: run a text recognition (OCR) "
            "over it first"
        )
    contents.text, contents.plain = join_lines("\n".join(filter(None, pages))), True
    title = " ".join(described.pop("Title").split())
    contents.title = title if title.casefold() in " ".join(pages[0].casefold().split()) else ""
    contents.describe(described.items())


_ABOUT = ("Author", "Subject", "Keywords")


def _count(page: Any, left_out: Counter[str]) -> None:
    """Count what is on a page besides its text."""
    import pypdfium2.raw as raw

    objects = islice(page.get_objects(max_depth=1), _MOST_OBJECTS)
    left_out["picture"] += sum(item.type == raw.FPDF_PAGEOBJ_IMAGE for item in objects)
    for n in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_OBJECTS)):
        annotation = raw.FPDFPage_GetAnnot(page, n)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        left_out["comment"] += kind in (raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_FREETEXT)
        left_out["form field"] += kind == raw.FPDF_ANNOT_WIDGET


def _page_text(page: Any) -> str:
    """Return the text of a page in reading order."""
    text = page.get_text_range()
    if len(text) != page.count_chars():  # its places in the text are not those on the page
        return "\n".join(_HYPHEN.sub("-\n", text).splitlines()).strip()
    lines: list[str] = []
    before: _Run | None = None
    for run in _ordered(_runs(page, text)):
        if before and before.same_line(run.y, run.size) and run.x0 >= before.x1 and not before.hyphen:
            lines[-1] += f" {run.text}"
        else:
            lines.append(run.text)
        lines[-1] += "-" * run.hyphen
        before = run
    return "\n".join(lines)


def _runs(page: Any, text: str) -> list[_Run]:
    """Return the words of a page, joined to runs, in the order in which they were written."""
    runs: list[_Run] = []
    end = 0
    for match in _WORD.finditer(text):
        word, between, end = match[0], text[end : match.start()], match.end()
        x0, low, _, high = page.get_charbox(match.start(), loose=True)
        x1 = page.get_charbox(end - 1, loose=True)[2]
        y, size = (low + high) / 2, high - low
        if runs and _HYPHEN.search(between):
            runs[-1].hyphen = True
        elif runs:
            run = runs[-1]
            gap = x0 - run.x1
            raised = size < run.size * _SMALL and run.size * _RAISED < y - run.y < run.size
            if raised and _DIGIT.match(word) and len(word) < 4 and abs(gap) < run.size / 4:
                run.text, run.x1 = run.text + superscript(run.text, word), x1
                continue
            near = abs(gap) <= max(run.size, size) if run.same_line(y, size) else not {*between} & {*"\r\n"}
            if near:
                run.text += " " if between.strip("\r\n") or (between and gap > size / 10) else ""
                run.text += _shifted(page, match, run.text)
                run.x1, run.size = x1, max(run.size, size)
                continue
        runs.append(_Run(_shifted(page, match, ""), x0, x1, y, size))
    return runs


def _shifted(page: Any, match: re.Match[str], before: str) -> str:
    """Return a word, with marks for what stands above or below its line."""
    word = match[0]
    if len(word) == 1 or len(word) > _LONGEST or not _DIGIT.search(word):
        return word
    boxes = [page.get_charbox(n, loose=True) for n in range(*match.span())]
    size, line = max((high - low, low) for _, low, _, high in boxes)
    shifts = [
        0 if high - low > size * _SMALL else (low - line > size * _RAISED) - (line - low > size * _LOWERED)
        for _, low, _, high in boxes
    ]
    written, end = "", 0
    for shift, group in groupby(shifts):
        begin, end = end, end + len(list(group))
        part = word[begin:end]
        if shift and _DIGIT.search(part):
            so_far = before + written
            part = superscript(so_far, part, word[end:]) if shift > 0 else subscript(so_far, part)
        written += part
    return written


def _ordered(runs: list[_Run]) -> list[_Run]:
    """Return runs in reading order: that in which they were written, but for columns that were written line
    by line or the right one first, and for lines that were written upwards."""
    columns = _columns(runs)
    if columns is None:
        upwards = sum(b.y - a.y > a.size for a, b in pairwise(runs))
        if len(runs) >= _LEAST_LINES and upwards > _MOST_UPWARDS * (len(runs) - 1):
            return sorted(runs, key=lambda run: (-round(run.y), run.x0))
        return runs
    left, across, right = columns
    ordered: list[_Run] = []
    for heading in sorted(across, key=lambda run: -run.y):
        for column in (left, right):
            ordered += _ordered([run for run in column if run.y > heading.y])
            column[:] = [run for run in column if run.y <= heading.y]
        ordered.append(heading)
    return [*ordered, *_ordered(left), *_ordered(right)]


def _columns(runs: list[_Run]) -> tuple[list[_Run], list[_Run], list[_Run]] | None:
    """Return what stands left of a gap down the page, what crosses it, and what stands right of it, where
    that makes columns of prose; a table is read row by row."""
    edges = Counter(round(run.x0 / 2) * 2 for run in runs)
    candidates = []
    for edge, times in edges.most_common(_MOST_EDGES):
        left = [run for run in runs if run.x1 < edge - run.size / 4 and run.x0 < edge - 2]
        right = [run for run in runs if run.x0 >= edge - 2]
        if min(times, len(left)) < _LEAST_LINES or not (_is_prose(left) and _is_prose(right)):
            continue
        across = [run for run in runs if run.x0 < edge - 2 and run.x1 >= edge - run.size / 4]
        top = min(max(run.y for run in side) for side in (left, right))
        bottom = max(min(run.y for run in side) for side in (left, right))
        few_across = len(across) <= _MOST_ACROSS * (len(left) + len(right))
        if top >= bottom and few_across and not _by_cells(runs, edge):
            candidates.append((left, across, right))
    return min(candidates, key=lambda columns: len(columns[1]), default=None)


def _by_cells(runs: list[_Run], edge: float) -> bool:
    """Return whether several lines of a side were written before each turn to the other, more than once: the
    cells of a table."""
    steps = [((a.x0 >= edge - 2) == (b.x0 >= edge - 2), a.same_line(b.y, b.size)) for a, b in pairwise(runs)]
    turns = sum(not same_side for same_side, _ in steps)
    return turns > _FEW_TURNS and sum(side and not line for side, line in steps) > _STACKED * turns


def _is_prose(runs: list[_Run]) -> bool:
    going_on = sum(run.text[0].isalpha() and not run.text[0].isupper() for run in runs)
    length = sum(len(run.text) for run in runs)
    return length >= _LEAST_CHARACTERS * len(runs) and going_on >= _LEAST_GOING_ON * len(runs)
