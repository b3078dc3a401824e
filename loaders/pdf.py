"""PDF to text with PDFium, which browsers read hostile files with: no scripts run, no links are followed.

PDFium gives the characters of a page in the order in which they were written, and where they stand. The order
is kept, unless a page has columns or was written out of order.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from gsw_graph.loaders.files import Converted, UnusableError, properties
from gsw_graph.loaders.typography import join_lines, subscript, superscript

MOST = 64 * 1024 * 1024
"""Characters of a PDF's text."""

# PDFium is not made for several threads.
_LOCK = threading.Lock()
# What PDFium gives for the hyphen at a line end of a word that goes on in the next line.
_HYPHENS = ("\x02", "\ufffe")
_PASSWORD = 4
_WORD = re.compile(r"[^\s\x02\ufffe]+")
_DIGIT = re.compile(r"\d")
_LONGEST = 100  # characters of a word that may have superscripts
# Of superscripts and subscripts, as shares of the font: their height at most, and how far from the line.
_SMALL, _RAISED, _LOWERED = 0.87, 0.15, 0.08
# The least of a column: lines, characters of a line, and the share of lines that go on with a small letter.
# Cells of a table have less.
_LEAST_LINES, _LEAST_CHARACTERS, _LEAST_GOING_ON = 3, 12, 0.15
_MOST_ACROSS = 0.5  # lines across the columns, such as headings, for each line within
_MOST_EDGES = 30  # left edges that may be those of a column
_MOST_UPWARDS = 0.45  # of the steps from line to line
# How often writing turns from a column to the other where both are written whole, and lines below each other
# in a column, for each turn, where it goes line by line.
_FEW_TURNS, _STACKED = 4, 0.4
_PICTURE = 3  # FPDF_PAGEOBJ_IMAGE
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

    def raised(self, word: str, y: float, size: float) -> bool:
        """Return whether a word that follows is a superscript of this run's last one."""
        small = size < self.size * _SMALL and self.size * _RAISED < y - self.y < self.size
        return small and bool(_DIGIT.fullmatch(word[:1])) and len(word) < 4


def read_pdf(data: bytes, found: Converted) -> None:
    """Read a PDF: its pages on lines of their own, and the title that its properties give it, where its first
    page shows it too. Raises UnusableError."""
    import pypdfium2
    from pypdfium2 import PdfiumError

    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(data)
        except PdfiumError as error:
            locked = getattr(error, "err_code", None) == _PASSWORD
            raise UnusableError(
                "locked with a password: save it without one" if locked else "a broken PDF file"
            ) from error
        try:
            _read(document, found)
        finally:
            document.close()


def _read(document: Any, found: Converted) -> None:
    from pypdfium2 import PdfiumError

    pages: list[str] = []
    left = MOST
    for number in range(len(document)):
        try:
            page = document[number]
            text_page = page.get_textpage()
            text = _page_text(text_page)
            text_page.close()
            _count(page, found)
            page.close()
        except PdfiumError as error:
            raise UnusableError(
                f"a broken PDF file: page {number + 1} of {len(document)} cannot be read"
            ) from error
        pages.append(text)
        left -= len(text)
        if left < 0:
            raise UnusableError(f"its text is longer than {MOST // 2**20} million characters")
    if not any(pages):
        raise UnusableError(
            f"a PDF file of {len(pages)} pages without text, as scans are: run a text recognition (OCR) "
            "over it first"
        )
    found.text = join_lines("\n".join(page for page in pages if page))
    found.plain = True
    title = " ".join((document.get_metadata_value("Title") or "").split())
    shown = title.casefold() in " ".join(pages[0].casefold().split())
    found.title = title if title and shown else ""
    found.about = properties(
        (name, document.get_metadata_value(name) or "") for name in ("Author", "Subject", "Keywords")
    )


def _count(page: Any, found: Converted) -> None:
    """Count what is on a page besides its text."""
    import pypdfium2.raw as raw

    objects = min(raw.FPDFPage_CountObjects(page), _MOST_OBJECTS)
    found.left_out["picture"] += sum(
        raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, n)) == _PICTURE for n in range(objects)
    )
    for n in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_OBJECTS)):
        annotation = raw.FPDFPage_GetAnnot(page, n)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        found.left_out["comment"] += kind in (raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_FREETEXT)
        found.left_out["form field"] += kind == raw.FPDF_ANNOT_WIDGET


def _page_text(text_page: Any) -> str:
    """Return the text of a page in reading order."""
    text = text_page.get_text_range()
    if len(text) != text_page.count_chars():  # its places in the text are not those on the page
        for mark in _HYPHENS:
            text = text.replace(f"{mark}\r\n", "-\n").replace(mark, "-\n")
        return str(text.replace("\r\n", "\n").replace("\r", "\n").strip())
    lines: list[str] = []
    before: _Run | None = None
    for run in _ordered(_runs(text_page, text)):
        if before and before.same_line(run.y, run.size) and run.x0 >= before.x1 and not before.hyphen:
            lines[-1] += f" {run.text}"
        else:
            lines.append(run.text)
        if run.hyphen:
            lines[-1] += "-"
        before = run
    return "\n".join(lines)


def _runs(text_page: Any, text: str) -> list[_Run]:
    """Return the words of a page, joined to runs, in the order in which they were written."""
    runs: list[_Run] = []
    box_of = _boxes(text_page)
    end = 0
    for match in _WORD.finditer(text):
        between, end = text[end : match.start()], match.end()
        x0, low, _, high = box_of(match.start())
        x1 = box_of(match.end() - 1)[2]
        y, size = (low + high) / 2, high - low
        run = runs[-1] if runs else None
        if run and any(mark in between for mark in _HYPHENS):
            run.hyphen = True
        elif run:
            gap = x0 - run.x1
            if run.raised(match[0], y, size) and abs(gap) < run.size / 4:
                run.text += superscript(run.text, match[0])
                run.x1 = x1
                continue
            near = run.same_line(y, size)
            if (abs(gap) <= max(run.size, size)) if near else ("\n" not in between and "\r" not in between):
                space = " " if between.strip("\r\n") or (between and gap > size / 10) else ""
                run.text += space + _word(text_page, match, run.text + space)
                run.x1, run.size = x1, max(run.size, size)
                continue
        runs.append(_Run(_word(text_page, match, ""), x0, x1, y, size))
    return runs


def _boxes(text_page: Any) -> Callable[[int], tuple[float, float, float, float]]:
    """Return what gives left, bottom, right and top of a character by its place, as high as its font."""
    import pypdfium2.raw as raw

    box, page, read_box = raw.FS_RECTF(), text_page.raw, raw.FPDFText_GetLooseCharBox
    pointer = ctypes.pointer(box)

    def box_of(index: int) -> tuple[float, float, float, float]:
        read_box(page, index, pointer)
        return box.left, box.bottom, box.right, box.top

    return box_of


def _word(text_page: Any, match: re.Match[str], before: str) -> str:
    """Return a word, with marks for what stands above or below its line."""
    import pypdfium2.raw as raw

    word = match[0]
    if len(word) == 1 or len(word) > _LONGEST or not _DIGIT.search(word):
        return word
    x, origin = ctypes.c_double(), ctypes.c_double()
    places = []
    box_of = _boxes(text_page)
    for n in range(match.start(), match.end()):
        raw.FPDFText_GetCharOrigin(text_page, n, x, origin)
        _, low, _, high = box_of(n)
        places.append((origin.value, high - low))
    line, size = max(places, key=lambda place: place[1])
    written = ""
    for shift, group in groupby(range(len(word)), key=lambda n: _shift(*places[n], line, size)):
        members = list(group)
        part = word[members[0] : members[-1] + 1]
        if shift == 0 or not _DIGIT.search(part):
            written += part
        elif shift > 0:
            written += superscript(before + written, part, word[members[-1] + 1 :])
        else:
            written += subscript(before + written, part)
    return written


def _shift(y: float, height: float, line: float, size: float) -> int:
    if height > size * _SMALL:
        return 0
    return 1 if y - line > size * _RAISED else -1 if line - y > size * _LOWERED else 0


def _ordered(runs: list[_Run]) -> list[_Run]:
    """Return runs in reading order: that in which they were written, but for columns that were written line
    by line or the right one first, and for lines that were written upwards."""
    split = _columns(runs)
    if split is None:
        upwards = sum(b.y - a.y > a.size for a, b in pairwise(runs))
        if len(runs) >= _LEAST_LINES and upwards > _MOST_UPWARDS * (len(runs) - 1):
            return sorted(runs, key=lambda run: (-round(run.y), run.x0))
        return runs
    left, across, right = split
    ordered: list[_Run] = []
    for heading in [*sorted(across, key=lambda run: -run.y), None]:
        for column in (left, right):
            above = [run for run in column if heading is None or run.y > heading.y]
            column[:] = [run for run in column if heading is not None and run.y <= heading.y]
            ordered += _ordered(above)
        if heading is not None:
            ordered.append(heading)
    return ordered


def _columns(runs: list[_Run]) -> tuple[list[_Run], list[_Run], list[_Run]] | None:
    """Return what stands left of a gap down the page, what crosses it, and what stands right of it, where
    that makes columns of prose; a table is read row by row."""
    if len(runs) < 2 * _LEAST_LINES:
        return None
    edges = Counter(round(run.x0 / 2) * 2 for run in runs)
    best: tuple[list[_Run], list[_Run], list[_Run]] | None = None
    for edge, times in edges.most_common(_MOST_EDGES):
        if times < _LEAST_LINES:
            break
        right = [run for run in runs if run.x0 >= edge - 2]
        left = [run for run in runs if run.x1 < edge - run.size / 4 and run.x0 < edge - 2]
        if len(left) < _LEAST_LINES or not (_is_prose(left) and _is_prose(right)):
            continue
        across = [run for run in runs if run.x0 < edge - 2 and run.x1 >= edge - run.size / 4]
        top = min(max(run.y for run in side) for side in (left, right))
        bottom = max(min(run.y for run in side) for side in (left, right))
        if top < bottom or len(across) > _MOST_ACROSS * (len(left) + len(right)):
            continue
        if _by_cells(runs, edge) or (best is not None and len(across) >= len(best[1])):
            continue
        best = left, across, right
    return best


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
