"""PDF to text with PDFium, which browsers read hostile files with: no scripts run, no links are followed.

The text is in the order in which it was written, which for most programs is that in which it is read. Columns
that were written line by line are put in order (`columns`).
"""

from __future__ import annotations

import re
import threading
from functools import partial
from itertools import islice
from typing import Any

import pypdfium2
import pypdfium2.raw as raw

from gsw_graph.loaders.columns import Box, Word, read_columns
from gsw_graph.loaders.files import Converted, LeftOut, UnusableError
from gsw_graph.loaders.text import join_lines
from gsw_graph.values import single_spaced

# PDFium is not made for several threads.
_LOCK = threading.Lock()
# What PDFium gives for the hyphen at a line end of a word that goes on in the next line.
_MARKS = "\x02\ufffe"
_HYPHEN = re.compile(f"[{_MARKS}](?:\r\n)?")
_PASSWORD = 4
_MOST_OBJECTS = 2000  # of a page, which are looked at for pictures and lines
_MOST_CHARACTERS = 50_000  # of a page, whose places are looked at
_MOST_PLACES = 4_000_000  # characters of a document; that takes some 20 seconds


def read_pdf(data: bytes, contents: Converted) -> None:
    """Read a PDF: its pages on lines of their own, and the title of its properties if the first page shows it
    too. Raises UnusableError."""
    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) == _PASSWORD:
                raise UnusableError("locked with a password: save it without one") from error
            raise UnusableError("a broken PDF file") from error
        pages: list[str] = []
        left = _MOST_PLACES
        try:
            for page in document:
                written = page.get_textpage()
                left -= written.count_chars()
                text = _page_text(page, written, is_looked_at=left > 0)
                pages.append("\n".join(line.strip() for line in text.splitlines()).strip())
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
    title = single_spaced(described.pop("Title"))
    first_page = single_spaced(pages[0].casefold())
    if title.casefold() in first_page:
        contents.title = title
    contents.describe(described.items())


_ABOUT = ("Author", "Subject", "Keywords")


def _page_text(page: Any, written: Any, *, is_looked_at: bool) -> str:
    """Return the text of a page, column by column if it was written line by line."""
    if is_looked_at and written.count_chars() <= _MOST_CHARACTERS:
        lines = read_columns(_words(written), partial(_boxes, page))
        if lines is not None:
            return "\n".join(lines)
    return _HYPHEN.sub("-\n", written.get_text_range())


def _words(written: Any) -> list[Word]:
    """Return the words of a page with their places, in the order of writing."""
    words: list[Word] = []
    text = ""
    left = right = bottom = top = 0.0
    box = raw.FS_RECTF()
    for n in range(written.count_chars() + 1):
        character = chr(raw.FPDFText_GetUnicode(written, n)) if n < written.count_chars() else " "
        ends = character.isspace() or character == "\0"
        if not ends and raw.FPDFText_GetLooseCharBox(written, n, box):
            if not text:
                left, right, bottom, top = box.left, box.right, box.bottom, box.top
            text += "-" if character in _MARKS else character
            left, right = min(left, box.left), max(right, box.right)
            bottom, top = min(bottom, box.bottom), max(top, box.top)
        if text and (ends or character in _MARKS):
            words.append(Word(text, left, right, bottom, top, len(words)))
            text = ""
    return words


def _boxes(page: Any) -> list[Box]:
    """Return the boxes of the lines and areas that a page draws."""
    objects = islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1), _MOST_OBJECTS)
    return [item.get_bounds() for item in objects]


def _count(page: Any, left_out: LeftOut) -> None:
    """Count what is on a page besides its text."""
    objects = islice(page.get_objects(max_depth=1), _MOST_OBJECTS)
    left_out["picture"] += sum(item.type == raw.FPDF_PAGEOBJ_IMAGE for item in objects)
    for n in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_OBJECTS)):
        annotation = raw.FPDFPage_GetAnnot(page, n)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        left_out["comment"] += kind in (raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_FREETEXT)
        left_out["strike-out mark"] += kind == raw.FPDF_ANNOT_STRIKEOUT
        left_out["form field"] += kind == raw.FPDF_ANNOT_WIDGET
